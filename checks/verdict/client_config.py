"""Faults of the caller's own settings, most of them before any request is made."""

from __future__ import annotations

import re

from checks.outcome import FailureKind
from checks.reason import Reason
from checks.verdict import tcp
from checks.verdict.rules import Rule, failing
from checks.verdict.view import View, is_lan, is_loopback, parse_url

incompatible = failing(
    Reason.SDK_INCOMPATIBLE,
    r"unexpected keyword argument|apiremovedin|no longer supported in openai|cannot import name"
    r"|no module named"
    r"|modulenotfounderror|importerror|module '?openai'? has no attribute"
    r"|has no attribute '(?:chatcompletion|error|chat|openai|audio|aio)'"
    r"|is not a (?:constructor|function)|has been (?:moved|removed|renamed) (?:to|from|in)"
    r"|is not exported|err_module_not_found|cannot find module|undefined symbol"
    r"|incompatible version"
    r"|requires (?:a different|openai|httpx|python)|got multiple values for"
    r"|takes \d+ positional argument|migrate`|版本不兼容",
)
no_key = failing(
    Reason.ENV_KEY_UNSET,
    r"api_key client option must be set|missing credentials|resolve authentication method"
    r"|did not find \w{0,40}_?key"
    r"|no api[ -_]?key (?:provided|found|set|was|given|configured)|api[ -_]?key.{0,60}(?:not (?:set"
    r"|found|provided|configured|defined)|is (?:missing|required|empty|undefined)|must be (?:set"
    r"|provided))"
    r"|environment variable .{0,60}(?:not set|missing|not found|undefined|unset|empty)|loadapikeyerror"
    r"|must (?:provide|set|specify) .{0,40}(?:key|credential)"
    r"|(?:set|export|provide|missing) (?:the |your |an? )?\w{0,30}_api_key|missing .{0,20}api[ _-]?key"
    r"|empty credential|notconfigurederror|keyerror: '\w{0,40}_(?:key|token)'"
    r"|credentials? (?:are |is |were )?not (?:found|set|configured)|(?:请|未|没有|缺少).{0,8}(?:设置"
    r"|配置|提供|填写|找到).{0,20}(?:key|密钥|令牌)",
)
malformed_url = failing(
    Reason.BASE_URL_MALFORMED,
    r"missing an 'http|failed to parse url|invalid ?url|unknown url type|unsupported ?protocol"
    r"|no scheme supplied|no host (?:supplied|specified|in)"
    r"|invalid port|non-printable ascii character in url|missing ?schema|invalid ?schema"
    r"|relative ?url ?without|empty host|url scheme|scheme or host"
    r"|unsupported protocol scheme|first path segment|err_invalid_url|invalid uri|absolute url"
    r"|port could not be cast|missing scheme|url missing"
    r"|protocol .{0,40}not supported|curl: \((?:3|1)\)|url (?:using bad|rejected)|label (?:empty"
    r"|too long)|builder error|codepoint|only absolute urls"
    r"|can'?t contain control characters|invalid (?:host|base[ _-]?url|domain|character in host)"
    r"|url.{0,20}(?:格式|无效|不合法)|无效的?(?:url|地址)",
)
_BLANK_OR_QUOTE = re.compile(r"[\s'\"“”‘’<>{}|\\^`]|[^\x00-\x7f]")


def shapeless_url(view: View) -> Reason | None:
    """No request left, and the address has no scheme, a blank, a quote or a foreign character."""
    if view.kind not in (FailureKind.CLIENT, FailureKind.PROTOCOL):
        return None
    text = view.words("base_url", "configured_base_url") or view.url.text
    bad = not text.strip() or "://" not in text or bool(_BLANK_OR_QUOTE.search(text)) or not view.url.host
    return Reason.BASE_URL_MALFORMED if bad else None


def not_applied(view: View) -> Reason | None:
    """The address that was asked is not the configured one: this client does not read the setting."""
    asked = view.words("request_host", "effective_host", "effective_base_url", "peer_host") or view.url.host
    wanted = view.words(
        "configured_host", "expected_host", "configured_base_url", "expected_base_url", "base_url_setting"
    )
    if not wanted or not asked:
        return None
    return None if _host(asked) == _host(wanted) else Reason.BASE_URL_NOT_APPLIED


def _host(text: str) -> str:
    text = text.strip().strip("'\"")
    return parse_url(text if "://" in text else "http://" + text).host


def default_host_asked(view: View) -> Reason | None:
    """The environment names another base URL than the host that was asked (it is read by others)."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "OPENAI_API_HOST"):
        value = view.env.get(name, "").strip()
        if "://" in value and view.url.host and _host(value) != view.url.host and not is_lan(_host(value)):
            return Reason.BASE_URL_NOT_APPLIED
    return None


def refused_elsewhere(view: View) -> Reason | None:
    """A loopback default was dialled although a remote address is configured."""
    if not tcp.was_refused(view):
        return None
    host, _ = tcp.dialled(view)
    wanted = view.words("configured_base_url", "configured_host", "expected_host")
    if wanted:
        return not_applied(view)
    remote = view.url.host and not is_lan(view.url.host)
    return (
        Reason.BASE_URL_NOT_APPLIED if remote and is_loopback(host) and not view.evidence.addresses else None
    )


FAILURES_BEFORE: tuple[Rule, ...] = (incompatible,)
FAILURES_AFTER: tuple[Rule, ...] = (malformed_url, no_key, shapeless_url)

_BRIDGE_NO_KEY = re.compile(
    r"\b[a-z][a-z0-9_]{1,40}_(?:key|token)\b.{0,80}(?:not (?:set|found|configured|defined|provided)"
    r"|missing|unset|empty|required|undefined)"
    r"|(?:set|export|missing|configure|define|no|without|provide) (?:the |your "
    r"|an? )?(?:env(?:ironment)? (?:var(?:iable)?)? ?)?[`'\"$: ]{0,4}[a-z][a-z0-9_]{1,40}_(?:key"
    r"|token)\b"
    r"|api_key client option must be set|(?:api key|密钥) ?(?:is )?(?:not configured|未配置|未设置)"
    r"|环境变量.{0,30}(?:未|没有|缺)"
)


def bridge_has_no_key(view: View) -> Reason | None:
    """A local bridge or gateway answers that its own key variable is missing."""
    if (view.status or 0) < 400 or not _BRIDGE_NO_KEY.search(view.answer.said):
        return None
    return Reason.ENV_KEY_UNSET if view.to_lan or (view.status or 0) >= 500 else None


def repeated_id(view: View) -> Reason | None:
    """vLLM says that the request id already runs: the SDK gave up and asked again with the same id."""
    said = view.answer.said
    doubled = re.search(r"request.{0,80}already (?:running|exists|being processed)|duplicate request", said)
    return Reason.REQUEST_TIMEOUT if doubled else None


ANSWERS: tuple[Rule, ...] = (repeated_id, bridge_has_no_key)
