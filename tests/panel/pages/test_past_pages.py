"""The pages of a lane's past, and the past as files."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.urls import reverse

from panel.access import Role
from panel.models import AuditEvent, Run, Team
from panel.templatetags import past
from tests import make
from tests.panel.pages.places import address
from tests.panel.pages.scene import Scene

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("reach", "maps"), [("24h", 0), ("7d", 1), ("30d", 1), ("90d", 0)])
def test_every_range_has_what_it_is_long_enough_for(atlas: Scene, browse, reach: str, maps: int) -> None:
    text = browse(atlas.viewer).get(address("profile", atlas), {"range": reach}).text
    assert text.count('class="heat-map"') == maps
    assert text.count("data-states=") == 3
    assert "p99" in text


def test_a_strip_carries_a_letter_a_bar_and_a_word_a_letter(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("profile", atlas)).text
    words = json.loads(re.search(r'data-words="([^"]+)"', text)[1].replace("&quot;", '"'))
    strips = re.findall(r'data-states="([^"]+)"', text)
    assert {len(strip) for strip in strips} == {48}
    assert set("".join(strips)) <= set(words)


def test_the_table_links_to_the_runs_of_each_bar(atlas: Scene, browse) -> None:
    client, where = browse(atlas.viewer), address("profile", atlas)
    found = re.search(r'href="\?lane=agent&amp;range=24h&amp;at=([^"#]+)#runs', client.get(where).text)
    text = client.get(where, {"lane": "agent", "range": "24h", "at": found[1]}).text
    assert 'id="runs-all"' in text
    assert Run.objects.filter(check_order__lane__kind="agent", status="down").first().code in text


@pytest.mark.parametrize(
    "moment",
    ["nonsense", "2026-11-30T12:00:00", "", "9999-99-99", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"],
)
def test_a_time_that_is_none_shows_the_newest_runs(atlas: Scene, browse, moment: str) -> None:
    text = browse(atlas.viewer).get(address("profile", atlas), {"at": moment}).text
    assert 'id="runs"' in text
    assert 'id="runs-all"' not in text


def test_a_picked_time_older_than_runs_are_kept_says_so(atlas: Scene, browse) -> None:
    before = (atlas.now - timedelta(days=60)).isoformat()
    text = browse(atlas.viewer).get(address("profile", atlas), {"range": "90d", "at": before}).text
    assert "Runs are kept for 30 days" in text


def test_a_range_older_than_hours_are_kept_says_so(atlas: Scene, browse) -> None:
    Team.objects.update(hours_days=14)
    client, where = browse(atlas.viewer), address("profile", atlas)
    assert "Hours are kept for 14 days" in client.get(where, {"range": "30d"}).text
    assert "Hours are kept" not in client.get(where, {"range": "7d"}).text


def test_a_viewer_takes_the_history_away_and_it_is_on_record(atlas: Scene, browse) -> None:
    client = browse(atlas.viewer)
    answer = client.get(
        reverse("history_export", args=[atlas.slug]),
        {"profile": atlas.down.code, "lane": "agent", "range": "24h", "form": "jsonl"},
    )
    lines = [json.loads(line) for line in answer.getvalue().decode().splitlines()]
    assert len(lines) == 5
    assert answer.headers["Content-Disposition"].endswith(f'"{atlas.down.code}-agent-runs.jsonl"')
    activity = client.get(address("activity", atlas)).text
    assert f"exported the history of {atlas.down.name}" in activity


@pytest.mark.parametrize(
    "asked",
    [
        {"rows": "secrets"},
        {"form": "xlsx"},
        {"from": "yesterday"},
        {"to": "2026-13-01"},
        {"from": "0001-01-01"},
    ],
)
def test_a_history_that_there_is_not_is_refused_and_not_on_record(atlas: Scene, browse, asked) -> None:
    events = AuditEvent.objects.count()
    assert browse(atlas.viewer).get(reverse("history_export", args=[atlas.slug]), asked).status_code == 400
    assert AuditEvent.objects.count() == events


def test_the_profile_of_another_team_is_not_found(atlas: Scene, browse) -> None:
    asked = {"profile": make.profile().code}
    assert browse(atlas.viewer).get(reverse("history_export", args=[atlas.slug]), asked).status_code == 404


def test_an_owner_says_for_how_long_the_past_is_kept(browse) -> None:
    owner = make.member(role=Role.OWNER)
    where = reverse("settings", args=[owner.team.slug])
    assert "Saved." in browse(owner).post(where, {"runs_days": 7, "hours_days": 90}, follow=True).text
    owner.team.refresh_from_db()
    assert (owner.team.runs_days, owner.team.hours_days, owner.team.name != "") == (7, 90, True)
    assert "Not saved" in browse(owner).post(where, {"runs_days": 0, "hours_days": 90}).text


def test_every_state_has_a_letter_of_its_own() -> None:
    assert len(set(past.LETTERS.values())) == len(past.LETTERS)
