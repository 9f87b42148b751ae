"""What people do about incidents, and what is written of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from panel.actions import Refused
from panel.actions import incidents as deeds
from panel.models import AuditEvent, Incident, IncidentEntry, Role
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor():
    return make.member(role=Role.ENGINEER)


@pytest.fixture
def incident(actor):
    return make.incident(actor.team)


def now() -> datetime:
    return datetime.now(UTC)


def test_taking_an_incident_names_who_has_it_once(actor, incident) -> None:
    deeds.take(actor=actor, incident=incident)
    deeds.take(actor=actor, incident=incident)
    incident.refresh_from_db()
    assert (incident.taken_by, incident.entries.get().kind) == (actor.user, "taken")
    assert AuditEvent.objects.filter(verb="take", noun="incident", code=str(incident.number)).count() == 1


def test_handing_over_gives_it_to_a_colleague(actor, incident) -> None:
    colleague = make.member(actor.team, Role.LEAD)
    deeds.hand_over(actor=actor, incident=incident, to=colleague)
    incident.refresh_from_db()
    assert incident.taken_by == colleague.user
    assert IncidentEntry.objects.get().say == {"to": str(colleague.user)}


@pytest.mark.parametrize("to", ["a viewer", "a stranger"])
def test_it_is_handed_to_nobody_who_cannot_act(actor, incident, to: str) -> None:
    other = make.member(actor.team, Role.VIEWER) if to == "a viewer" else make.member(role=Role.OWNER)
    with pytest.raises(Refused):
        deeds.hand_over(actor=actor, incident=incident, to=other)


def test_a_note_is_kept_as_it_was_written_and_not_in_the_log_of_deeds(actor, incident) -> None:
    deeds.note(actor=actor, incident=incident, text=" <b>relay</b> says no \n")
    assert incident.entries.get().text == "<b>relay</b> says no"
    assert "relay" not in repr(AuditEvent.objects.get(verb="note").data)


@pytest.mark.parametrize("text", ["", "  \n", "x" * 4001])
def test_a_note_says_something_and_ends_somewhere(actor, incident, text: str) -> None:
    with pytest.raises(Refused):
        deeds.note(actor=actor, incident=incident, text=text)


def test_muting_ends_by_itself_or_by_hand(actor, incident) -> None:
    until = now() + timedelta(hours=1)
    deeds.mute(actor=actor, incident=incident, until=until)
    assert Incident.objects.get().muted_until == until
    deeds.unmute(actor=actor, incident=incident)
    assert Incident.objects.get().muted_until is None
    assert [entry.kind for entry in incident.entries.all()] == ["muted", "unmuted"]


@pytest.mark.parametrize("hours", [-1, 0, 24 * 8])
def test_nothing_is_muted_into_the_past_or_for_longer_than_a_week(actor, incident, hours: int) -> None:
    with pytest.raises(Refused):
        deeds.mute(actor=actor, incident=incident, until=now() + timedelta(hours=hours))


def test_a_closed_incident_takes_notes_alone(actor, incident) -> None:
    Incident.objects.update(closed_at=now())
    deeds.note(actor=actor, incident=incident, text="It was the proxy.")
    with pytest.raises(Refused):
        deeds.take(actor=actor, incident=incident)
    with pytest.raises(Refused):
        deeds.mute(actor=actor, incident=incident, until=now() + timedelta(hours=1))
