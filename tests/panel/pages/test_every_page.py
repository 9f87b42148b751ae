"""What holds of every page: it renders for whoever may see it, obeys the policy, and shows no key."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.panel.pages.places import FOR_LEADS, FOR_NOBODY, FOR_VIEWERS, OF_TEAMS, OUTSIDE, address
from tests.panel.pages.scene import HOSTILE, KEY, Scene

pytestmark = pytest.mark.django_db
INLINE = re.compile(r"<[^>]+\s(?:style|on[a-z]+)=|<style|<script(?![^>]*\ssrc=)", re.IGNORECASE)


@pytest.mark.parametrize("name", OF_TEAMS + OUTSIDE)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_an_owner_sees_every_page_in_both_languages(atlas: Scene, browse, name: str, language: str) -> None:
    answer = browse(atlas.owner).get(address(name, atlas), headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert f'lang="{"zh-Hans" if language == "zh-hans" else "en"}"' in answer.text
    assert "%(" not in answer.text  # a sentence whose value was never put in


@pytest.mark.parametrize("role", ["viewer", "engineer", "lead"])
@pytest.mark.parametrize("name", FOR_VIEWERS)
def test_everybody_in_the_team_may_look(atlas: Scene, browse, name: str, role: str) -> None:
    assert browse(atlas.member(role)).get(address(name, atlas)).status_code == 200


@pytest.mark.parametrize("name", FOR_NOBODY)
def test_the_way_in_needs_no_account(atlas: Scene, name: str) -> None:
    assert Client().get(address(name, atlas)).status_code == 200


@pytest.mark.parametrize("name", OF_TEAMS + OUTSIDE)
def test_no_page_breaks_its_own_policy(atlas: Scene, browse, name: str) -> None:
    answer = browse(atlas.owner).get(address(name, atlas))
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert not INLINE.search(answer.text), INLINE.search(answer.text)


@pytest.mark.parametrize("name", OF_TEAMS)
def test_no_page_shows_a_key_or_runs_what_an_endpoint_sent(atlas: Scene, browse, name: str) -> None:
    text = browse(atlas.owner).get(address(name, atlas)).text
    assert KEY not in text
    assert HOSTILE not in text


@pytest.mark.parametrize("name", OF_TEAMS)
def test_every_page_has_one_heading_of_the_first_level(atlas: Scene, browse, name: str) -> None:
    assert browse(atlas.owner).get(address(name, atlas)).text.count("<h1") == 1


@pytest.mark.parametrize("name", FOR_VIEWERS)
def test_a_viewer_is_offered_nothing_that_is_refused(atlas: Scene, browse, name: str) -> None:
    """Each form and each link of the page is followed or compared with what leads alone may open."""
    text = browse(atlas.viewer).get(address(name, atlas)).text
    leads_only = {address(each, atlas) for each in FOR_LEADS}
    offered = set(re.findall(r'(?:href|action)="([^"?#]+)', text))
    assert not offered & leads_only
    assert not [each for each in offered if each.endswith(("/run", "/pause", "/export/"))]


def test_a_page_says_who_can_do_what_this_reader_cannot(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("profile", atlas)).text
    assert "Jonas Weber, Lin Yue can replace this key" in text


def test_a_stranger_and_an_absent_team_look_alike(atlas: Scene, browse) -> None:
    from tests import make

    stranger = browse(make.member())
    foreign = stranger.get(address("profile", atlas))
    absent = stranger.get(reverse("overview", args=["no-such-team"]))
    assert (foreign.status_code, absent.status_code) == (404, 404)
    assert foreign.text == absent.text


def test_too_low_a_role_meets_a_page_that_names_who_can(atlas: Scene, browse) -> None:
    answer = browse(atlas.viewer).get(address("profile_new", atlas))
    assert answer.status_code == 403
    assert "Jonas Weber, Lin Yue can do this." in answer.text


def test_a_fault_gives_a_number_and_no_detail(atlas: Scene, browse, monkeypatch, caplog) -> None:
    monkeypatch.setattr("panel.history.overview", lambda *_: 1 / 0)
    client = browse(atlas.owner)
    client.raise_request_exception = False
    answer = client.get(address("overview", atlas))
    number = re.search(r'class="mono">([0-9a-f]{8})<', answer.text)
    assert answer.status_code == 500
    assert number is not None
    assert number[1] in caplog.text
    assert "division" not in answer.text
