"""Readings of hosts: when they are due, one row a slot, what they make of the host, what its page shows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from checks import Reason, Status
from checks.hosts.facts import HostFacts, to_json
from checks.hosts.reading import HostOutcome
from panel import history, ledger, schedule, tasks
from panel.ledger.readings import prune_readings
from panel.models import Host, HostReading
from tests import make
from tests.panel.time.doors import take

pytestmark = pytest.mark.django_db
NOON = make.NOON
HOUR = timedelta(hours=1)
FULL = {"reason": "disk_nearly_full", "status": "degraded", "say": {"path": "/"}}
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDGciJGdb0aYGd7ZrMjBJCNYGy9u5s2J15LNwSkdZ5fl"


def due_host(ago: timedelta = timedelta(0), **fields: Any) -> Host:
    """A host that is due."""
    host = make.host(private="x", **fields)
    host.next_reading_at = schedule.next_reading(host, NOON - timedelta(seconds=host.interval_s) - ago)
    host.save()
    return host


def read(host: Host, outcome: HostOutcome, at: Any = NOON) -> HostReading:
    """A reading that was closed with the outcome."""
    mine = ledger.start_reading(make.reading(host, at).pk, at)
    assert mine is not None
    assert ledger.close_reading(mine, outcome, at + timedelta(seconds=2))
    return mine


def told(status: Status = Status.OK, **fields: Any) -> HostOutcome:
    return HostOutcome(status, **({"facts": to_json(HostFacts())} | fields))


def test_a_due_host_gets_one_reading_and_its_next_slot() -> None:
    host = due_host()
    (reading,) = schedule.claim_readings(NOON)
    assert (reading.host, reading.slot, reading.state) == (host, host.next_reading_at, "queued")
    assert schedule.claim_readings(NOON) == []
    assert Host.objects.get().next_reading_at == schedule.next_reading(host, NOON)


def test_slots_that_were_slept_through_are_missed() -> None:
    due_host(ago=3 * HOUR)
    assert len(schedule.claim_readings(NOON)) == 1
    assert HostReading.objects.filter(state="missed", reason="run_missed").count() == 3


def test_the_sweep_sends_a_reading_to_its_host_s_zone(django_capture_on_commit_callbacks) -> None:
    due_host(zone="gpu-net")
    with django_capture_on_commit_callbacks(execute=True):
        tasks.tick()
    assert [message.payload[0] for message in take("gpu-net")] == [
        [HostReading.objects.get(state="queued").pk]
    ]


def test_a_reading_is_started_once() -> None:
    reading = make.reading(make.host())
    assert ledger.start_reading(reading.pk, NOON) == reading
    assert ledger.start_reading(reading.pk, NOON) is None


def test_a_reading_whose_worker_fell_silent_is_read_again_once_then_missed() -> None:
    host, soon = due_host(), NOON + timedelta(minutes=5)
    ledger.start_reading(make.reading(host, attempts=1).pk, NOON)
    assert len(ledger.miss_overdue_readings(soon)) == 1
    assert ledger.miss_overdue_readings(soon + timedelta(minutes=1)) == []
    assert HostReading.objects.get().state == "missed"


def test_a_worker_back_from_the_dead_writes_nothing() -> None:
    host = make.host()
    mine = ledger.start_reading(make.reading(host, attempts=1).pk, NOON)
    ledger.miss_overdue_readings(NOON + timedelta(minutes=5))
    assert not ledger.close_reading(mine, told(), NOON + timedelta(minutes=6))
    assert Host.objects.get().state == "unknown"


def test_what_a_reading_found_is_what_the_host_is() -> None:
    host = make.host()
    read(host, told(Status.DEGRADED, reason=Reason.DISK_NEARLY_FULL, findings=(FULL,)))
    host.refresh_from_db()
    assert (host.state, host.reason) == ("degraded", "disk_nearly_full")
    assert host.since == host.evidence_at == NOON + timedelta(seconds=2)


def test_a_state_that_holds_keeps_its_beginning() -> None:
    host = make.host()
    read(host, told())
    read(host, told(), NOON + HOUR)
    host.refresh_from_db()
    assert (host.since, host.evidence_at) == (NOON + timedelta(seconds=2), NOON + HOUR + timedelta(seconds=2))


def test_a_changed_host_key_is_kept_for_a_lead_to_see_and_a_login_clears_it() -> None:
    host = make.host()
    read(host, HostOutcome(Status.NOT_TESTABLE, Reason.HOST_KEY_CHANGED, offered_key=OTHER_KEY))
    assert Host.objects.get().offered_key == OTHER_KEY
    assert history.hosts_page(host.team, NOON)[0].key_changed
    read(host, told(), NOON + HOUR)
    assert Host.objects.get().offered_key == ""


def test_why_no_host_key_came_is_said_on_the_host() -> None:
    host = make.host(host_key="")
    ledger.tell_offered(host.pk, HostOutcome(Status.NOT_TESTABLE, Reason.CONNECT_TIMEOUT), NOON)
    host.refresh_from_db()
    assert (host.state, host.reason) == ("not_testable", "connect_timeout")


def test_a_nul_from_the_host_breaks_no_row() -> None:
    read(make.host(), told(facts={"system": {"hostname": "a\x00b"}}))
    assert HostReading.objects.get().facts["system"]["hostname"] == "a\ufffdb"


def test_the_page_of_hosts_costs_three_queries(django_assert_num_queries) -> None:
    team = make.team()
    hosts = [make.host(team, private="x", next_reading_at=NOON) for _ in range(3)]
    make.recipe(make.profile(team, lanes=("agent", "rollout")), hosts[0])
    for host in hosts:
        read(host, told(findings=(FULL,)))
    with django_assert_num_queries(3):
        rows = history.hosts_page(team, NOON + HOUR)
    assert [kind for _, _, kind, _ in rows[0].lanes] == ["agent", "rollout"]
    assert (rows[0].stale, rows[0].paused, rows[0].findings[0].reason) == (False, False, "disk_nearly_full")
    assert rows[0].facts == HostFacts()


def test_facts_older_than_two_intervals_are_stale_and_those_of_the_last_login_stay() -> None:
    host = make.host()
    read(host, told())
    read(host, HostOutcome(Status.NOT_TESTABLE, Reason.HOST_SILENT), NOON + HOUR)
    (row,) = history.hosts_page(host.team, NOON + 3 * HOUR)
    assert (row.stale, row.state, row.read_at) == (True, "not_testable", NOON + timedelta(seconds=2))
    assert row.facts is not None


def test_the_page_of_a_host_costs_five_queries(django_assert_num_queries) -> None:
    host = make.host(offered_key=OTHER_KEY)
    make.recipe(make.profile(host.team), host, command=["train"])
    read(host, told())
    with django_assert_num_queries(5):
        page = history.host_page(host, NOON)
    assert page.accepted_fingerprint.startswith("SHA256:") != page.offered_fingerprint
    assert (len(page.readings), page.recipes[0].command) == (1, ("train",))


def test_a_model_whose_folder_was_read_is_checked_for_its_fit(django_assert_num_queries) -> None:
    host = make.host()
    make.recipe(make.profile(host.team), host, model_path="/models/qwen")
    read(host, told(models={"/models/qwen": {"path": "/models/qwen", "weights": 16 << 30}}))
    with django_assert_num_queries(6):
        (view,) = history.host_page(host, NOON).fits
    assert (view.model_path, view.lines[0][0]) == ("/models/qwen", "model")


def test_old_readings_go_and_the_newest_with_facts_stays() -> None:
    host = make.host()
    read(host, told(), NOON - timedelta(days=50))
    kept = read(host, told(), NOON - timedelta(days=40))
    lost = HostOutcome(Status.NOT_TESTABLE, Reason.HOST_SILENT)
    read(host, lost, NOON - timedelta(days=35))
    prune_readings(NOON)
    assert list(HostReading.objects.all()) == [kept]
