"""One click stores the base URL that a run found to answer."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.test import Client
from django.urls import reverse

from checks.simulator import serve
from panel import history, tasks
from panel.actions import Refused, endpoints
from panel.models import AuditEvent, Endpoint, Role, Run
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def broken(settings):
    """A lead, an endpoint stored without its version segment, and a run that found where it answers."""
    settings.EGRESS_ALLOWED = (ip_network("127.0.0.0/8"),)
    with serve("vllm", key=KEY) as server:
        lead = make.member(role=Role.LEAD)
        endpoint = make.endpoint(lead.team, key=KEY, base_url=server.origin, kind="vllm")
        profile = make.profile(lead.team, endpoint=endpoint, lanes=("agent",))
        run = make.run(profile.lanes.get(kind="agent").check_order, slot=endpoint.changed_at)
        tasks.climb([run.pk])
        yield lead, Endpoint.objects.get(), Run.objects.get(pk=run.pk), server.base_url


def test_the_run_names_the_cause_and_the_address_that_answers(broken) -> None:
    _, _, run, answers = broken
    seen = history.run_view(run)
    assert (seen.reason, seen.offered_base_url) == ("base_url_missing_v1", answers)


def test_one_click_stores_it_keeps_the_key_and_is_audited(broken) -> None:
    lead, endpoint, run, answers = broken
    client = Client()
    client.force_login(lead.user)
    client.post(reverse("base_url_apply", args=[lead.team.slug, endpoint.code]), {"run": run.code})
    endpoint.refresh_from_db()
    assert endpoint.base_url == answers
    assert endpoint.key_versions.get().state == "active"
    assert AuditEvent.objects.get(noun="endpoint").data["base_url"] == answers


def test_after_the_click_the_ladder_is_green(broken) -> None:
    lead, endpoint, run, _ = broken
    endpoint.tokens_a_day = 50_000
    endpoints.apply_offered(actor=lead, endpoint=endpoint, run=run)
    assert Endpoint.objects.get().tokens_a_day == 50_000
    fresh = Run.objects.filter(trigger="person").get()
    tasks.climb([fresh.pk])
    fresh.refresh_from_db()
    assert fresh.rung == 2
    assert fresh.reason not in ("base_url_missing_v1", "base_url_wrong_path")


def test_an_endpoint_changed_since_the_run_is_left_alone(broken) -> None:
    lead, endpoint, run, answers = broken
    endpoints.apply_offered(actor=lead, endpoint=endpoint, run=run)
    with pytest.raises(Refused, match="changed since"):
        endpoints.apply_offered(actor=lead, endpoint=Endpoint.objects.get(), run=run)
    assert Endpoint.objects.get().base_url == answers


def test_a_run_of_another_endpoint_offers_nothing(broken) -> None:
    lead, _, run, _ = broken
    other = make.endpoint(lead.team)
    with pytest.raises(Refused):
        endpoints.apply_offered(actor=lead, endpoint=other, run=run)
