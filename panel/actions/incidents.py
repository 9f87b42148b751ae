"""What people do about incidents: take them, hand them over, write notes, keep them quiet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from panel.actions import Refused
from panel.actions.audit import record
from panel.models import Incident, IncidentEntry, Membership, Role

Kind = IncidentEntry.Kind
NOTE_CAP: Final = 4000
LONGEST_MUTE: Final = timedelta(days=7)


@transaction.atomic
def take(*, actor: Membership, incident: Incident) -> None:
    """Make the person the one who has it: escalations end. Taking it twice changes nothing."""
    row = _held_open(incident)
    if row.taken_by_id == actor.user_id:
        return
    _give(row, actor)
    _enter(actor, row, Kind.TAKEN, "take")


@transaction.atomic
def hand_over(*, actor: Membership, incident: Incident, to: Membership) -> None:
    """Give it to a colleague who may act on it: an engineer or above."""
    row = _held_open(incident)
    if to.team_id != row.team_id or not to.may(Role.ENGINEER):
        raise Refused(_("%(name)s cannot take incidents of this team.") % {"name": to.user}, "to")
    if row.taken_by_id == to.user_id:
        return
    _give(row, to)
    _enter(actor, row, Kind.HANDED, "hand_over", to=str(to.user))


@transaction.atomic
def note(*, actor: Membership, incident: Incident, text: str) -> None:
    """Write a note on the timeline, also after the end. It is plain text; the log of deeds keeps no copy."""
    said = text.replace("\x00", "").strip()
    if not said:
        raise Refused(_("Write the note first."), "text")
    if len(said) > NOTE_CAP:
        raise Refused(_("A note has at most %(n)d characters.") % {"n": NOTE_CAP}, "text")
    _enter(actor, incident, Kind.NOTE, "note", text=said)


@transaction.atomic
def mute(*, actor: Membership, incident: Incident, until: datetime) -> None:
    """Tell nobody of it until then, a week at most."""
    row, now = _held_open(incident), datetime.now(UTC)
    if not now < until <= now + LONGEST_MUTE:
        raise Refused(_("An incident is muted for a week at most, and never into the past."), "hours")
    Incident.objects.filter(pk=row.pk).update(muted_until=until)
    _enter(actor, row, Kind.MUTED, "mute", until=until.isoformat())


@transaction.atomic
def unmute(*, actor: Membership, incident: Incident) -> None:
    """Let people be told of it again."""
    row = _held_open(incident)
    if Incident.objects.filter(pk=row.pk, muted_until__gt=datetime.now(UTC)).update(muted_until=None):
        _enter(actor, row, Kind.UNMUTED, "unmute")


def _held_open(incident: Incident) -> Incident:
    """Return the incident as it is now, held until the deed is done."""
    row = Incident.objects.select_for_update(of=("self",)).get(pk=incident.pk)
    if row.closed_at is not None:
        raise Refused(_("Incident %(number)d is closed.") % {"number": row.number})
    return row


def _give(incident: Incident, to: Membership) -> None:
    now = datetime.now(UTC)
    Incident.objects.filter(pk=incident.pk).update(taken_by=to.user, taken_at=now)


def _enter(
    actor: Membership, incident: Incident, kind: str, verb: str, *, text: str = "", **said: Any
) -> None:
    """Write the line of the timeline and the deed."""
    IncidentEntry.objects.create(
        incident=incident, at=datetime.now(UTC), kind=kind, author=actor.user, text=text, say=said
    )
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="incident", code=str(incident.number),
        label=f"#{incident.number}", **said,
    )  # fmt: skip
