"""Decides when: which checks are due, which slot each gets, and which slots were slept through.

Slots are reckoned in `panel.timetable`.

When nobody claimed for a while (a sleeping laptop, a stopped worker), only the newest due slot runs:
a lane's present is wanted, not its past. The slots before it are missed (`ledger.Opening`).
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from panel import ledger, timetable
from panel.models import Check, Host, HostReading, Lane, LaneState, Run

BROKEN_AGAIN = timedelta(minutes=15)
# Few schedules have slots so far apart that this far ahead is not worth another look.
FAR = timedelta(days=2)
# A claim reads these of each lane: rows of all columns would cost as much as the claim.
READ_OF_LANE = (
    "profile__version", "profile__recipe__where", "profile__recipe__host__zone",
    "profile__recipe__host__name", "now__status", "now__rung", "now__upper_at", "now__upper_broken",
)  # fmt: skip
PAUSE_FIELDS = ("paused_at", "paused_by", "paused_until", "pause_reason", "next_run_at")


def next_slot(check: Check, after: datetime) -> datetime:
    """Return the check's first slot later than `after`, a whole second."""
    return timetable.next_slot(check, after)


def first_slot(check: Check, now: datetime) -> datetime:
    """Return the slot at which a check that starts, resumes or changes its schedule now runs next."""
    return next_slot(check, now)


@transaction.atomic
def resume_due(now: datetime, *, limit: int = 500) -> None:
    """Let the checks go on whose pause ends; two at once do no harm."""
    paused = Check.objects.select_for_update(skip_locked=True, of=("self",)).select_related("lane")
    resumed = list(paused.filter(paused_until__lte=now).order_by("paused_until")[:limit])
    for check in resumed:
        go_on(check, now)
    Check.objects.bulk_update(resumed, PAUSE_FIELDS)
    if resumed:
        ledger.renew([check.lane_id for check in resumed], now)


def go_on(check: Check, now: datetime) -> None:
    """End the check's pause, unsaved (`PAUSE_FIELDS`); `check.lane` is loaded."""
    check.paused_at = check.paused_by = check.paused_until = None
    check.pause_reason = ""
    check.next_run_at = first_slot(check, now) if check.lane.in_use else None


@transaction.atomic
def come_back(now: datetime, *, limit: int = 500) -> None:
    """Give checks another next slot whose own lies further off than their schedule says: the clock was ahead,
    and has been set back. What ran meanwhile keeps its slots, and is not run again."""
    hourly = Q(cron="", quiet_from=None, interval_s__lte=3600, next_run_at__gt=now + timedelta(hours=2))
    rows = Check.objects.select_for_update(skip_locked=True).filter(next_run_at__gt=now)
    far = list(rows.filter(hourly | Q(next_run_at__gt=now + FAR)).order_by("-next_run_at")[:limit])
    moved = []
    for check in far:
        slot = next_slot(check, now)
        if check.next_run_at is not None and slot < check.next_run_at:
            check.next_run_at = slot
            moved.append(check)
    Check.objects.bulk_update(moved, ["next_run_at"])


def next_reading(host: Host, after: datetime) -> datetime:
    """Return the host's first reading slot later than `after`, a whole second."""
    return timetable.on_grid(b"host %d" % host.pk, host.interval_s, after)


@transaction.atomic
def claim_readings(now: datetime, *, limit: int = 200) -> list[HostReading]:
    """Give each host that is due its slot, as `claim_due` does for checks; return the readings opened."""
    rows = (
        Host.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(next_reading_at__lte=now)
        .order_by("next_reading_at")[:limit]
    )
    openings = []
    for host in rows:
        if host.next_reading_at is None:
            continue
        oldest, following = host.next_reading_at, next_reading(host, now)
        newest = max(oldest, following - timedelta(seconds=host.interval_s))
        slept = range(int(oldest.timestamp()), int(newest.timestamp()), host.interval_s)
        openings.append(ledger.ReadingOpening(host, newest, slept))
        Host.objects.filter(pk=host.pk).update(next_reading_at=following)
    return ledger.open_readings(openings, now=now) if openings else []


