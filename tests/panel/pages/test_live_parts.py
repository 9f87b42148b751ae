"""The parts that refresh themselves: cheap while nothing changes, and stopped when the reader says so."""

from __future__ import annotations

import re

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from panel.models import LaneHour, LaneState
from tests import make
from tests.panel.pages.places import address
from tests.panel.pages.scene import NOW, Scene, hours, scene

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def mark(text: str) -> str:
    found = re.search(r"seen=([0-9a-f.]+)", text)
    assert found
    return found[1]


@pytest.mark.parametrize("name", ["overview", "profile"])
def test_a_poll_without_change_is_answered_with_nothing(browse, name: str) -> None:
    with time_machine.travel(NOW, tick=False):
        atlas = scene(NOW)
        client, where = browse(atlas.viewer), address(name, atlas)
        seen = mark(client.get(where).text)
        answer = client.get(where, {"seen": seen}, headers=HTMX)
    assert answer.status_code == 204
    assert answer.content == b""


@pytest.mark.parametrize("name", ["overview", "profile"])
def test_a_poll_after_a_change_brings_the_live_part_alone(browse, name: str) -> None:
    with time_machine.travel(NOW, tick=False):
        atlas = scene(NOW)
        client, where = browse(atlas.engineer), address(name, atlas)
        seen = mark(client.get(where).text)
        make.run(atlas.down.lanes.get(kind="agent").check_order, NOW)
        answer = client.get(where, {"seen": seen}, headers=HTMX)
    assert answer.status_code == 200
    assert answer.text.startswith('<div id="live"')
    assert "<html" not in answer.text


def test_a_page_that_the_reader_paused_asks_nothing(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("overview", atlas), {"live": "0"}).text
    assert "hx-get" not in text
    assert "Resume" in text


def test_a_silent_worker_is_said_on_every_page(browse) -> None:
    member = make.member()
    text = browse(member).get(f"/t/{member.team.slug}/keys/").text
    assert "the worker is silent" in text
    assert "Checks are not running" in text


def queries(client: Client, where: str) -> int:
    client.get(where)  # hours that are over are kept between requests: count with all of them kept
    with CaptureQueriesContext(connection) as seen:
        assert client.get(where).status_code == 200
    return len(seen)


@pytest.mark.parametrize(("name", "most"), [("overview", 14), ("profiles", 9), ("profile", 18)])
def test_queries_do_not_grow_with_rows(atlas: Scene, browse, name: str, most: int) -> None:
    client, where = browse(atlas.viewer), address(name, atlas)
    few = queries(client, where)
    for _ in range(8):
        make.profile(atlas.owner.team)
    assert queries(client, where) == few
    assert few <= most


def test_the_overview_of_25_profiles_stays_light(atlas: Scene, browse) -> None:
    lanes = [lane for _ in range(21) for lane in make.profile(atlas.owner.team).lanes.all()]
    LaneHour.objects.bulk_create([hour for lane in lanes for hour in hours(lane, atlas.now, 2)])
    LaneState.objects.filter(lane__in=lanes).update(
        state="ok", status="ok", rung=2, recent="oo", evidence_at=atlas.now, since=atlas.now
    )
    assert len(browse(atlas.viewer).get(address("overview", atlas)).content) < 150_000
