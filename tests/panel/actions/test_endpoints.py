"""What people do to endpoints and their keys."""

from __future__ import annotations

import json

import pytest
from django.core import serializers

from checks.spec import Masked
from panel import vault
from panel.actions import Refused, endpoints
from panel.models import AuditEvent, Endpoint, KeyVersion, Role, Run
from tests import make

pytestmark = pytest.mark.django_db
CANARY = "sk-canary-d41d8cd98f00b204"


def a_lead_with_endpoint(key: str | None = CANARY):
    lead = make.member(role=Role.LEAD)
    endpoint = endpoints.create(
        actor=lead,
        name="relay-main",
        kind="openai",
        base_url="https://relay.example/v1",
        key=Masked(key) if key else None,
    )
    return lead, endpoint


def test_a_key_is_sealed_with_last_four_and_fingerprint_in_clear() -> None:
    _, endpoint = a_lead_with_endpoint()
    key = endpoint.key_versions.get()
    assert (key.number, key.last_four, key.length, key.state) == (1, CANARY[-4:], len(CANARY), "active")


def test_no_row_and_no_audit_event_holds_the_key() -> None:
    a_lead_with_endpoint()
    rows = [*Endpoint.objects.all(), *KeyVersion.objects.all(), *AuditEvent.objects.all(), *Run.objects.all()]
    assert CANARY not in serializers.serialize("json", rows)


def test_the_sealed_key_opens_for_its_endpoint() -> None:
    lead, endpoint = a_lead_with_endpoint()
    key = endpoint.key_versions.get()
    place = vault.key_context(endpoint.code, key.number, key.origin)
    assert vault.unseal(key.sealed, team=lead.team, context=place).reveal() == CANARY


def test_a_second_key_retires_the_first() -> None:
    lead, endpoint = a_lead_with_endpoint()
    endpoints.add_key(actor=lead, endpoint=endpoint, key=Masked("sk-canary-second-00001"))
    assert [(k.number, k.state) for k in endpoint.key_versions.all()] == [(2, "active"), (1, "retired")]


def test_the_same_key_again_is_refused_on_its_field() -> None:
    lead, endpoint = a_lead_with_endpoint()
    with pytest.raises(Refused, match="v1") as refusal:
        endpoints.add_key(actor=lead, endpoint=endpoint, key=Masked(CANARY))
    assert refusal.value.field == "key"
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize(
    "elsewhere", ["http://relay.example/v1", "https://other.example/v1", "https://relay.example:8443/v1"]
)
def test_another_scheme_host_or_port_drops_the_key_and_its_sealed_value(elsewhere: str) -> None:
    lead, endpoint = a_lead_with_endpoint()
    assert endpoints.change(
        actor=lead, endpoint=endpoint, name=endpoint.name, kind="openai", base_url=elsewhere
    )
    key = endpoint.key_versions.get()
    assert (key.state, key.sealed) == ("dropped", "")


def test_another_path_on_the_same_origin_keeps_the_key() -> None:
    lead, endpoint = a_lead_with_endpoint()
    path = "https://relay.example/api/v1"
    assert not endpoints.change(
        actor=lead, endpoint=endpoint, name="relay-main", kind="openai", base_url=path
    )
    assert endpoint.key_versions.get().state == "active"


def test_going_away_and_coming_back_does_not_bring_the_key_back() -> None:
    lead, endpoint = a_lead_with_endpoint()
    for url in ("https://thief.example/v1", "https://relay.example/v1"):
        endpoints.change(actor=lead, endpoint=endpoint, name="relay-main", kind="openai", base_url=url)
    assert not endpoint.key_versions.filter(state="active").exists()


def test_a_destroyed_key_leaves_no_sealed_value() -> None:
    lead, endpoint = a_lead_with_endpoint()
    endpoints.destroy_key(actor=lead, endpoint=endpoint)
    assert endpoint.key_versions.get().sealed == ""


def test_an_endpoint_in_use_is_not_deleted() -> None:
    lead, endpoint = a_lead_with_endpoint()
    make.profile(lead.team, endpoint=endpoint)
    with pytest.raises(Refused, match="relay-main"):
        endpoints.delete(actor=lead, endpoint=endpoint)
    assert Endpoint.objects.filter(pk=endpoint.pk).exists()


def test_two_endpoints_of_one_team_have_two_names() -> None:
    lead, _ = a_lead_with_endpoint()
    with pytest.raises(Refused) as refusal:
        endpoints.create(actor=lead, name="relay-main", kind="openai", base_url="https://b.example/v1")
    assert refusal.value.field == "name"


def test_a_new_key_gives_every_profile_that_uses_it_a_new_version_and_a_run() -> None:
    lead, endpoint = a_lead_with_endpoint()
    profile = make.profile(lead.team, endpoint=endpoint)
    before = profile.version
    endpoints.add_key(actor=lead, endpoint=endpoint, key=Masked("sk-canary-second-00001"))
    profile.refresh_from_db()
    assert profile.version == before + 1
    assert Run.objects.filter(check_order__lane__profile=profile, trigger="person").count() == 3
    assert CANARY not in json.dumps(profile.versions.first().snapshot)


def test_a_daily_cap_is_stored_and_taken_away() -> None:
    lead, endpoint = a_lead_with_endpoint()
    said = {"name": endpoint.name, "kind": "openai", "base_url": endpoint.base_url}
    endpoints.change(actor=lead, endpoint=endpoint, tokens_a_day=50_000, **said)
    assert Endpoint.objects.get().tokens_a_day == 50_000
    endpoints.change(actor=lead, endpoint=endpoint, **said)
    assert Endpoint.objects.get().tokens_a_day is None
