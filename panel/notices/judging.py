"""Whether a notice still is to be told, looked at in the moment before it is sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from panel.models import Notice
from panel.notices.message import Trouble

LOOK_AGAIN: Final = timedelta(minutes=1)
_ALERTS: Final = (Notice.Kind.OPENED, Notice.Kind.CHANGED, Notice.Kind.ESCALATED)


def needless(notice: Notice) -> Trouble | None:
    """Return why a notice that was never sent is not needed any more; None when it is."""
    if not notice.channel.enabled:
        return Trouble.OFF
    incident = notice.incident
    if incident is None or notice.attempts:
        return None
    if notice.kind == Notice.Kind.ESCALATED and incident.taken_by_id:
        return Trouble.TAKEN
    if notice.kind in _ALERTS and incident.closed_at and _was_held(notice):
        return Trouble.OVER
    if notice.kind == Notice.Kind.RECOVERED and not _told(notice):
        return Trouble.UNTOLD
    return None


def held_until(notice: Notice, now: datetime) -> datetime | None:
    """Return until when a notice waits: its incident is muted, or explained by an open one; None to tell now.
    A recovery waits with what it follows."""
    incident = notice.incident
    if incident is None or notice.attempts or incident.closed_at:
        return None
    if incident.muted_until and incident.muted_until > now:
        return incident.muted_until
    if incident.parent is not None and incident.parent.closed_at is None:
        return now + LOOK_AGAIN
    return None


def follows_open(notice: Notice) -> bool:
    """Tell whether an earlier notice of the same incident to this channel is still on its way: they arrive in
    order. One that waits for its time is not on its way."""
    if notice.incident_id is None:
        return False
    earlier = Notice.objects.filter(incident=notice.incident_id, channel=notice.channel_id, pk__lt=notice.pk)
    on_its_way = earlier.filter(state=Notice.State.SENDING) | earlier.filter(
        state=Notice.State.QUEUED, attempts__gt=0
    )
    return on_its_way.exists()


def _was_held(notice: Notice) -> bool:
    """An incident that was over in a moment is told all the same, unless its time had been put off."""
    return notice.due_at is not None and notice.due_at > notice.made_at


def _told(notice: Notice) -> bool:
    """Whether the channel heard, or may have heard, of the incident before, or is about to."""
    earlier = Notice.objects.filter(incident=notice.incident_id, channel=notice.channel_id, kind__in=_ALERTS)
    return earlier.exclude(state=Notice.State.DROPPED).filter(attempts__gt=0).exists()
