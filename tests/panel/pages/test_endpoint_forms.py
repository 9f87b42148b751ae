"""What the forms of endpoints and keys refuse, mend and say."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from panel.models import Endpoint, KeyVersion, Membership
from tests import make

pytestmark = pytest.mark.django_db
KEY = "sk-canary-51d0c9a7be2c41ab"


@pytest.fixture
def lead() -> Membership:
    return make.member(role=30)


@pytest.fixture
def client(lead: Membership, browse) -> Client:
    return browse(lead)


def add(client: Client, lead: Membership, **said: str) -> str:
    full = {
        "name": "relay",
        "kind": "openai",
        "base_url": "https://relay.example/v1",
        "needs_key": "on",
    } | said
    return client.post(reverse("endpoint_new", args=[lead.team.slug]), full, follow=True).text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("relay.example/v1", "does not begin with https:// or http://"),
        ("https://me:secret@relay.example/v1", "user name or password"),
        ("https://relay.example/v1?team=1", "has a query"),
        ("https：//relay.example/v1", "not ASCII"),
        ("https://relay.example:99999/v1", "not a number from 1 to 65535"),
        ("", "required"),
    ],
)
def test_a_base_url_is_refused_with_its_mend(client: Client, lead: Membership, typed: str, said: str) -> None:
    text = add(client, lead, base_url=typed)
    assert said in text
    assert 'role="alert"' in text
    assert 'href="#id_base_url"' in text
    assert not Endpoint.objects.exists()


def test_a_missing_scheme_is_offered_as_a_choice_that_works_without_javascript(client: Client, lead) -> None:
    text = add(client, lead, base_url="relay.example/v1")
    assert '<input type="radio" name="base_url" value="https://relay.example/v1">' in text
    address = reverse("endpoint_new", args=[lead.team.slug])
    both = {"name": "relay", "kind": "openai", "base_url": ["relay.example/v1", "https://relay.example/v1"]}
    client.post(address, both)
    assert Endpoint.objects.get().base_url == "https://relay.example/v1"


def test_a_refused_form_keeps_what_was_typed_but_never_the_key(client: Client, lead: Membership) -> None:
    text = add(client, lead, base_url="relay.example/v1", key=KEY)
    assert 'value="relay"' in text
    assert 'value="relay.example/v1"' in text
    assert KEY not in text
    assert "paste it again" in text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (f"Bearer {KEY}", "without"),
        ("sk-…41ab", "middle of the key is hidden"),
        ("YOUR_API_KEY", "placeholder"),
        ("sk-abc def-0123456789", "blank or a line break"),
        ("sk-ключ-0123456789", "not ASCII"),
    ],
)
def test_a_key_is_refused_with_its_mend_and_not_repeated(client, lead, typed: str, said: str) -> None:
    endpoint = make.endpoint(lead.team, None)
    text = client.post(reverse("key_add", args=[lead.team.slug, endpoint.code]), {"key": typed}).text
    assert said in text
    assert typed not in text
    assert not KeyVersion.objects.exists()


def test_the_same_key_again_is_refused_at_its_field(client: Client, lead: Membership) -> None:
    endpoint = make.endpoint(lead.team, KEY)
    text = client.post(reverse("key_add", args=[lead.team.slug, endpoint.code]), {"key": KEY}).text
    assert "This is v1 again. Paste the new key." in text
    assert 'aria-invalid="true"' in text


def test_another_origin_drops_the_key_says_so_and_asks_for_the_new_one(client: Client, lead) -> None:
    endpoint = make.endpoint(lead.team, KEY, name="relay")
    said = {"name": "relay", "kind": "openai", "base_url": "https://other.example/v1", "needs_key": "on"}
    answer = client.post(reverse("endpoint_edit", args=[lead.team.slug, endpoint.code]), said, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("key_add", args=[lead.team.slug, endpoint.code])
    assert "The address is another one, so the key was dropped." in answer.text
    assert KeyVersion.objects.get().state == "dropped"


def test_another_path_keeps_the_key(client: Client, lead: Membership) -> None:
    endpoint = make.endpoint(lead.team, KEY, name="relay")
    said = {"name": "relay", "kind": "openai", "base_url": "https://relay.example/v2", "needs_key": "on"}
    client.post(reverse("endpoint_edit", args=[lead.team.slug, endpoint.code]), said)
    assert KeyVersion.objects.get().state == "active"


def test_the_join_preview_names_the_exact_url_and_every_client(client: Client, lead: Membership) -> None:
    address = reverse("calls", args=[lead.team.slug])
    text = client.post(address, {"base_url": "https://relay.example/v1/"}).text
    assert "https://relay.example/v1/chat/completions" in text
    assert "OpenAI SDK" in text
    assert "The slash at the end was dropped." in text


def test_the_join_preview_of_a_gateway_shows_what_its_agents_call(client: Client, lead: Membership) -> None:
    asked = {"base_url": "http://gpu-1:8181", "kind": "agl-gateway"}
    text = client.post(reverse("calls", args=[lead.team.slug]), asked).text
    assert "http://gpu-1:8181/proxy/rollout/…/attempt/0/mode/train/openai/v1/chat/completions" in text
    assert "http://gpu-1:8181/chat/completions" not in text


def test_the_join_preview_says_why_nothing_can_be_called(client: Client, lead: Membership) -> None:
    text = client.post(reverse("calls", args=[lead.team.slug]), {"base_url": "relay.example"}).text
    assert "does not begin with https://" in text


def test_an_endpoint_page_shows_of_a_key_only_what_may_be_seen(client: Client, lead: Membership) -> None:
    endpoint = make.endpoint(lead.team, KEY, name="relay")
    text = client.get(reverse("endpoint", args=[lead.team.slug, endpoint.code])).text
    assert "relay v1" in text
    assert "····41ab" in text
    assert KeyVersion.objects.get().fingerprint in text
    assert KEY not in text


@pytest.mark.parametrize(("typed", "left"), [("relay", 0), ("Relay", 1)])
def test_deleting_asks_for_the_exact_name(client, lead, typed: str, left: int) -> None:
    endpoint = make.endpoint(lead.team, KEY, name="relay")
    client.post(reverse("endpoint_delete", args=[lead.team.slug, endpoint.code]), {"name": typed})
    assert Endpoint.objects.count() == left


def test_a_destroyed_key_is_gone_and_stays_in_the_list(client: Client, lead: Membership) -> None:
    endpoint = make.endpoint(lead.team, KEY, name="relay")
    client.post(reverse("key_destroy", args=[lead.team.slug, endpoint.code]), {"name": "relay"})
    assert KeyVersion.objects.get().sealed == ""
    assert "destroyed" in client.get(reverse("keys", args=[lead.team.slug])).text


@pytest.mark.parametrize(("typed", "stored"), [("50000", 50_000), ("", None)])
def test_what_checks_may_spend_a_day_is_optional(client, lead, typed: str, stored: int | None) -> None:
    add(client, lead, tokens_a_day=typed)
    assert Endpoint.objects.get().tokens_a_day == stored


def test_a_cap_of_nothing_is_refused(client: Client, lead: Membership) -> None:
    assert 'href="#id_tokens_a_day"' in add(client, lead, tokens_a_day="0")
