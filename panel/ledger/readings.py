"""Readings of hosts, as runs are kept: one slot, one row; a lease says who may be believed at work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import F, OuterRef, Subquery

from checks import Reason
from panel.ledger.opening import OPEN, QUEUE_LEASE
from panel.ledger.steps import scrubbed
from panel.models import Host, HostReading, User

if TYPE_CHECKING:  # SSH is loaded by those who use it
    from checks.hosts.reading import HostOutcome

KEPT = timedelta(days=31)
BITE = 2500
READING = timedelta(seconds=240)  # more than `checks.hosts.reading.SECONDS` with its login
SENDINGS = 2
OVERDUE_AT_ONCE = 200
MISSED_ROWS = 20


@dataclass(frozen=True, slots=True)
class ReadingOpening:
    """A host's slot to read, and the slots before it that nobody read, in seconds of the epoch."""

    host: Host
    slot: datetime
    missed: range


def open_readings(openings: Sequence[ReadingOpening], *, now: datetime) -> list[HostReading]:
    """Open one queued reading for each slot and say which were missed; return the queued ones."""
    slept = [
        HostReading(
            host=each.host, slot=datetime.fromtimestamp(second, UTC), state=HostReading.State.MISSED,
            reason=Reason.RUN_MISSED, finished_at=now,
        )
        for each in openings
        for second in each.missed[-MISSED_ROWS:]
    ]  # fmt: skip
    with transaction.atomic():
        HostReading.objects.bulk_create(slept, ignore_conflicts=True)
        fresh = [_queued(each.host, each.slot, now) for each in openings]
        HostReading.objects.bulk_create(fresh, ignore_conflicts=True)
        found = HostReading.objects.filter(code__in=[row.code for row in fresh]).select_related("host")
        return list(found) if fresh else []


def open_reading(host: Host, *, now: datetime, user: User) -> HostReading:
    """Open a reading because a person asked; one that is under way is returned instead."""
    with transaction.atomic():
        Host.objects.select_for_update().get(pk=host.pk)  # of two that ask at once, one opens
        under_way = HostReading.objects.filter(host=host, state__in=OPEN).order_by("slot").first()
        if under_way is not None:
            return under_way
        try:
            with transaction.atomic():
                reading = _queued(host, now, now)
                reading.asked_by = user
                reading.save()
                return reading
        except IntegrityError:  # this very moment is a slot
            return HostReading.objects.get(host=host, slot=now)


def start_reading(reading_id: int, now: datetime) -> HostReading | None:
    """Take a reading that waits in the queue; None when it is taken already."""
    waiting = HostReading.objects.filter(pk=reading_id, state=HostReading.State.QUEUED)
    taken = waiting.update(state=HostReading.State.RUNNING, started_at=now, lease_until=now + READING)
    return HostReading.objects.select_related("host").get(pk=reading_id) if taken else None


def miss_overdue_readings(now: datetime) -> list[HostReading]:
    """Settle the readings whose lease ran out; return those put back, to be sent again."""
    with transaction.atomic():
        overdue = list(
            HostReading.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("host")
            .filter(state__in=OPEN, lease_until__lt=now)
            .order_by("pk")[:OVERDUE_AT_ONCE]
        )
        if not overdue:
            return []
        again = [row for row in overdue if _worth_another(row, now)]
        HostReading.objects.filter(pk__in=[row.pk for row in again]).update(
            state=HostReading.State.QUEUED, attempts=F("attempts") + 1, started_at=None,
            lease_until=now + QUEUE_LEASE,
        )  # fmt: skip
        HostReading.objects.filter(pk__in=[row.pk for row in overdue if row not in again]).update(
            state=HostReading.State.MISSED, reason=Reason.RUN_MISSED, finished_at=now, lease_until=None
        )
    return again


def close_reading(reading: HostReading, outcome: HostOutcome, now: datetime) -> bool:
    """Write what the started reading found, and what the host is now; False when it is no longer ours."""
    with transaction.atomic():
        mine = HostReading.objects.select_for_update().filter(
            pk=reading.pk, state=HostReading.State.RUNNING, attempts=reading.attempts
        )
        row = mine.first()
        if row is None:
            return False
        row.state, row.lease_until = HostReading.State.DONE, None
        row.status, row.reason = str(outcome.status), str(outcome.reason or "")
        facts = outcome.facts and {**outcome.facts, "models": outcome.models}
        row.say, row.facts = scrubbed(dict(outcome.say)), scrubbed(facts)
        row.findings = scrubbed(list(outcome.findings))
        row.finished_at = now
        row.duration_ms = round((now - (row.started_at or now)).total_seconds() * 1000)
        row.save()
        _tell(reading.host_id, row.status, row.reason, outcome.offered_key, now)
    return True


def tell_offered(host_id: int, outcome: HostOutcome, now: datetime) -> None:
    """Write down the host key that the machine showed, or why it showed none."""
    with transaction.atomic():
        _tell(host_id, "" if outcome.offered_key else str(outcome.status), str(outcome.reason or ""),
              outcome.offered_key, now)  # fmt: skip


def forget_host_key(host: Host) -> None:
    """Nobody logs in to the host from now on; what it was found to be is no longer known."""
    host.host_key, host.host_key_at, host.host_key_by = "", None, None
    host.offered_key, host.offered_at, host.next_reading_at = "", None, None
    host.state, host.reason, host.since = "unknown", "", None
    host.save()


def _queued(host: Host, slot: datetime, now: datetime) -> HostReading:
    return HostReading(host=host, slot=slot, lease_until=now + QUEUE_LEASE, attempts=1)


def _worth_another(reading: HostReading, now: datetime) -> bool:
    young = now - reading.slot < timedelta(seconds=reading.host.interval_s)
    return reading.attempts < SENDINGS and young


def _tell(host_id: int, status: str, reason: str, offered: str, now: datetime) -> None:
    host = Host.objects.select_for_update(of=("self",)).filter(pk=host_id).first()
    if host is None:
        return
    if status:
        if host.state != status:
            host.state, host.since = status, now
        host.reason, host.evidence_at = reason, now
    if offered and offered != host.host_key:
        host.offered_key, host.offered_at = offered, now
    elif status in ("ok", "degraded", "down"):  # logged in with the accepted key: no other one stands
        host.offered_key, host.offered_at = "", None
    host.save()


def prune_readings(now: datetime) -> None:
    """Let old readings go, and keep the newest one of each host with its facts."""
    old = HostReading.objects.filter(slot__lt=now - KEPT)
    newest = (
        HostReading.objects.filter(host=OuterRef("host"), facts__isnull=False)
        .order_by("-slot")
        .values("pk")[:1]
    )
    spent = old.exclude(pk=Subquery(newest)).order_by("pk").values_list("pk", flat=True)
    HostReading.objects.filter(pk__in=list(spent[:BITE])).delete()
