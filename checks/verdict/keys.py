"""The caller's key as far as it may be known: its shape and prefix, never itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from checks.verdict import servers
from checks.verdict.view import View

# Prefixes that vendors print on their keys, longest first; "sk-" alone is used by a dozen and proves nothing.
_PREFIXES: tuple[tuple[str, str], ...] = (
    ("sk-ant-", "anthropic"),
    ("sk-or-", "openrouter"),
    ("sk-proj-", "openai"),
    ("sk-svcacct-", "openai"),
    ("sk-kimi-", "kimi"),
    ("sk-sp-", "dashscope"),
    ("sk-litellm", "litellm"),
    ("gsk_", "groq"),
    ("xai-", "xai"),
    ("nvapi-", "nvidia"),
    ("aiza", "google"),
    ("hf_", "huggingface"),
    ("pplx-", "perplexity"),
    ("csk-", "cerebras"),
    ("tgp_", "together"),
    ("fw_", "fireworks"),
    ("ghp_", "github"),
    ("github_pat_", "github"),
    ("ms-", "modelscope"),
)
_KEY_LIKE = re.compile(
    r"(?:provided|received(?: api key)?|key|token|passed)[ :=]{1,4}[\"'“`]{0,2}(?P<key>(?:sk-|gsk_"
    r"|xai-|nvapi-|aiza|hf_|pplx-|csk-|tgp_|fw_|ghp_)[\w*.-]{1,120})"
)
_QUOTED_ECHO = re.compile(
    r"(?:provided|received(?: api key)?)[ :=]{1,3}(?:\\?[\"“'‘]){1,2}\s?(?:sk-|[\w-]{2,12}\*|\w{3,8}-)"
)
_QUOTED_INSIDE = re.compile(r"provided[ :=]{1,3}\S{0,120}(?:\\?\"|”|%22)\.?")
_ECHOED_TAIL = re.compile(r"(?:provided|received)[^\n]{0,60}?\*{2,400}(?P<tail>[\w-]{3,6})\b")
_ABSENT = re.compile(
    r"\bbearer (?:undefined|null|none|nan|\[object object\])\b|provided: (?:undefined|null|none)\b"
)
_PLACEHOLDER = re.compile(
    r"(?:provided|received|key)[ :=]{1,3}[\"'“]?(?:your[-_ ]|<|\$\{?|xxx|sk-x{3,}|sk-your|my[-_]api"
    r"|empty\b|dummy|placeholder|fake|not[-_]needed|changeme|test\b|none\b|\*{4,}here)"
)
_BAD_SHAPE = re.compile(
    r"quot|newline|line ?break|blank|space|whitespace|non-?ascii|\bbom\b|zero.?width|control|\\[rn]"
    r"|carriage|tab\b|full-?width|引号|换行|空格|非 ?ascii|全角"
)
_EMPTY_SHAPE = re.compile(r"^empty|\(empty\)|\bempty$|\bunset\b|^none$|length 0\b|^$")


def shape(view: View) -> str:
    """The known shape of the key as words; empty when nothing is known."""
    found = view.fact("key_shape", "key")
    if isinstance(found, Mapping):
        return " ".join(str(name) for name, value in found.items() if value is True).lower()
    return str(found).lower()[:300] if isinstance(found, str) else ""


def is_malformed(view: View) -> bool:
    """Whether shape, header or echo show quotes, blanks, line ends or a word in the key's place."""
    if _BAD_SHAPE.search(shape(view)):
        return True
    said = view.answer.message.lower()
    if _ABSENT.search(said) or re.search(
        r"bearer (?:undefined|null|none)\b", view.words("authorization_header_value")
    ):
        return True
    return bool(_QUOTED_ECHO.search(said) or _QUOTED_INSIDE.search(said))


def is_placeholder(view: View) -> bool:
    """Whether the server echoes a placeholder instead of a key."""
    return bool(_PLACEHOLDER.search(view.answer.message.lower()))


def was_sent(view: View) -> bool | None:
    """Whether a credential left with the request; None when that is not known."""
    told = view.flag("authorization_header_sent")
    if told is not None:
        return told
    if "authorization_header_value" in view.evidence.context or "api_key" in view.evidence.context:
        value = view.words("authorization_header_value", "api_key").replace("bearer", "").strip(" :'\"")
        return not _EMPTY_SHAPE.search(value)
    facts = view.fact("key")
    if isinstance(facts, Mapping):
        length = facts.get("length", facts.get("present"))
        return bool(length) if isinstance(length, int | bool) else None
    return True if prefix(view) or (shape(view) and not _EMPTY_SHAPE.search(shape(view))) else None


def prefix(view: View) -> str:
    """The start of the key, from the facts or from the server's masked echo; empty when unknown."""
    told = told_prefix(view)
    if told:
        return told
    match = _KEY_LIKE.search(view.answer.said)
    return match["key"][:16] if match else ""


def told_prefix(view: View) -> str:
    """The start of the key that was sent, from the facts alone; empty when they do not say."""
    told = view.words("key_prefix")
    facts = view.fact("key")
    if not told and isinstance(facts, Mapping):
        told = str(facts.get("prefix", "")).lower()
    return told


def vendor(view: View) -> str:
    """The vendor whose keys begin like this one; empty when the prefix proves nothing."""
    return _owner(prefix(view))


def told_vendor(view: View) -> str:
    """The vendor of the key that was sent, by the facts alone; empty when the prefix proves nothing."""
    return _owner(told_prefix(view))


def _owner(known: str) -> str:
    return next((name for start, name in _PREFIXES if known.startswith(start)), "")


def tails_differ(view: View) -> bool:
    """Whether two sources hold keys with different ends, or the echo's end is not the configured one."""
    tails = {
        str(value).strip().lower()
        for name, value in view.evidence.context.items()
        if "tail" in str(name).lower() and isinstance(value, str) and value.strip()
    }
    if len(tails) > 1:
        return True
    return bool(tails) and _echo_differs(view, tails)


def is_anothers(view: View) -> bool:
    """Whether the echo ends otherwise than the key that a probe of ours is known to have sent."""
    facts = view.fact("key")
    tail = facts.get("last_four") if isinstance(facts, Mapping) else None
    return isinstance(tail, str) and bool(tail) and _echo_differs(view, {tail.lower()})


def _echo_differs(view: View, tails: set[str]) -> bool:
    echoed = _ECHOED_TAIL.search(view.answer.message.lower())
    if echoed is None:
        return False
    end = echoed["tail"]
    return not any(tail.endswith(end) or end.endswith(tail) for tail in tails)


def fits_host(view: View) -> bool | None:
    """Whether the key's vendor is the host's; None when one of them is unknown."""
    owner = vendor(view)
    host = servers.vendor_of(view.url.host) or servers.worded_by(view)
    if not owner or not host:
        return None
    return owner == host or {owner, host} <= {"kimi", "moonshot"}
