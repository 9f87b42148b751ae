"""From a due slot to a stored outcome, through the real broker and against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from kombu.exceptions import OperationalError

from checks import simulator
from panel import briefing, ledger, tasks
from panel.models import KeyVersion, LaneHour, Pulse, Run, RunSteps
from tests import make
from tests.panel.time.doors import KEY, dead_broker, due_check, take
from tests.panel.time.outcomes import passed, state_of

pytestmark = pytest.mark.django_db
Relay = simulator.Server


@pytest.fixture(scope="module")
def running_relay() -> Iterator[Relay]:
    with simulator.serve("vllm", key=KEY, models=("qwen3-8b",)) as server:
        yield server


@pytest.fixture
def relay(running_relay: Relay) -> Iterator[Relay]:
    """A server that has its key, and is well again after each test."""
    yield running_relay
    running_relay.fault = None


@pytest.fixture
def tick(django_capture_on_commit_callbacks):
    """One sweep, with what it sends on commit."""

    def sweep() -> None:
        with django_capture_on_commit_callbacks(execute=True):
            tasks.tick()

    return sweep


def test_a_due_slot_becomes_a_message_with_nothing_but_ids(relay: Relay, tick) -> None:
    check = due_check(relay)
    tick()
    (message,) = take()
    arguments, named, _ = message.payload
    assert (arguments, named) == ([[check.runs.get().pk]], {})
    assert KEY not in repr((message.headers, message.properties, message.body))


def test_what_is_due_is_opened_between_two_sweeps(
    relay: Relay, tick, django_capture_on_commit_callbacks
) -> None:
    check = due_check(relay)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            tasks.open_due()
    tick()
    (message,) = take()
    assert message.payload[0] == [[check.runs.get().pk]]


def test_a_run_goes_to_the_queue_of_its_place(relay: Relay, tick) -> None:
    due_check(relay, place="gpu-a12")
    tick()
    assert len(take("gpu-a12")) == 1
    assert take() == []


def test_what_a_person_asked_for_goes_before_what_is_scheduled(relay: Relay) -> None:
    check = due_check(relay)
    scheduled, asked = make.run(check), make.run(check, make.NOON + timedelta(1), trigger="person")
    tasks.send([scheduled, asked])
    assert [message.payload[0] for message in take()] == [[[asked.pk]], [[scheduled.pk]]]


def test_many_runs_go_in_batches_of_two_hundred() -> None:
    check = make.check()
    tasks.send([make.run(check, make.NOON + timedelta(minutes=minute)) for minute in range(401)])
    assert sorted(len(message.payload[0][0]) for message in take()) == [1, 200, 200]


def test_nothing_due_sends_nothing_and_still_beats(tick) -> None:
    tick()
    assert take() == []
    assert Pulse.objects.filter(name="tick").exists()


def test_a_climb_stores_what_a_real_server_answered(relay: Relay, tick) -> None:
    check = due_check(relay)
    tick()
    tasks.climb([check.runs.get().pk])
    run = check.runs.get()
    assert (run.state, run.status, run.rung, run.key_number) == ("done", "ok", 2, 1)
    assert run.latency_ms is not None
    assert run.tokens > 0
    assert (state_of(check).state, state_of(check).tokens_spent) == ("ok", run.tokens)


def test_a_wrong_key_is_stored_with_its_reason_and_no_key(relay: Relay) -> None:
    relay.fault = "key_refused"
    run = make.run(due_check(relay))
    tasks.climb([run.pk])
    run.refresh_from_db()
    assert (run.status, run.rung, run.reason) == ("down", 2, "auth_invalid_key")
    assert KEY not in repr(RunSteps.objects.get().steps)


def test_a_redelivered_climb_asks_nothing_and_changes_nothing(relay: Relay) -> None:
    run = make.run(due_check(relay))
    tasks.climb([run.pk])
    asked = len(relay.requests)
    tasks.climb([run.pk])
    assert len(relay.requests) == asked
    assert LaneHour.objects.get().ok == 1


def test_a_lane_that_may_not_be_asked_is_closed_without_a_request(relay: Relay) -> None:
    run, asked = make.run(due_check(relay)), len(relay.requests)
    KeyVersion.objects.update(state="destroyed")
    tasks.climb([run.pk])
    run.refresh_from_db()
    assert (run.state, run.status, run.reason) == ("done", "not_testable", "key_missing")
    assert len(relay.requests) == asked


def test_a_batch_with_one_refusal_stores_all(relay: Relay) -> None:
    good, bad = make.run(due_check(relay)), make.run(due_check(relay))
    KeyVersion.objects.filter(endpoint=bad.check_order.lane.profile.endpoint).update(state="dropped")
    tasks.climb([good.pk, bad.pk])
    assert dict(Run.objects.values_list("pk", "status")) == {good.pk: "ok", bad.pk: "not_testable"}


def test_a_profile_deleted_while_its_run_goes_on_takes_the_run_along(relay: Relay) -> None:
    gone, kept = make.run(due_check(relay)), make.run(due_check(relay))
    runs = ledger.start([gone.pk, kept.pk], make.NOON)
    gone.check_order.lane.profile.delete()
    specs, refused = briefing.brief(runs)
    assert ([spec.id for spec in specs], refused) == ([kept.code], [])
    assert ledger.close_many([(run, passed(run, make.NOON)) for run in runs], make.NOON) == [kept]


def test_when_the_broker_is_gone_the_runs_stay_queued_and_are_sent_again_later(relay: Relay, tick) -> None:
    check = due_check(relay)
    with dead_broker(), pytest.raises(OperationalError):
        tick()
    run = check.runs.get()
    assert run.state == "queued"
    Run.objects.update(lease_until=run.lease_until - timedelta(minutes=1))
    tick()
    assert [message.payload[0] for message in take()] == [[[run.pk]]]
