"""What a dry run leaves when its worker dies: noted before, tidied up after, said when it stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from checks import Reason, Rung, Status, Step
from panel import ledger, tasks
from panel.models import Leftover, Run, RunSteps
from tests import make
from tests.panel.time.doors import take

pytestmark = pytest.mark.django_db
NOON = make.NOON
LATER = NOON + timedelta(minutes=30)
GONE = Step(Rung.ROLLOUT, "tidied_host", Status.OK, say={"count": "2"})
ASLEEP = Step(Rung.ROLLOUT, "tidied_host", Status.NOT_TESTABLE, Reason.HOST_DISCONNECTED)


def begun(top_rung: int = 5) -> Run:
    """A deep run that was started."""
    run = ledger.start_deep(make.run(make.check(), NOON, top_rung=top_rung).pk, NOON)
    assert run is not None
    return run


@pytest.fixture
def interrupted() -> Run:
    """A dry run whose lease ran out."""
    run = begun()
    ledger.miss_overdue(LATER)
    return run


def test_a_dry_run_is_noted_before_it_starts_and_an_sdk_climb_is_not() -> None:
    begun(3)
    assert not Leftover.objects.exists()
    run = begun(4)
    assert Leftover.objects.get().run == run


def test_nothing_is_tidied_up_while_the_run_is_believed_alive() -> None:
    begun()
    assert ledger.claim_leftovers(LATER) == []


def test_an_interrupted_run_is_tidied_up_once_a_time(interrupted: Run) -> None:
    assert ledger.claim_leftovers(LATER) == [interrupted]
    assert ledger.claim_leftovers(LATER) == []


def test_the_sweep_sends_it_by_its_id(interrupted: Run, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        tasks.tick()
    assert [message.payload[0] for message in take()] == [[interrupted.pk]]


def test_what_was_removed_joins_the_steps_of_the_run(interrupted: Run) -> None:
    ledger.claim_leftovers(LATER)
    assert ledger.settle_leftover(interrupted.pk, [GONE], LATER)
    left = Leftover.objects.get()
    assert (left.settled_at, left.next_try_at, left.said["unsettled"]) == (LATER, None, False)
    assert [step["name"] for step in RunSteps.objects.get(run=interrupted).steps] == ["tidied_host"]


def test_a_host_that_sleeps_is_tried_again_later_each_time(interrupted: Run) -> None:
    pauses = []
    for _ in range(3):
        due = Leftover.objects.get().next_try_at
        ledger.claim_leftovers(due)
        assert not ledger.settle_leftover(interrupted.pk, [ASLEEP], due)
        pauses.append(Leftover.objects.get().next_try_at - due)
    assert pauses == [timedelta(minutes=1), timedelta(minutes=2), timedelta(minutes=4)]


def test_after_a_day_it_is_said_as_unsettled(interrupted: Run) -> None:
    ledger.settle_leftover(interrupted.pk, [ASLEEP], NOON + timedelta(days=1))
    left = Leftover.objects.get()
    assert (left.settled_at, left.next_try_at, left.said["unsettled"]) == (None, None, True)
    assert RunSteps.objects.get(run=interrupted).steps[0]["reason"] == "host_disconnected"


def test_what_is_settled_is_not_tidied_up_again(interrupted: Run) -> None:
    ledger.settle_leftover(interrupted.pk, [GONE], LATER)
    assert ledger.claim_leftovers(LATER + timedelta(days=2)) == []


def test_a_lane_that_lost_its_key_is_not_called_tidied_up(interrupted: Run) -> None:
    interrupted.check_order.lane.profile.endpoint.key_versions.all().delete()
    tasks.tidy(interrupted.pk)
    left = Leftover.objects.get()
    assert (left.settled_at, left.said["steps"][0]["reason"]) == (None, "key_missing")
