"""Notices sent by the task to servers on real sockets that take them, or misbehave."""

from __future__ import annotations

import json
import logging
import socket
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from panel import notices, tasks
from panel.models import Channel, Notice
from panel.notices import posting, sentence
from tests import make
from tests.checks.local import serving
from tests.panel.notices.mailbox import mailbox
from tests.panel.notices.told import SIGN, answering, channel, dropping, queued

pytestmark = pytest.mark.django_db
SECRET = "canary-5f1c2d3e4b5a6978"
YES: dict[str, object] = {
    "dingtalk": {"errcode": 0},
    "feishu": {"code": 0},
    "lark": {"code": 0},
    "wecom": {"errcode": 0},
    "telegram": {"ok": True},
}


def at(port: int, kind: str = "slack", **fields: Any) -> Channel:
    """A channel whose server listens on this port."""
    server = f"http://127.0.0.1:{port}"
    if kind in ("telegram", "ntfy"):
        settings = {"server": server, "chat": "-1", "topic": "atlas"}
        return channel(make.team(), kind, secret=SECRET, settings=settings, **fields)
    return channel(make.team(), kind, secret=f"{server}/hook?access_token={SECRET}", sign=SIGN, **fields)


def sent(row: Channel) -> Notice:
    """Send one notice to the channel and return what became of it."""
    queued(row)
    tasks.send_notices()
    return Notice.objects.get()


@pytest.mark.parametrize(
    "kind", ["webhook", "slack", "teams", "dingtalk", "feishu", "lark", "wecom", "telegram", "ntfy"]
)
def test_a_notice_arrives(kind: str) -> None:
    with serving(answering(200, YES.get(kind))) as server:
        assert sent(at(server.port, kind)).state == "sent"
    assert len(server.seen) == 1
    assert "Preflight itself has stopped checking" in server.seen[0].decode()


def test_a_channel_is_told_in_its_language() -> None:
    with serving(answering(200, YES["dingtalk"])) as server:
        sent(at(server.port, "dingtalk", language="zh-hans"))
    body = json.loads(server.seen[0].partition(b"\r\n\r\n")[2])
    assert body["msgtype"] == "markdown"
    assert "timestamp=" in server.seen[0].split(b" ")[1].decode()


@pytest.mark.parametrize(
    ("kind", "status", "body", "failure", "say"),
    [
        ("slack", 500, None, "server_fault", {"status": "500"}),
        ("slack", 404, None, "refused", {"status": "404"}),
        ("dingtalk", 200, {"errcode": 310000, "errmsg": SECRET}, "said_no", {"code": "310000"}),
        ("feishu", 200, {"code": 19021}, "said_no", {"code": "19021"}),
        ("wecom", 200, None, "odd_answer", {}),
        (
            "telegram",
            429,
            {"ok": False, "parameters": {"retry_after": 77}},
            "rate_limited",
            {"status": "429"},
        ),
    ],
)
def test_a_refusal_is_tried_again_later(
    kind: str, status: int, body: object, failure: str, say: dict[str, str]
) -> None:
    with serving(answering(status, body)) as server:
        notice = sent(at(server.port, kind))
    assert (notice.state, notice.failure, notice.say) == ("queued", failure, say)
    assert len(server.seen) == 1
    assert sentence(notice.failure, notice.say)


@pytest.mark.parametrize(("asked", "wait"), [("300", 300), ("99999999", 3600), ("soon", 5)])
def test_the_quiet_that_the_other_side_asks_for_is_kept_up_to_an_hour(asked: str, wait: int) -> None:
    with serving(answering(429, retry_after=asked)) as server:
        notice = sent(at(server.port))
    assert notice.due_at is not None
    assert abs((notice.due_at - datetime.now(UTC)).total_seconds() - wait) < 4


def test_a_redirect_is_not_followed() -> None:
    with serving(answering(200)) as elsewhere:
        moved = answering(302, location=f"http://127.0.0.1:{elsewhere.port}/")
        with serving(moved) as server:
            notice = sent(at(server.port))
    assert (notice.failure, elsewhere.seen) == ("redirect", [])


def hanging(connection: socket.socket, request: bytes) -> None:
    """A server that reads the request and says nothing for a while."""
    time.sleep(2)


@pytest.mark.parametrize("behaviour", [hanging, dropping])
@pytest.mark.parametrize(("kind", "state"), [("slack", "dead"), ("webhook", "queued")])
def test_without_an_answer_it_may_have_arrived(
    monkeypatch: pytest.MonkeyPatch, behaviour: Any, kind: str, state: str
) -> None:
    monkeypatch.setattr(posting, "SECONDS", 0.5)
    with serving(behaviour) as server:
        notice = sent(at(server.port, kind))
    assert (notice.state, notice.failure, len(server.seen)) == (state, "unclear", 1)


