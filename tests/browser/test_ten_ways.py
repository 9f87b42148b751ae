"""A profile broken in ten ways: the page names each cause and its fix, and one click mends a base URL."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from ipaddress import ip_network

import pytest
from django.db import connections
from django.urls import reverse

from checks import reasons
from checks.simulator import serve
from panel import tasks
from panel.models import Membership, Profile, Run
from tests import make
from tests.browser.visits import EN, ZH, Look, visit

KEY, WRONG_KEY = "sk-test-0123456789abcdef", "sk-test-fedcba9876543210"
MODEL = "qwen3-8b"
# What is wrong, and the one cause that the page must name.
WAYS = {
    "wrong port": "connection_refused_loopback",
    "missing /v1": "base_url_missing_v1",
    "double /v1": "base_url_double_v1",
    "pasted endpoint": "base_url_full_endpoint",
    "web page": "base_url_html_page",
    "wrong key": "auth_invalid_key",
    "key in quotes": "auth_key_malformed",
    "unknown model": "model_not_found",
    "no quota": "quota_exhausted",
    "relay without token ids": "token_ids_missing",
}
MENDED = ("missing /v1", "double /v1", "pasted endpoint", "web page")


@dataclass(frozen=True)
class Lane:
    """One lane as somebody stored it."""

    base_url: str
    key: str = KEY
    model: str = MODEL
    lane: str = "agent"
    kind: str = "openai"


@contextmanager
def lanes() -> Iterator[dict[str, Lane]]:
    """Scripted servers, and the ten lanes that call them wrongly."""
    with ExitStack() as stack:
        own, site, relay, asker, poor = (
            stack.enter_context(serve(family, key=KEY, fault=fault))
            for family, fault in (
                ("vllm", None), ("new-api", None), ("one-api", None), ("openai", "key_in_quotes"),
                ("one-api", "quota_empty"),
            )
        )  # fmt: skip
        yield {
            "wrong port": Lane(f"http://127.0.0.1:{closed_port()}/v1"),
            "missing /v1": Lane(own.origin, kind="vllm"),
            "double /v1": Lane(f"{own.origin}/v1/v1", kind="vllm"),
            "pasted endpoint": Lane(f"{relay.origin}/v1/chat/completions"),
            "web page": Lane(site.origin),
            "wrong key": Lane(relay.base_url, key=WRONG_KEY),
            "key in quotes": Lane(asker.base_url, key=f'"{KEY}"'),
            "unknown model": Lane(own.base_url, model="qwen3-80b", kind="vllm"),
            "no quota": Lane(poor.base_url),
            "relay without token ids": Lane(relay.base_url, lane="rollout"),
        }


def closed_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.fixture
def broken(transactional_db, settings) -> Iterator[tuple[Membership, dict[str, Profile]]]:
    """A lead, and a climbed profile for each of the ten ways."""
    settings.EGRESS_ALLOWED = (ip_network("127.0.0.0/8"),)
    lead = make.member(role=30)
    with lanes() as ways:
        profiles = {name: stored(lead, name, lane) for name, lane in ways.items()}
        climb()
        yield lead, profiles


def stored(lead: Membership, name: str, lane: Lane) -> Profile:
    """The row as it stands when no form mended what was pasted, with a run that waits."""
    endpoint = make.endpoint(lead.team, lane.key, base_url=lane.base_url, kind=lane.kind)
    profile = make.profile(lead.team, (lane.lane,), endpoint=endpoint, model=lane.model, name=name)
    make.run(profile.lanes.get(kind=lane.lane).check_order, slot=endpoint.changed_at, trigger="person")
    return profile


def climb() -> None:
    """Climb all that waits, away from the thread in which the browser keeps its loop."""

    def work() -> None:
        try:
            tasks.climb(list(Run.objects.filter(state="queued").values_list("pk", flat=True)))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def address(profile: Profile) -> str:
    return reverse("profile", args=[profile.team.slug, profile.code])


@pytest.mark.parametrize(("language", "lang"), [(EN, "en"), (ZH, "zh")], ids=["en", "zh"])
def test_ten_causes_are_named_with_their_fix(browser, live_server, broken, language: str, lang: str) -> None:
    lead, profiles = broken
    unsaid = {}
    with visit(browser, live_server.url, Look(language=language), lead) as (page, complaints):
        for name, code in WAYS.items():
            page.goto(address(profiles[name]))
            verdict = page.locator(".verdict").inner_text()
            said = reasons.entry(code, lang)
            unsaid[name] = [text for text in (code, said.title, *said.fix) if text not in verdict]
        assert complaints == []
    assert {name: texts for name, texts in unsaid.items() if texts} == {}


def test_a_wrong_base_url_is_mended_by_one_click(browser, live_server, broken) -> None:
    lead, profiles = broken
    with visit(browser, live_server.url, Look(), lead) as (page, _):
        for name in MENDED:
            page.goto(address(profiles[name]))
            page.locator(".verdict").get_by_role("button", name="Use http").click()
        climb()
        for name in MENDED:
            page.goto(address(profiles[name]))
            assert page.locator("#rung-2.is-ok").count() == 1, name


def test_what_one_click_cannot_mend_offers_the_right_form(browser, live_server, broken) -> None:
    lead, profiles = broken
    offered = {}
    with visit(browser, live_server.url, Look(), lead) as (page, _):
        for name in ("wrong port", "wrong key", "key in quotes", "unknown model"):
            page.goto(address(profiles[name]))
            offered[name] = page.locator(".verdict .btn.primary").inner_text()
    assert offered == {
        "wrong port": "Edit endpoint",
        "wrong key": "Replace key",
        "key in quotes": "Replace key",
        "unknown model": "Edit profile",
    }
