"""What an endpoint says of its money: an amount or why there is none, never a made-up number."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from django.test import Client
from django.urls import reverse

from checks.simulator import serve
from panel import tasks
from panel.actions import endpoints
from panel.models import AuditEvent, BalanceTold, Endpoint, Role
from tests import make

pytestmark = pytest.mark.django_db
KEY = "sk-canary-0123456789abcdef"


def asked(settings, family: str, key: str | None = KEY) -> tuple[Endpoint, BalanceTold]:
    settings.EGRESS_ALLOWED = (ip_network("127.0.0.0/8"),)
    with serve(family, key=KEY) as server:
        lead = make.member(role=Role.LEAD)
        endpoint = make.endpoint(lead.team, key=key, base_url=server.base_url)
        endpoints.ask_balance(actor=lead, endpoint=endpoint)
        assert BalanceTold.objects.get().state == "asking"
        tasks.ask_balance(endpoint.pk)
    return endpoint, BalanceTold.objects.get()


@pytest.mark.parametrize("family", ["vllm", "nginx"])
def test_an_endpoint_that_tells_no_balance_is_unsupported_and_has_no_amount(settings, family: str) -> None:
    _, told = asked(settings, family)
    assert (told.state, told.amount) == ("unsupported", None)
    assert told.why


def test_an_endpoint_without_a_key_says_so(settings) -> None:
    _, told = asked(settings, "one-api", key=None)
    assert (told.state, told.why, told.amount) == ("unsupported", "no_key", None)


def test_a_dead_endpoint_is_an_error_and_never_zero(settings) -> None:
    settings.EGRESS_ALLOWED = (ip_network("127.0.0.0/8"),)
    lead = make.member(role=Role.LEAD)
    endpoint = make.endpoint(lead.team, base_url="http://127.0.0.1:9/v1")
    endpoints.ask_balance(actor=lead, endpoint=endpoint)
    tasks.ask_balance(endpoint.pk)
    told = BalanceTold.objects.get()
    assert (told.state, told.why, told.amount) == ("error", "unreachable", None)


def test_asking_is_audited_and_the_page_says_what_came(settings) -> None:
    endpoint, _ = asked(settings, "vllm")
    reader = make.member(team=endpoint.team)
    client = Client()
    client.force_login(reader.user)
    shown = client.get(reverse("endpoint", args=[endpoint.team.slug, endpoint.code])).content.decode()
    assert "no page for balances" in shown
    assert KEY not in shown
    assert AuditEvent.objects.filter(verb="ask", noun="endpoint").count() == 1


def test_a_deleted_endpoint_is_asked_nothing(settings) -> None:
    tasks.ask_balance(987654)
    assert not BalanceTold.objects.exists()