@transaction.atomic(savepoint=False)
def claim_due(now: datetime, *, limit: int = 500) -> list[Run]:
    """Give each due check its slot and move it on to the first one after `now`; return the runs opened.

    Exactly one row a slot, whoever else claims: PostgreSQL skips the checks another claim holds,
    SQLite's immediate transactions follow each other, and a slot is unique among a check's runs.
    """
    due = _lock_due(now, limit)
    climbing = _climbing_high([check for check, _ in due])
    openings = []
    moves: defaultdict[timedelta, list[int]] = defaultdict(list)
    for check, oldest in due:
        following = timetable.next_slot(check, now, failing=_failing(check))
        moves[following - oldest].append(check.pk)
        top = check.top_rung if check.pk not in climbing and upper_due(check, now) else ledger.SHALLOW
        openings.append(_opening(check, oldest, now, top))
    for step, pks in moves.items():  # one step for all checks of an interval, unless some fell behind
        Check.objects.filter(pk__in=pks).update(next_run_at=F("next_run_at") + step)
    return ledger.open_slots(openings, now=now)


@transaction.atomic
def set_back(now: datetime) -> None:
    """Let checks and readings that wait for a time far off come when they should, because the clock was set
    back."""
    ledger.set_back(now)
    checks = list(Check.objects.select_for_update(of=("self",)).filter(next_run_at__gt=now))
    for check in checks:
        check.next_run_at = timetable.next_slot(check, now)
    Check.objects.bulk_update(checks, ["next_run_at"], batch_size=500)
    hosts = list(Host.objects.select_for_update(of=("self",)).filter(next_reading_at__gt=now))
    for host in hosts:
        host.next_reading_at = next_reading(host, now)
    Host.objects.bulk_update(hosts, ["next_reading_at"])


def upper_due(check: Check, now: datetime) -> bool:
    """Tell whether the rungs above the second are due; `check.lane` is loaded with its state.

    They are not asked above a rung that is broken already. Where they broke themselves they are asked again
    sooner. Half an interval is forgiven, so that a slot a little early is not left out.
    """
    state: LaneState | None = getattr(check.lane, "now", None)
    if check.top_rung <= ledger.SHALLOW or state is None:
        return False
    if state.status in ("down", "not_testable") and (state.rung or 0) <= ledger.SHALLOW:
        return False
    if state.upper_at is None:
        return True
    every = timedelta(seconds=check.upper_interval_s)
    if state.upper_broken is not None:
        every = min(every, BROKEN_AGAIN)
    return now - state.upper_at >= every - timedelta(seconds=check.interval_s) / 2


def _climbing_high(checks: list[Check]) -> set[int]:
    """Return those whose last deep run is still under way: no query where none climbs so high."""
    high = [check.pk for check in checks if check.top_rung > ledger.SHALLOW]
    return ledger.climbing_high(high) if high else set()


def _lock_due(now: datetime, limit: int) -> list[tuple[Check, datetime]]:
    """Hold the checks that are due; their lanes come by key, since a join of all would read all that there is
    each second, whatever is due."""
    rows = (
        Check.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(next_run_at__lte=now, paused_at=None, lane__in_use=True)
        .order_by("next_run_at")[:limit]
    )
    due = [(check, check.next_run_at) for check in rows if check.next_run_at is not None]
    loaded = Lane.objects.select_related("profile__recipe__host", "now").only(*READ_OF_LANE)
    lanes = loaded.in_bulk([check.lane_id for check, _ in due])
    for check, _ in due:
        check.lane = lanes[check.lane_id]
    return due


def _failing(check: Check) -> bool:
    state: LaneState | None = getattr(check.lane, "now", None)
    return state is not None and state.status == "down"


def _opening(check: Check, oldest: datetime, now: datetime, top_rung: int) -> ledger.Opening:
    """Return the newest due slot to run, and those from `oldest` on that were slept through."""
    due = timetable.due_slots(check, oldest, now)
    newest = datetime.fromtimestamp(due[-1], UTC)
    return ledger.Opening(check, newest, missed=due[:-1], top_rung=top_rung)
