"""The error dictionary as pages read it: each reason's sentences in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import get_language, override

from checks import reasons
from checks.reason import Reason
from checks.verdict import pasted


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said of one reason. `fix` holds one sentence a step; `probe` is the next thing to try that
    tells this cause from its look-alikes; `mend` names what of Preflight a lead would change to be rid
    of it: "key", "endpoint", "profile", or empty."""

    code: str
    layer: str
    title: str
    cause: str
    fix: tuple[str, ...]
    probe: str
    mend: str


# What to change in Preflight, by the layer of the reason; other layers are mended elsewhere.
MENDS = {
    "auth": "key",
    "dns": "endpoint",
    "tcp": "endpoint",
    "tls": "endpoint",
    "path": "endpoint",
    "model": "profile",
}
MENDS_BY_CODE = {
    Reason.KEY_MISSING: "key",
    Reason.EGRESS_DENIED: "endpoint",
    Reason.MODEL_MISSING: "profile",
    Reason.LATENCY_OVER_LIMIT: "profile",
}


BY_CODE = {reason.value: reason for reason in Reason}


def entry(code: str, facts: Mapping[str, str] | None = None) -> Entry:
    """Return the sentences on a reason, with the facts of one case put in where they name any.

    An unknown or empty code reads as "unexplained".
    """
    reason = _reason(code)
    said = reasons.entry(reason, _language())
    return Entry(
        code=reason.value,
        layer=reason.layer,
        title=said.title,
        cause=said.cause,
        fix=_steps(said.fix),
        probe=said.probe,
        mend=MENDS_BY_CODE.get(reason) or MENDS.get(reason.layer, ""),
    )


def known(code: str) -> bool:
    """Tell whether the dictionary has this code."""
    return code in BY_CODE


def everything() -> list[Entry]:
    """Return all entries, in the order of the layers from the network up."""
    return [entry(reason.value) for reason in Reason]


def in_both(code: str) -> list[tuple[str, Entry]]:
    """Return one entry in English and in Chinese, each with its language tag, the reader's first."""
    pairs = []
    for tag, language in (("en", "en"), ("zh-Hans", "zh-hans")):
        with override(language):
            pairs.append((tag, entry(code)))
    return pairs[::-1] if _language() == "zh" else pairs


def causes_of(text: str) -> list[Entry]:
    """Return what may stand behind an error text that somebody pasted, likeliest first."""
    return [entry(reason) for reason in pasted.causes_of(text)]


def _reason(code: str) -> Reason:
    return BY_CODE.get(code, Reason.UNEXPLAINED)


def _steps(fix: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (fix,) if isinstance(fix, str) else tuple(fix)


def _language() -> str:
    return "zh" if (get_language() or "en").startswith("zh") else "en"
