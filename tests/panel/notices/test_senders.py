"""What each sender posts, byte for byte beside a file, and how it reads the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from panel.notices.message import Part, Trouble
from panel.notices.senders import SENDERS, dingtalk, feishu, webhook
from tests.panel.notices.told import NOW, SIGN, message, target

PAYLOADS = Path(__file__).parent / "payloads"
SETTINGS = {"telegram": {"chat": "-100123"}, "ntfy": {"server": "https://ntfy.example", "topic": "atlas"}}
MOST = {"wecom": 4096, "dingtalk": 20_000, "feishu": 20_000, "lark": 20_000, "teams": 28_000, "ntfy": 4096}


def posted(kind: str, **fields: object) -> dict[str, object]:
    """What a sender posts, as a payload file holds it."""
    secret = "tk-0123" if kind in SETTINGS else "https://hooks.example/send?token=t0p"
    request = SENDERS[kind].request_for(
        target(kind, secret, **SETTINGS.get(kind, {})), message(**fields), NOW
    )
    return {"url": request.url, "headers": dict(request.headers), "body": json.loads(request.body)}


@pytest.mark.parametrize("kind", sorted(SENDERS))
def test_a_sender_posts_what_its_file_shows(kind: str) -> None:
    assert posted(kind) == json.loads((PAYLOADS / f"{kind}.json").read_text())


@pytest.mark.parametrize("kind", ["slack", "teams", "dingtalk", "feishu", "lark", "wecom", "telegram"])
def test_team_words_mark_nothing_up_and_call_nobody(kind: str) -> None:
    body = json.dumps(posted(kind)["body"], ensure_ascii=False)
    assert "<!channel>" not in body
    assert "<@U1>" not in body
    assert "](http://evil.example)" not in body or kind in (
        "slack",
        "telegram",
    )  # neither reads Markdown links


@pytest.mark.parametrize("kind", sorted(MOST))
def test_a_long_message_is_cut_to_what_the_product_takes(kind: str) -> None:
    parts = (Part("Lanes", items=tuple(f"配置档 {n}，智能体推理：中断" for n in range(2000))),)
    said = posted(kind, parts=parts)["body"]
    whole = json.dumps(said, ensure_ascii=False)
    counted = {"wecom": ("markdown", "content"), "ntfy": ("message",)}.get(kind, ())
    for name in counted:
        said = said[name]  # type: ignore[index]
    assert len((str(said) if counted else whole).encode()) <= MOST[kind]


def test_slack_takes_no_block_longer_than_three_thousand_characters() -> None:
    body = posted("slack", parts=tuple(Part("x" * 200, "y" * 5000) for _ in range(80)))["body"]
    assert len(body["blocks"]) <= 50  # type: ignore[index]
    assert max(len(block["text"]["text"]) for block in body["blocks"]) <= 3000  # type: ignore[index]


def test_telegram_is_cut_by_whole_parts_so_that_no_tag_is_left_open() -> None:
    text = posted("telegram", parts=tuple(Part("a", "<" * 1500) for _ in range(5)))["body"]["text"]  # type: ignore[index]
    assert len(text) <= 4096
    assert text.count("<b>") == text.count("</b>")


def test_dingtalk_signs_timestamp_and_secret_with_the_secret() -> None:
    by_openssl = "hmPWwU+7lVdm3ZZz0r9tSfx0L4Q26jWOZr9+Gs6EZQM="
    assert dingtalk.signature("this is secret", 1577262236757) == by_openssl


def test_feishu_signs_nothing_with_the_secret_in_the_key() -> None:
    assert feishu.signature("demo", 1599360473) == "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="


def test_a_receiver_can_prove_the_signature_of_a_webhook() -> None:
    request = webhook.request_for(target("webhook"), message(), NOW)
    stamp = int(request.headers["preflight-timestamp"])
    proof = f"v1={webhook.signature(SIGN, stamp, request.body)}"
    assert request.headers["preflight-signature"] == proof


def test_a_request_shows_nothing_of_itself() -> None:
    request = webhook.request_for(target("webhook"), message(), NOW)
    assert "t0p" not in repr(request)
    assert SIGN not in repr(target("webhook"))


@pytest.mark.parametrize(
    ("kind", "answer", "trouble"),
    [
        ("dingtalk", {"errcode": 0}, None),
        ("dingtalk", {"errcode": 310000}, Trouble.SAID_NO),
        ("dingtalk", {"errcode": 660026}, Trouble.RATE_LIMITED),
        ("dingtalk", None, Trouble.ODD_ANSWER),
        ("feishu", {"code": 0}, None),
        ("feishu", {"StatusCode": 0}, None),
        ("lark", {"code": 19021}, Trouble.SAID_NO),
        ("lark", {"code": 11232}, Trouble.RATE_LIMITED),
        ("wecom", {"errcode": 0}, None),
        ("wecom", {"errcode": 93000}, Trouble.SAID_NO),
        ("wecom", {"errcode": 45009}, Trouble.RATE_LIMITED),
        ("telegram", {"ok": True}, None),
        ("telegram", {"ok": False, "error_code": 400}, Trouble.SAID_NO),
        ("telegram", ["?"], Trouble.ODD_ANSWER),
        ("slack", None, None),
    ],
)
def test_an_error_code_in_a_200_is_a_refusal(kind: str, answer: object, trouble: Trouble | None) -> None:
    found = SENDERS[kind].refusal(answer, json.dumps(answer))
    assert (found[0] if found else None) is trouble


def test_an_old_teams_connector_says_its_failure_in_a_200() -> None:
    assert SENDERS["teams"].refusal(None, "Webhook message delivery failed with error: 413") is not None