def test_what_surely_did_not_leave_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    notice = sent(at(port))
    assert (notice.state, notice.failure) == ("queued", "unreachable")


def test_a_refusal_of_the_egress_policy_names_the_address(settings: Any) -> None:
    settings.EGRESS_ALLOWED = ()
    with serving(answering(200)) as server:
        notice = sent(at(server.port))
    assert (notice.failure, server.seen) == ("denied", [])
    assert "127.0.0.1" in sentence(notice.failure, notice.say)


def test_many_channels_are_told_in_one_go_each_once() -> None:
    with serving(answering(200)) as server:
        for _ in range(25):
            queued(at(server.port, "webhook"))
        tasks.send_notices()
    assert set(Notice.objects.values_list("state", flat=True)) == {"sent"}
    assert len(server.seen) == 25


def test_nothing_of_a_secret_is_logged_or_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(answering(200, {"errcode": 1, "errmsg": SECRET})) as server:
        for kind in ("dingtalk", "telegram", "ntfy", "webhook"):
            queued(at(server.port, kind))
        tasks.send_notices()
    kept = repr(list(Notice.objects.values())) + repr(list(Channel.objects.values()))
    assert SECRET.encode() in b"".join(server.seen)
    assert SECRET not in caplog.text + kept
    assert SIGN not in caplog.text + kept


def test_a_secret_sealed_for_another_origin_is_not_sent() -> None:
    with serving(answering(200)) as server:
        row = at(server.port)
        Channel.objects.filter(pk=row.pk).update(origin="https://other.example")
        notice = sent(row)
    assert (notice.failure, server.seen) == ("seal_broken", [])


@pytest.fixture
def smtp(settings: Any) -> Any:
    """Settings that name a mail server by its port."""

    def use(port: int) -> None:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        settings.DEFAULT_FROM_EMAIL = "preflight@team.example"

    return use


TO = {"to": ["lin@team.example", "marta@team.example"]}


def test_a_mail_arrives_as_text_and_html_with_the_notices_code_as_its_id(smtp: Any) -> None:
    with mailbox() as box:
        smtp(box.port)
        notice = sent(channel(make.team(), "mail", settings=TO))
    letter = box.letters[0]
    assert notice.state == "sent"
    assert letter["Message-ID"] == f"<{notice.code}@team.example>"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert [part.get_content_type() for part in letter.iter_parts()] == ["text/plain", "text/html"]


def test_a_refused_recipient_is_a_failure(smtp: Any) -> None:
    with mailbox(refuses="@team.example") as box:
        smtp(box.port)
        notice = sent(channel(make.team(), "mail", settings=TO))
    assert (notice.state, notice.failure) == ("queued", "mail_refused")


def test_without_a_mail_server_a_mail_says_so(settings: Any) -> None:
    settings.EMAIL_HOST = ""
    notice = sent(channel(make.team(), "mail", settings=TO))
    assert (notice.state, notice.failure) == ("queued", "no_mail")


@pytest.mark.parametrize("kind", ["dingtalk", "wecom", "slack", "telegram", "webhook"])
def test_a_report_arrives_in_a_chat(kind: str) -> None:
    with serving(answering(200, YES.get(kind))) as server:
        row = at(server.port, kind)
        notices.plan_report(make.report(row.team), [row], datetime.now(UTC))
        tasks.send_notices()
    assert Notice.objects.get().state == "sent"
    assert len(server.seen[0].partition(b"\r\n\r\n")[2]) > 200


def test_a_report_arrives_as_mail(smtp: Any) -> None:
    with mailbox() as box:
        smtp(box.port)
        row = channel(make.team(), "mail", settings=TO)
        notices.plan_report(make.report(row.team), [row], datetime.now(UTC))
        tasks.send_notices()
    assert [part.get_content_type() for part in box.letters[0].iter_parts()] == ["text/plain", "text/html"]


def test_the_tick_rings_for_what_is_due_and_settles_what_was_lost() -> None:
    row = channel(make.team(), "slack", secret="http://127.0.0.1:9/")
    now = datetime.now(UTC)
    queued(row, state="sending", attempts=1, lease_until=now - timedelta(seconds=1))
    tasks.tick()
    assert Notice.objects.get().failure == "unclear"
