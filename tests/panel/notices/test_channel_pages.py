"""Channels and routes as a lead makes, changes, tests and deletes them."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from panel import tasks, vault
from panel.models import AuditEvent, Channel, Notice, Role, Route
from tests import make
from tests.checks.local import serving
from tests.panel.notices.told import SIGN, answering, channel, queued, route

pytestmark = pytest.mark.django_db
ADDRESS = "https://oapi.dingtalk.example/robot/send?access_token=canary5f1c2d3e9f31"
PLAIN = {"name": "oncall", "language": "zh-hans", "enabled": "on"}


@pytest.fixture
def lead(client: Client):  # type: ignore[no-untyped-def]
    """A lead, signed in."""
    member = make.member(role=Role.LEAD)
    client.force_login(member.user)
    return member


def new(client: Client, slug: str, kind: str, **said: str):  # type: ignore[no-untyped-def]
    return client.post(reverse("channel_new", args=[slug]) + f"?kind={kind}", PLAIN | said)


def edit(client: Client, row: Channel, **said: str):  # type: ignore[no-untyped-def]
    return client.post(reverse("channel_edit", args=[row.team.slug, row.code]), PLAIN | said)


def opened(row: Channel, part: str) -> str:
    """The secret that is sealed, or a refusal."""
    context = vault.channel_context(row.code, part, row.secret_number, row.origin)
    return vault.unseal(getattr(row, f"sealed_{part}"), team=row.team, context=context).reveal()


def test_a_new_channel_seals_its_secrets_and_gets_a_route(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    assert new(client, lead.team.slug, "dingtalk", address=ADDRESS, sign=SIGN).status_code == 302
    row = Channel.objects.get()
    assert (opened(row, "secret"), opened(row, "sign")) == (ADDRESS, SIGN)
    assert (row.origin, row.shown) == ("https://oapi.dingtalk.example", "oapi.dingtalk.example …9f31")
    assert Route.objects.get().channel == row


def test_no_page_and_no_record_shows_more_of_a_secret(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "dingtalk", address=ADDRESS, sign=SIGN)
    row = Channel.objects.get()
    pages = [client.get(reverse("channels", args=[lead.team.slug]))]
    pages += [
        client.get(reverse(name, args=[lead.team.slug, row.code])) for name in ("channel", "channel_edit")
    ]
    text = "".join(page.content.decode() for page in pages) + repr(list(AuditEvent.objects.values()))
    assert "9f31" in text
    assert "canary" not in text


@pytest.mark.parametrize(
    ("kind", "said", "field"),
    [
        ("slack", {"address": "hooks.slack.example/x"}, "address"),
        ("slack", {"address": "http://hooks.slack.example/x"}, "address"),
        ("slack", {"address": "https://me:pw@hooks.slack.example/x"}, "address"),
        ("slack", {"address": "https://hooks.slack.example/a b"}, "address"),
        ("slack", {"address": "ftp://hooks.slack.example/x"}, "address"),
        ("slack", {}, "address"),
        ("webhook", {"address": "https://a.example/x"}, "sign"),
        ("webhook", {"address": "https://a.example/x", "sign": "short"}, "sign"),
        ("mail", {"to": "lin@team.example, nobody"}, "to"),
        ("mail", {"to": ""}, "to"),
        ("mail", {"to": "\n".join(f"p{n}@team.example" for n in range(51))}, "to"),
        ("telegram", {"token": "123:abcdefgh", "chat": "not a chat", "server": "https://a.example"}, "chat"),
        ("ntfy", {"server": "https://ntfy.example", "topic": "a/b"}, "topic"),
        ("ntfy", {"server": "ntfy.example", "topic": "ab"}, "server"),
    ],
)
def test_what_cannot_be_sent_to_is_refused_in_words(
    client: Client, lead, kind: str, said, field: str
) -> None:  # type: ignore[no-untyped-def]
    answer = new(client, lead.team.slug, kind, **said)
    assert list(answer.context["form"].errors) == [field]
    assert not Channel.objects.exists()
    assert "me:pw" not in answer.content.decode()


def test_recipients_may_stand_one_a_line_or_with_commas(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "mail", to="lin@team.example,\r\nmarta@team.example；lin@team.example")
    assert Channel.objects.get().settings == {"to": ["lin@team.example", "marta@team.example"]}


def test_without_a_mail_server_the_form_says_so(client: Client, lead, settings) -> None:  # type: ignore[no-untyped-def]
    settings.EMAIL_HOST = ""
    page = client.get(reverse("channel_new", args=[lead.team.slug]) + "?kind=mail")
    assert "EMAIL_URL" in page.content.decode()


def test_a_name_is_taken_once_in_a_team(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    channel(lead.team, "slack", name="oncall")
    answer = new(client, lead.team.slug, "slack", address="https://hooks.example/x")
    assert list(answer.context["form"].errors) == ["name"]


def test_what_is_left_empty_stays_sealed(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "dingtalk", address=ADDRESS, sign=SIGN)
    assert edit(client, Channel.objects.get(), name="other").status_code == 302
    row = Channel.objects.get()
    assert (row.name, opened(row, "secret"), opened(row, "sign")) == ("other", ADDRESS, SIGN)


def test_a_new_address_on_the_same_server_keeps_the_signing_secret(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "dingtalk", address=ADDRESS, sign=SIGN)
    edit(client, Channel.objects.get(), address=ADDRESS + "1")
    row = Channel.objects.get()
    assert (opened(row, "secret"), opened(row, "sign")) == (ADDRESS + "1", SIGN)


def test_another_server_never_gets_the_signing_secret_of_the_first(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "dingtalk", address=ADDRESS, sign=SIGN)
    edit(client, Channel.objects.get(), address="https://other.example/robot?access_token=1")
    row = Channel.objects.get()
    assert (row.origin, row.sealed_sign) == ("https://other.example", "")


@pytest.mark.parametrize(
    ("kind", "first", "moved", "field"),
    [
        (
            "webhook",
            {"address": "https://a.example/x", "sign": SIGN},
            {"address": "https://b.example/x"},
            "sign",
        ),
        (
            "telegram",
            {"token": "123:abcdefgh", "chat": "-1", "server": "https://a.example"},
            {"chat": "-1", "server": "https://b.example"},
            "token",
        ),
    ],
)
def test_another_server_asks_for_the_secret_that_is_needed(client, lead, kind, first, moved, field) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, kind, **first)
    answer = edit(client, Channel.objects.get(), **moved)
    assert list(answer.context["form"].errors) == [field]
    assert Channel.objects.get().origin == "https://a.example"


def test_an_ntfy_token_is_dropped_when_the_server_changes(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    new(client, lead.team.slug, "ntfy", server="https://a.example", topic="t", token="tk_0123456789abc")
    edit(client, Channel.objects.get(), server="https://b.example", topic="t")
    assert Channel.objects.get().sealed_secret == ""


def test_a_test_message_arrives_and_too_many_are_refused(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    with serving(answering(200)) as server:
        row = channel(lead.team, "webhook", secret=f"http://127.0.0.1:{server.port}/", sign=SIGN)
        address = reverse("channel_test", args=[lead.team.slug, row.code])
        for _ in range(8):
            client.post(address)
        tasks.send_notices()
    body = json.loads(server.seen[0].partition(b"\r\n\r\n")[2])
    assert body["kind"] == "test"
    assert Notice.objects.count() <= 6 + 6  # two minutes may be touched


def test_a_message_that_was_given_up_is_sent_again(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    notice = queued(channel(lead.team, "slack"), state="dead", failure="unclear")
    client.post(reverse("notice_again", args=[lead.team.slug, notice.code]))
    assert Notice.objects.get().state == "queued"
    client.post(reverse("notice_drop", args=[lead.team.slug, notice.code]))
    assert Notice.objects.get().state == "queued"  # it is no longer among those that were given up


def test_a_channel_is_deleted_once_its_name_was_typed(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    row = channel(lead.team, "slack", name="oncall")
    address = reverse("channel_delete", args=[lead.team.slug, row.code])
    client.post(address, {"name": "onca"})
    assert Channel.objects.exists()
    client.post(address, {"name": "oncall"})
    assert not Channel.objects.exists()


def test_a_route_is_made_changed_and_deleted(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    row = channel(lead.team, "slack")
    said = {"channel": row.code, "after_min": "15", "zone": "Asia/Shanghai", "states": ["down"]}
    assert client.post(reverse("route_new", args=[lead.team.slug]), said).status_code == 302
    made = Route.objects.get()
    assert (made.after_min, made.states) == (15, ["down"])
    address = reverse("route_edit", args=[lead.team.slug, made.code])
    client.post(address, said | {"quiet_from": "22:00", "quiet_to": "07:00"})
    assert str(Route.objects.get().quiet_from) == "22:00:00"
    client.post(reverse("route_delete", args=[lead.team.slug, made.code]))
    assert not Route.objects.exists()


@pytest.mark.parametrize(
    "said",
    [
        {"quiet_from": "22:00"},
        {"quiet_from": "07:00", "quiet_to": "07:00"},
        {"after_min": "9999"},
        {"zone": "X"},
    ],
)
def test_a_route_that_makes_no_sense_is_refused(client: Client, lead, said) -> None:  # type: ignore[no-untyped-def]
    usual = {"channel": channel(lead.team, "slack").code, "after_min": "0", "zone": "UTC"}
    answer = client.post(reverse("route_new", args=[lead.team.slug]), usual | said)
    assert answer.context["form"].errors
    assert not Route.objects.exists()


def test_a_route_leads_to_no_other_teams_channel(client: Client, lead) -> None:  # type: ignore[no-untyped-def]
    foreign = channel(make.team(), "slack")
    said = {"channel": foreign.code, "after_min": "0", "zone": "UTC"}
    assert client.post(reverse("route_new", args=[lead.team.slug]), said).status_code == 200
    mine = route(channel(lead.team, "slack"))
    client.post(reverse("route_edit", args=[lead.team.slug, mine.code]), said)
    assert Route.objects.get().channel != foreign
