"""The first day of a team, through forms alone and without JavaScript."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from panel.actions import teams
from panel.models import Endpoint, KeyVersion, Membership, Profile, Run
from tests import make

pytestmark = pytest.mark.django_db
KEY = "sk-canary-77d0c9a7be2c41f9"
PASSWORD = "violet hammock under rain"
LANES = {f"{kind}-interval_s": "300" for kind in make.KINDS} | {f"{kind}-in_use": "on" for kind in make.KINDS}
PROFILE = {
    "name": "grpo-prod", "endpoint": "", "base_url": " https://Relay.example/v1/chat/completions ",
    "key": KEY, "model": "qwen3-32b", "environment": "production", "generation": "1.x",
}  # fmt: skip


def set_up(client: Client) -> str:
    token = teams.make_setup_link(now=datetime.now(UTC)) or ""
    said = {"team_name": "Atlas Agents", "name": "Lin Yue", "email": "lin@team.example", "password": PASSWORD}
    answer = client.post(reverse("setup", args=[token]), said)
    assert answer.status_code == 302
    return Membership.objects.get().team.slug


def test_the_set_up_link_makes_an_owner_who_is_signed_in() -> None:
    client = Client()
    slug = set_up(client)
    page = client.get(reverse("home"), follow=True)
    assert page.redirect_chain[-1][0] == reverse("overview", args=[slug])
    assert "Add the first profile" in page.text


def test_the_set_up_link_works_once() -> None:
    token = teams.make_setup_link(now=datetime.now(UTC)) or ""
    set_up(Client())
    answer = Client().get(reverse("setup", args=[token]))
    assert answer.status_code == 404
    assert "has ended" in answer.text


def test_a_weak_password_is_refused_at_its_field_and_the_rest_is_kept() -> None:
    token = teams.make_setup_link(now=datetime.now(UTC)) or ""
    said = {"team_name": "Atlas", "name": "Lin", "email": "lin@team.example", "password": "1234567890"}
    answer = Client().post(reverse("setup", args=[token]), said)
    assert 'value="lin@team.example"' in answer.text
    assert 'href="#id_password"' in answer.text
    assert "1234567890" not in answer.text


def test_four_fields_make_an_endpoint_a_key_a_profile_and_its_first_runs() -> None:
    client = Client()
    slug = set_up(client)
    answer = client.post(reverse("profile_new", args=[slug]), PROFILE | LANES, follow=True)
    profile = Profile.objects.get()
    assert answer.redirect_chain[-1][0] == reverse("profile", args=[slug, profile.code])
    assert Endpoint.objects.get().base_url == "https://relay.example/v1"
    assert KeyVersion.objects.get().last_four == "41f9"
    assert Run.objects.filter(state="queued").count() == 3


def test_each_edit_of_what_was_pasted_is_shown() -> None:
    client = Client()
    slug = set_up(client)
    text = client.post(reverse("profile_new", args=[slug]), PROFILE | LANES, follow=True).text
    assert "The host name was written in lower case." in text
    assert "The operation at the end was cut" in text
    assert "Blanks or invisible characters" in text


def test_a_taken_name_makes_neither_profile_nor_endpoint() -> None:
    client = Client()
    slug = set_up(client)
    client.post(reverse("profile_new", args=[slug]), PROFILE | LANES)
    answer = client.post(reverse("profile_new", args=[slug]), PROFILE | LANES)
    assert "The team has a profile named grpo-prod." in answer.text
    assert (Profile.objects.count(), Endpoint.objects.count()) == (1, 1)


def test_an_engineer_downloads_the_bundle_as_an_attachment_that_nothing_keeps() -> None:
    owner = Client()
    slug = set_up(owner)
    owner.post(reverse("profile_new", args=[slug]), PROFILE | LANES)
    team = Membership.objects.get().team
    engineer = Client()
    engineer.force_login(make.member(team, 20).user)
    address = reverse("profile_export", args=[slug, Profile.objects.get().code])
    assert "grpo-prod.v1.env" in engineer.get(address).text
    answer = engineer.post(address, {"flavour": "dotenv", "with_keys": "no", "lanes": ["agent"]})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="grpo-prod.v1.env"'
    assert "no-store" in answer.headers["Cache-Control"]
    assert b"OPENAI_BASE_URL=https://relay.example/v1" in answer.content


def test_keys_are_not_offered_to_engineers_unless_the_profile_says_so(browse) -> None:
    engineer = make.member(role=20)
    profile = make.profile(engineer.team)
    address = reverse("profile_export", args=[engineer.team.slug, profile.code])
    assert 'value="yes"' not in browse(engineer).get(address).text
    Profile.objects.update(engineers_take_keys=True)
    assert 'value="yes"' in browse(engineer).get(address).text
    Profile.objects.update(engineers_take_keys=False)
    answer = browse(engineer).post(address, {"flavour": "dotenv", "with_keys": "yes", "lanes": ["agent"]})
    assert "Content-Disposition" not in answer.headers


def test_a_preview_masks_keys_and_lives_in_the_address(browse) -> None:
    lead = make.member(role=30)
    profile = make.profile(lead.team, endpoint=make.endpoint(lead.team, KEY))
    address = reverse("profile_export", args=[lead.team.slug, profile.code])
    text = browse(lead).get(address, {"flavour": "toml", "with_keys": "yes", "lanes": ["agent"]}).text
    assert "41f9" in text
    assert KEY not in text
    assert ".v1.toml" in text
