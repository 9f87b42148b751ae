"""An exchange as evidence: text instead of bytes, capped, in the shape a verdict reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from checks.egress.exchange import Exchange
from checks.outcome import Evidence

MAX_BODY_TEXT: Final = 32_768
MAX_HEADER_TEXT: Final = 2_000

# Codecs that cannot be made slow or strange by their input.
_CHARSETS: Final = frozenset(
    {
        "utf-8",
        "us-ascii",
        "iso-8859-1",
        "windows-1252",
        "gbk",
        "gb2312",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-kr",
    }
)
_HIDDEN: Final = frozenset({"set-cookie", "set-cookie2"})


def evidence_of(
    exchange: Exchange,
    *,
    model: str = "",
    params: Mapping[str, object] | None = None,
    lane: str = "",
    server: str = "",
    context: Mapping[str, object] | None = None,
) -> Evidence:
    """Return `exchange` as evidence; nothing in it is masked yet."""
    return Evidence(
        method=exchange.method,
        url=exchange.url,
        model=model,
        params=params or {},
        lane=lane,
        server=server,
        status=exchange.status,
        headers=_headers(exchange),
        body=text_of(exchange),
        failure=exchange.failure,
        peer=exchange.peer,
        addresses=exchange.addresses,
        certificate=exchange.certificate,
        timings=exchange.timings,
        context={**exchange.context, **(context or {})},
    )


def text_of(exchange: Exchange) -> str:
    """Return the body as text of at most 32,768 characters, in its declared charset."""
    named = exchange.header("content-type").lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    charset = named if named in _CHARSETS else "utf-8"
    return exchange.body[: 4 * MAX_BODY_TEXT].decode(charset, "replace")[:MAX_BODY_TEXT]


def _headers(exchange: Exchange) -> dict[str, str]:
    """Repeated headers joined; cookies are named and not shown, since they open sessions."""
    shown: dict[str, str] = {}
    for name, value in exchange.headers:
        text = "[not kept]" if name in _HIDDEN else value[:MAX_HEADER_TEXT]
        shown[name] = f"{shown[name]}, {text}" if name in shown else text
    return shown
