"""Notices on their way: taken with a lease, and settled by what came of the sending.

Who sends holds the notice by its number of attempts; a worker that comes back from the dead settles nothing
that another one has taken since. A sending of which nobody knows how it ended is repeated only where the
other side tells a repetition apart (`senders.IDEMPOTENT`); elsewhere it is given up, for a person to look at.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from panel.models import Channel, IncidentEntry, Notice
from panel.notices.judging import follows_open, held_until, needless
from panel.notices.message import Result, Trouble
from panel.notices.senders import IDEMPOTENT, PACE_S

BACKOFF: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3_600))
LEASE: Final = timedelta(seconds=120)  # twice the longest that a batch takes: 15 s each, eight at once
AT_ONCE: Final = 20
IN_ORDER: Final = timedelta(seconds=10)
LOOKED_AT: Final = 200
KEPT: Final = timedelta(days=90)
PRUNED_AT_ONCE: Final = 2_000
_OPEN: Final = (Notice.State.QUEUED, Notice.State.SENDING)


def waiting(now: datetime) -> bool:
    """Tell whether anything is to be sent now."""
    return Notice.objects.filter(state=Notice.State.QUEUED, due_at__lte=now).exists()


def start(now: datetime) -> list[Notice]:
    """Take what is due, one notice a channel and at most 20 in all, and drop what is not needed any more.
    Two that start at once take different channels."""
    with transaction.atomic():
        due = Notice.objects.filter(state=Notice.State.QUEUED, due_at__lte=now)
        free = Channel.objects.filter(pk__in=due.values("channel_id")).select_for_update(skip_locked=True)
        channels = {channel.pk for channel in free if _may_take(channel, now)}
        rows = (
            due.filter(channel__in=channels)
            .select_related("channel__team", "incident__parent")
            .order_by("due_at", "pk")[:LOOKED_AT]
        )
        taken: list[Notice] = []
        for notice in rows:
            if len(taken) < AT_ONCE and notice.channel_id in channels and _take(notice, now):
                channels.discard(notice.channel_id)
                taken.append(notice)
    return taken


def settle(notice_id: int, attempt: int, result: Result, now: datetime) -> bool:
    """Write what came of one sending. False when the notice is no longer this sender's."""
    with transaction.atomic():
        notice = Notice.objects.select_related("channel").filter(pk=notice_id, attempts=attempt).first()
        if notice is None or not _is_open_to(notice, result):
            return False
        changed = _after(notice, result, now) | {"lease_until": None}
        if not Notice.objects.filter(pk=notice_id, attempts=attempt, state=notice.state).update(**changed):
            return False
        _tell_channel(notice, result, now)
        if result.trouble is None:
            _tell_incident(notice, now)
    return True


def settle_lost(now: datetime) -> None:
    """Settle the sendings whose worker went away: nobody knows whether they arrived."""
    lost = Notice.objects.filter(state=Notice.State.SENDING, lease_until__lt=now)
    for pk, attempt in lost.values_list("pk", "attempts")[:LOOKED_AT]:
        settle(pk, attempt, Result(Trouble.UNCLEAR), now)


def send_again(notice: Notice, now: datetime) -> bool:
    """Queue a notice that was given up for one more sending, because a person asked."""
    dead = Notice.objects.filter(pk=notice.pk, state=Notice.State.DEAD)
    return bool(dead.update(state=Notice.State.QUEUED, due_at=now))


def give_up(notice: Notice) -> bool:
    """Take a notice off the list of those that were given up, because a person said so."""
    dead = Notice.objects.filter(pk=notice.pk, state=Notice.State.DEAD)
    return bool(dead.update(state=Notice.State.DROPPED, failure=Trouble.BY_HAND, say={}))


def prune(now: datetime) -> None:
    """Let go of notices that ended long ago."""
    old = Notice.objects.exclude(state__in=_OPEN).filter(made_at__lt=now - KEPT)
    Notice.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:PRUNED_AT_ONCE])).delete()


def _may_take(channel: Channel, now: datetime) -> bool:
    """One at a time, and no faster than the product takes them."""
    pace = timedelta(seconds=PACE_S.get(channel.kind, 0))
    if channel.told_at is not None and channel.told_at > now - pace:
        return False
    return not channel.notices.filter(state=Notice.State.SENDING).exists()


def _take(notice: Notice, now: datetime) -> bool:
    if trouble := needless(notice):
        Notice.objects.filter(pk=notice.pk).update(state=Notice.State.DROPPED, failure=trouble)
        return False
    until = held_until(notice, now) or (now + IN_ORDER if follows_open(notice) else None)
    if until is not None:
        Notice.objects.filter(pk=notice.pk).update(due_at=until)
        return False
    notice.state, notice.lease_until = Notice.State.SENDING, now + LEASE
    notice.attempts += 1
    notice.save(update_fields=["state", "lease_until", "attempts"])
    return True


def _is_open_to(notice: Notice, result: Result) -> bool:
    """A sender that was thought dead may still say that it did arrive, and nothing else."""
    if notice.state == Notice.State.SENDING:
        return True
    given_up = notice.state == Notice.State.DEAD and notice.failure == Trouble.UNCLEAR
    return given_up and result.trouble is None


def _after(notice: Notice, result: Result, now: datetime) -> dict[str, object]:
    if result.trouble is None:
        return {"state": Notice.State.SENT, "sent_at": now, "failure": "", "say": {}}
    told: dict[str, object] = {"failure": result.trouble, "say": dict(result.say)}
    unclear = result.trouble is Trouble.UNCLEAR and notice.channel.kind not in IDEMPOTENT
    if unclear or notice.kind == Notice.Kind.TEST or notice.attempts > len(BACKOFF):
        return told | {"state": Notice.State.DEAD}
    wait = max(BACKOFF[notice.attempts - 1], timedelta(seconds=result.wait_s))
    return told | {"state": Notice.State.QUEUED, "due_at": now + wait}


def _tell_channel(notice: Notice, result: Result, now: datetime) -> None:
    channel = Channel.objects.filter(pk=notice.channel_id)
    if result.trouble is None:
        channel.update(told_at=now, failure="", say={})
    else:
        channel.update(failed_at=now, failure=result.trouble, say=dict(result.say))


def _tell_incident(notice: Notice, now: datetime) -> None:
    if notice.incident_id is None:
        return
    escalated = notice.kind == Notice.Kind.ESCALATED
    kind = IncidentEntry.Kind.ESCALATED if escalated else IncidentEntry.Kind.TOLD
    IncidentEntry.objects.create(
        incident_id=notice.incident_id, at=now, kind=kind,
        say={"channel": notice.channel.name, "kind": notice.kind},
    )  # fmt: skip
