"""One recognisable key goes in through the form and must come out nowhere but on the wire and in its bundle.

The walk takes the product's own way: set-up link, forms, a climb against servers that refuse, echo or
answer, then every page, row, log line, message and export.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse

from checks.simulator import serve
from panel import tasks
from panel.models import Endpoint, Membership, Profile, Run
from tests import make
from tests.panel.notices import told
from tests.panel.test_access_matrix import ROUTES

pytestmark = pytest.mark.django_db(transaction=True)
CANARY = "sk-canary-Zx9/kQ+27tWq_b1946ac92492d2347c"
SHAPES = (
    CANARY,
    quote(CANARY, safe=""),
    base64.b64encode(CANARY.encode()).decode().rstrip("="),
    CANARY[5:30],
)


def holds_the_canary(text: str | bytes) -> bool:
    if isinstance(text, bytes):
        return any(shape.encode() in text for shape in SHAPES)
    return any(shape in text for shape in SHAPES)


@pytest.fixture
def walk(caplog: pytest.LogCaptureFixture) -> Iterator[tuple[Client, Profile]]:
    """A lead who typed the canary into the form, and runs of its lanes against a server that echoes it."""
    caplog.set_level(logging.DEBUG)
    lead = make.member(role=40)
    client = Client()
    client.force_login(lead.user)
    with serve("openai", key=CANARY, models=("gpt-4o-mini",), fault="key_in_quotes") as server:
        said = {
            "name": "echo",
            "kind": "openai",
            "base_url": server.base_url,
            "key": CANARY,
            "needs_key": "on",
        }
        assert client.post(reverse("endpoint_new", args=[lead.team.slug]), said).status_code == 302
        profile = make.profile(lead.team, endpoint=Endpoint.objects.get(), model="gpt-4o-mini")
        client.post(reverse("run_now", args=[lead.team.slug, profile.code]))
        tasks.climb(list(Run.objects.values_list("pk", flat=True)))
        assert any(seen.path.endswith("/chat/completions") for seen in server.requests)
        yield client, profile


def pages(client: Client, profile: Profile) -> Iterator[tuple[str, str]]:
    """Every page of the team that can be read, and those outside it."""
    codes = {
        "profile": profile.code,
        "endpoint": Endpoint.objects.get().code,
        "run": Run.objects.latest("pk").code,
        "colleague": Membership.objects.get().code,
        "host": make.host(profile.team).code,
        "incident": str(make.incident(profile.team).number),
        "report": make.report(profile.team).code,
        "report_schedule": make.report_schedule(profile.team).code,
    }
    channel = told.channel(profile.team, "webhook", secret=f"https://hooks.example/{CANARY}", sign=CANARY)
    codes |= {"channel": channel.code, "route": told.route(channel).code}
    for name, (read, _, of) in ROUTES.items():
        if read is not None:
            kwargs = {"team": profile.team.slug} | ({"code": codes[of]} if of else {})
            yield name, reverse(name, kwargs=kwargs)
    yield from ((name, reverse(name)) for name in ("home", "me", "help", "healthz"))


def whole(answer) -> bytes:
    """The body, also of an answer that is streamed."""
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_no_page_shows_it(walk) -> None:
    client, profile = walk
    leaks = [name for name, address in pages(client, profile) if holds_the_canary(whole(client.get(address)))]
    assert leaks == []


def test_no_form_that_was_refused_shows_it_again(walk) -> None:
    client, profile = walk
    said = {"name": "", "kind": "openai", "base_url": "no address", "key": CANARY}
    answer = client.post(reverse("endpoint_new", args=[profile.team.slug]), said)
    assert answer.status_code == 200
    assert not holds_the_canary(answer.content)


def test_no_table_holds_it(walk) -> None:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - the names are the database's own
            assert not holds_the_canary(repr(cursor.fetchall())), table


def test_no_log_line_holds_it(walk, caplog: pytest.LogCaptureFixture) -> None:
    said = caplog.get_records("setup") + caplog.records
    assert said
    assert not holds_the_canary(
        "\n".join(f"{each.getMessage()} {each.args} {each.exc_text}" for each in said)
    )


def test_no_message_to_the_worker_and_nothing_in_the_cache_holds_it(walk) -> None:
    client = cache._cache.get_client()
    held = [client.dump(key) for key in client.scan_iter("*")]
    written = [path.read_bytes() for path in Path(settings.DATA_DIR).rglob("*.aof")]
    assert not any(holds_the_canary(each or b"") for each in held + written)


@pytest.mark.parametrize("flavour", ["dotenv", "sh", "toml", "line"])
def test_no_bundle_without_keys_holds_it(walk, flavour: str) -> None:
    client, profile = walk
    address = reverse("profile_export", args=[profile.team.slug, profile.code])
    answer = client.post(address, {"flavour": flavour, "lanes": ["agent", "rollout"], "with_keys": "no"})
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert not holds_the_canary(answer.content)


def test_a_bundle_with_keys_is_the_one_place_that_holds_it(walk) -> None:
    client, profile = walk
    address = reverse("profile_export", args=[profile.team.slug, profile.code])
    answer = client.post(address, {"flavour": "dotenv", "lanes": ["agent"], "with_keys": "yes"})
    assert CANARY.encode() in answer.content
    assert "no-store" in answer.headers["Cache-Control"]
