"""Relays and middle boxes: no channel, a wrong account behind, nobody behind, no patience, no room."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

no_channel = table(
    row(
        Reason.MODEL_NO_CHANNEL,
        r"无可用渠道|no (?:available )?channels?\b|channel.{0,20}(?:not (?:found|available)"
        r"|unavailable)|渠道.{0,12}(?:不存在|不可用|已(?:被)?禁用|未找到)|(?:没有|无)可用.{0,8}(?:渠道"
        r"|通道|账号|供应商)|无可用(?:通道|账号)|(?:group|分组).{0,80}(?:no|not|无"
        r"|没有).{0,20}(?:channel|渠道|model|模型)"
        r"|no available (?:distributor|account|key)s?",
        "get_channel_failed channel:no_available_key no_available_channel channel_not_found model_no_channel",
        (400, 403, 404, 429, 500, 502, 503),
    ),
    row(Reason.MODEL_NO_CHANNEL, "", "model_not_found", (503,)),
)
_RELAY_FAULT = re.compile(
    r"bad_response_status_code|bad response status code|upstream_error|upstream.{0,40}(?:account"
    r"|api key|credential|balance|quota|arrears|misconfig)|channel.{0,60}(?:balance|quota|suspended"
    r"|key|disabled)|渠道.{0,30}(?:额度|余额|欠费|密钥|错误|配置)|上游.{0,30}(?:余额|欠费|配置|密钥"
    r"|账号|账户|鉴权)"
    r"|invalid_channel|channel:"
)
_BUSY = frozenset(("429", "500", "502", "503", "504", "529"))


def bare_relay_fault(view: View) -> Reason | None:
    """The relay passes on a number and no words of its upstream."""
    bare = len(view.answer.message) < 80 and re.search(
        r"bad response status code|status code:? ?\d{3}", view.answer.said
    )
    return relay_fault(view) if bare else None


def relay_fault(view: View) -> Reason | None:
    """The relay names its own upstream as the culprit; the number it passes on says how."""
    if not _RELAY_FAULT.search(view.answer.said) or (view.status or 0) < 400:
        return None
    told = set(re.findall(r"\b([45]\d\d)\b", view.answer.params + " " + view.answer.message[:600]))
    if told & _BUSY or (not told and _CROWDED.search(view.answer.said)):
        return Reason.UPSTREAM_OVERLOADED
    return Reason.UPSTREAM_MISCONFIGURED


_CROWDED = re.compile(r"负载|饱和|繁忙|overload|busy|saturat|too many requests")

timeout = table(
    row(
        Reason.GATEWAY_TIMEOUT,
        r"gateway time-?out|timeout.{0,20}upstream|upstream.{0,30}time-?d? ?out"
        r"|function_invocation_timeout|origin.{0,20}time-?d? ?out|deadline exceeded|took too long"
        r"|inactivity timeout|a timeout occurred|stream timeout|response timeout|timed out (?:waiting"
        r"|while)|request time-?d? ?out|网关超时|请求超时|响应超时|上游超时",
        "function_invocation_timeout gateway_timeout upstream_timeout timeout request_timeout "
        "timeout_error do_request_timeout",
        (408, 499, 500, 502, 503, 504, 520, 522, 524, 598, 599),
    ),
    row(Reason.GATEWAY_TIMEOUT, "", "", (504, 524, 522, 598, 599)),
)
_BARE_TIMEOUT = frozenset((504, 524, 522, 408, 598, 599))
_ROUND = (15.0, 30.0, 60.0, 90.0, 100.0, 120.0, 180.0, 240.0, 300.0, 600.0)


def gave_up(view: View) -> Reason | None:
    """A middle box lost patience: by status, by words, or because the time is a round limit."""
    if (
        view.status in _BARE_TIMEOUT
        or timeout(view) is not None
        or view.answer.headers.get("x-vercel-error", "").endswith("TIMEOUT")
    ):
        return Reason.GATEWAY_TIMEOUT
    seconds = view.elapsed
    if view.status not in (500, 502, 503, 520) or seconds is None or view.answer.is_error:
        return None
    near = any(abs(seconds - limit) <= max(1.0, limit * 0.02) for limit in _ROUND)
    return Reason.GATEWAY_TIMEOUT if near else None


too_large = table(
    row(
        Reason.PAYLOAD_TOO_LARGE,
        r"entity too large|payload[ _]?too[ _]?large|content too large|(?:body|request|payload"
        r"|content length|upload).{0,30}(?:too large|exceed|size limit|larger than)"
        r"|exceed.{0,60}(?:bytes|body|payload|request size|content.?length)|length limit exceeded"
        r"|request_too_large|请求体.{0,6}(?:过大|超)|文件过大",
        "request_too_large entity.too.large function_payload_too_large payload_too_large "
        "requestentitytoolarge",
        (400, 413, 422, 500, 502),
    ),
)


def over_size(view: View) -> Reason | None:
    """More bytes than a hop takes: said, or 413 that does not speak of tokens."""
    if too_large(view) is not None and not _TOKENS.search(view.answer.said):
        return Reason.PAYLOAD_TOO_LARGE
    return Reason.PAYLOAD_TOO_LARGE if view.status == 413 else None


_TOKENS = re.compile(r"tokens?\b|context|max_tokens")
_BACKEND = re.compile(
    r"bad gateway|upstream connect error|connection (?:refused|termination|reset)|host error"
    r"|web server (?:is down|returned)|ssl handshake failed|origin (?:is unreachable|dns)"
    r"|reset before headers|no server is available|upstream.{0,30}(?:prematurely|unavailable|failed"
    r"|refused|error)|connection error|connect(?:ion)? to .{0,60}failed|econnrefused"
    r"|backend.{0,20}(?:down|unavailable|fetch failed)|cannot connect to host|dial tcp"
)


def backend_down(view: View) -> Reason | None:
    """A reverse proxy is up and finds nobody behind it."""
    if view.status in (502, 520, 521, 523, 525, 526, 530):
        return Reason.BAD_GATEWAY_UPSTREAM_DOWN
    if view.status not in (500, 503) or view.answer.form is Form.COMPLETION:
        return None
    if view.status == 503 and (
        view.answer.form is Form.HTML or (view.answer.form is Form.EMPTY and not view.to_lan)
    ):
        return Reason.BAD_GATEWAY_UPSTREAM_DOWN
    return Reason.BAD_GATEWAY_UPSTREAM_DOWN if _BACKEND.search(view.answer.said) else None


def lightning_says(view: View) -> Reason | None:
    """What an Agent-Lightning 1.x gateway says of itself on a call through it that it did not record, and
    what the server behind it says to a caller without a key (the context tells which of the two answered).

    It records what its model server answered, so that a 503 of its own can only mean that it has none.
    """
    if view.flag("called_by_gateway") is True and view.status in (401, 403):
        return Reason.GATEWAY_DROPS_KEY
    if view.flag("through_gateway") is not True:
        return None
    if view.status == 429 and view.answer.headers.get("x-agl-paused"):
        return Reason.GATEWAY_PAUSED
    without_server = view.status == 503 and view.answer.form is not Form.HTML
    return Reason.MODEL_NO_CHANNEL if without_server else None


LIGHTNING: tuple[Rule, ...] = (lightning_says,)
RELAY: tuple[Rule, ...] = (no_channel, bare_relay_fault)
RELAY_LATE: tuple[Rule, ...] = (relay_fault,)
SIZE: tuple[Rule, ...] = (over_size,)
LATE: tuple[Rule, ...] = (gave_up, backend_down)
