"""What notices say, in both languages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from panel import notices
from panel.models import Notice
from panel.notices import Message
from panel.notices.senders.text import plain
from tests import make
from tests.panel.notices.told import NOW, channel, close, incident, queued, route

pytestmark = pytest.mark.django_db


def told(kind: str = "opened", lanes: int = 1, language: str = "en") -> Message:
    """The message on an incident of a new team."""
    team = make.team("atlas-agents")
    route(channel(team, language=language))
    one = incident(team, lanes)
    notices.plan(one, "opened", NOW)
    if kind == "recovered":
        incident(team, 2)
        close(one, NOW + timedelta(minutes=30))
        notices.plan(one, "recovered", NOW + timedelta(minutes=30))
    row = Notice.objects.select_related("channel__team").get(kind=kind)
    return notices.message_for(row)


def test_an_opening_says_cause_fix_lanes_since_and_who_has_it() -> None:
    labels = [part.label for part in told().parts]
    assert labels == ["Cause", "Fix", "Lanes", "Since", "Who has it"]


def test_thirty_six_lanes_are_eight_names_and_a_number() -> None:
    lanes = next(part.items for part in told(lanes=36).parts if part.label == "Lanes")
    assert len(lanes) == 9
    assert lanes[-1] == "and 28 more"


def test_a_recovery_says_what_is_still_broken() -> None:
    message = told("recovered")
    still = next(part.items for part in message.parts if part.label == "Still broken elsewhere")
    assert (message.state, len(still)) == ("ok", 2)


def test_a_message_links_to_its_incident_where_the_panels_address_is_known(settings: Any) -> None:
    settings.PUBLIC_URL = "https://preflight.example"
    assert told().link == "https://preflight.example/t/atlas-agents/incidents/1/"


def test_without_an_address_of_the_panel_there_is_no_link(settings: Any) -> None:
    settings.PUBLIC_URL = ""
    assert not told().link


def test_cause_and_fix_are_in_the_channels_language() -> None:
    text = plain(told(language="zh-hans"))
    assert "密钥" in text


@pytest.mark.parametrize("what", ["silent", "back"])
def test_preflight_tells_of_itself(what: str) -> None:
    row = queued(channel(make.team()), data={"what": what, "since": NOW.isoformat()})
    assert notices.message_for(row).parts[0].text


def test_a_watchdog_reaches_every_team_that_is_told_at_once() -> None:
    route(channel(make.team()))
    route(channel(make.team()), after_min=5)
    notices.plan_watchdog("2026-11-30", {"what": "silent", "since": NOW.isoformat()}, NOW)
    notices.plan_watchdog("2026-11-30", {"what": "silent", "since": NOW.isoformat()}, NOW)
    assert Notice.objects.count() == 1
