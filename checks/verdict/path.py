"""Addresses that lead past the API: too little path, too much, a web page, another dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping

from checks.reason import Reason
from checks.verdict import proxy, servers
from checks.verdict.answer import Form
from checks.verdict.rules import Rule
from checks.verdict.view import View, parse_url

_VERSION = re.compile(r"v\d{1,2}(?:(?:alpha|beta)\d{0,2})?$")
_DOUBLE = re.compile(r"/(v\d{1,2}(?:beta)?)/+v\d{1,2}(?:/|$)")
_OPERATION = r"(?:chat/completions|completions|responses|messages|embeddings)"
_FULL = re.compile(
    rf"/{_OPERATION}/+(?:v\d+/+)?(?:{_OPERATION}|models|chat)\b|/v\d{{1,2}}/+models/+chat/+completions\b"
)
_NAMED_PATH = re.compile(
    r"(?:\b(?:get|post|put|options)\b|path|resource|url|uri|route"
    r"|endpoint)[\"']?[ :=\"'(]{1,4}(?:https?://[^/\s]{1,100})?(?P<path>/[\w./:-]{2,200})"
)
# Roots under which vendors publish their compatible API.
_ROOTS: Mapping[str, tuple[str, ...]] = {
    "dashscope": ("/compatible-mode/v1", "/v1", "/apps/anthropic"),
    "zhipu": ("/api/paas/v4", "/api/coding/paas/v4", "/api/anthropic"),
    "ark": ("/api/v3", "/api/coding/v3", "/api/coding"),
    "openrouter": ("/api/v1", "/api"),
    "groq": ("/openai/v1",),
    "google": ("/v1beta/openai", "/v1"),
    "fireworks": ("/inference/v1",),
    "deepinfra": ("/v1/openai", "/v1"),
    "cohere": ("/compatibility/v1", "/v1", "/v2"),
    "baidu": ("/v2",),
}
_MISSED_ROUTE = re.compile(
    r"not found|invalid url|no route|cannot (?:post|get)|unknown[_ ]url|no static resource"
    r"|page not found|unexpected endpoint"
    r"|no handler|route.{0,40}not|not implemented|method not allowed|method_not_allowed"
    r"|unsupported (?:upstream )?(?:path|endpoint|route)"
    r"|404|405|no such (?:route|path|endpoint)|resource_not_found|requested url|does not exist"
    r"|unsupported method|接口不存在|路径|地址"
)
_OTHER_DIALECTS = ("responses", "messages", "generate", "count_tokens")


def paths(view: View) -> list[str]:
    """The path that was asked and the one the answer names, lower case, the asked one first."""
    asked = view.url.path.lower()
    named = [match["path"] for match in _NAMED_PATH.finditer(view.answer.said[:2000])]
    return [asked, *named[:3]]


def is_double(path: str) -> bool:
    """Whether the version segment stands twice."""
    return bool(_DOUBLE.search(path)) or re.search(r"/(v\d{1,2})/(?:[\w-]{1,30}/){1,2}\1/", path) is not None


def is_full(path: str) -> bool:
    """Whether an operation follows an operation: the whole endpoint was taken as base."""
    return bool(_FULL.search(path))


def has_version(path: str) -> bool:
    """Whether some segment is a version (`v1`, `v4`, `v1beta`)."""
    return any(_VERSION.match(part) for part in path.lower().split("/"))


def structural(view: View) -> Reason | None:
    """What the path itself shows on any answer that is not a completion: an operation or a version twice."""
    if view.answer.form is Form.COMPLETION and (view.status or 0) < 400:
        return None
    if not _is_path_answer(view):
        return None
    seen = paths(view)
    if any(is_full(path) for path in seen):
        return Reason.BASE_URL_FULL_ENDPOINT
    if any(is_double(path) for path in seen):
        return Reason.BASE_URL_DOUBLE_V1
    return None


def _is_path_answer(view: View) -> bool:
    """Whether the answer says or may mean "no such route" (a model or key error says otherwise)."""
    answer = view.answer
    if answer.form in (Form.HTML, Form.EMPTY, Form.TEXT):
        return (view.status or 0) < 500
    if view.status in (404, 405, 501):
        return not _names_model(view)
    return bool(_UNEXPECTED.search(answer.said))


_UNEXPECTED = re.compile(
    r"unexpected endpoint|invalid url|unknown[_ ]url|no static resource|cannot (?:post|get) /"
    r"|no route matched|unsupported (?:upstream )?path"
)


def _names_model(view: View) -> bool:
    model = view.evidence.model.lower()
    said = view.answer.said
    if "model" in said and not re.search(r"model[\w/.-]{0,30}/|/models?\b", said):
        return True
    return len(model) > 3 and model in said


def plain_refusal(view: View) -> Reason | None:
    """A page, an empty body or a bare "not found": the route is missing here."""
    if view.status not in (404, 405, 501) and not (
        view.status in (200, 400, 401, 403) and _UNEXPECTED.search(view.answer.said)
    ):
        return None
    if not _is_path_answer(view) and (_names_model(view) or not _MISSED_ROUTE.search(view.answer.said)):
        return None
    if view.answer.form is Form.HTML and not _is_error_page(view):
        return Reason.BASE_URL_HTML_PAGE
    return missing_route(view)


def missing_route(view: View) -> Reason:
    """Say which path mistake a missing route is."""
    told = by_siblings(view)
    if told is not None:
        return told
    seen = paths(view)
    asked = seen[0]
    if _is_other_dialect(view, seen) or (has_version(asked) and _lists_models(view)):
        return Reason.API_DIALECT_MISMATCH
    if "//" in asked.rstrip("/") or _mixes_roots(view):
        return Reason.BASE_URL_WRONG_PATH
    if has_version(seen[-1]) and has_version(asked):
        return Reason.BASE_URL_WRONG_PATH
    return Reason.BASE_URL_WRONG_PATH if is_no_version_missing(view) else Reason.BASE_URL_MISSING_V1


def _mixes_roots(view: View) -> bool:
    """Whether a vendor's root is known and the path is under none of its roots."""
    if "/openai/" in view.url.path.lower() and servers.family(view) == "azure":
        return True
    roots = _ROOTS.get(servers.vendor_of(view.url.host), ())
    path = view.url.path.lower()
    if not roots or any(path.startswith(root) for root in roots):
        return False
    bare = [root.rsplit("/", 1)[0] for root in roots if _VERSION.match(root.rsplit("/", 1)[1])]
    return not any(root and path.startswith(root) for root in bare)


def _is_other_dialect(view: View, seen: list[str]) -> bool:
    route = seen[0].rstrip("/").split("/")
    if view.words("models_probe", "chat_probe", "models_status")[:3] in ("404", "405"):
        return False
    if route[-1].split(":")[-1] in ("generatecontent", "streamgeneratecontent"):
        return True
    if "/api/" in seen[0] and route[-1] in ("chat", "generate", "tags", "show", "embed"):
        return True
    if route[-1] in ("complete", "invoke", "converse", *_OTHER_DIALECTS):
        return True
    return route[-1] == "completions" and route[-2:-1] != ["chat"] and has_version(seen[0])


def _lists_models(view: View) -> bool:
    """Whether the model list answers at the very base whose chat route is missing."""
    return bool(view.fact("models")) or view.fact("models_status") == 200


def by_siblings(view: View) -> Reason | None:
    """What the probes of neighbouring addresses show: the one that answers names the mistake."""
    for url, status in _siblings(view):
        if status is None or status in (404, 405) or status >= 500 or 300 <= status < 400:
            continue
        here, there = view.url.path.lower(), parse_url(url).path.lower()
        if is_full(here) and not is_full(there):
            return Reason.BASE_URL_FULL_ENDPOINT
        ours, theirs = _versions(here), _versions(there)
        if theirs > ours:
            return Reason.BASE_URL_MISSING_V1
        if theirs < ours:
            return Reason.BASE_URL_DOUBLE_V1 if ours > 1 else Reason.BASE_URL_WRONG_PATH
    return None


def is_no_version_missing(view: View) -> bool:
    """Whether the same base was asked with a version segment too, and nothing is served there either."""
    found = view.fact("siblings", "sibling_probes")
    items = (
        [item for item in found[:20] if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []
    )
    here = _versions(view.url.path.lower())
    return any(
        item.get("proves") is False
        and _status(item.get("status")) in (404, 405)
        and _versions(parse_url(str(item.get("url", ""))).path.lower()) > here
        for item in items
    )


def _versions(path: str) -> int:
    return sum(1 for part in path.split("/") if _VERSION.match(part))


def _siblings(view: View) -> list[tuple[str, int | None]]:
    found = view.fact("siblings", "sibling_probes")
    if isinstance(found, Mapping):
        return [(str(url), _status(value)) for url, value in list(found.items())[:20]]
    if not isinstance(found, list | tuple):
        return []
    pairs = [item for item in found[:20] if isinstance(item, Mapping) and item.get("proves") is not False]
    return [(str(item.get("url", "")), _status(item.get("status"))) for item in pairs]


def _status(value: object) -> int | None:
    if isinstance(value, Mapping):
        value = value.get("status")
    match = re.match(r"\s*(\d{3})\b", str(value))
    return int(match[1]) if match else None


# Error pages of web servers and frameworks: "nobody serves this path", not a site of its own.
_ERROR_PAGE = re.compile(
    r"nginx|openresty|tengine|apache|caddy|cannot (?:post|get)|iis|litespeed|not found on this server"
    r"|werkzeug|requested url"
    r"|405 (?:not allowed|method)|method not allowed|404 not found|tomcat|jetty|envoy|microsoft-azure"
    r"|whitelabel"
)
_APP_PAGE = re.compile(
    r"<script|<link|stylesheet|viewport|__next|<div id=|<nav|<meta property|og:title|manifest|favicon"
    r"|<noscript"
)


def _is_error_page(view: View) -> bool:
    text = view.answer.text[:8192].lower()
    if _ERROR_PAGE.search(text[:2000]) and not _APP_PAGE.search(text):
        return True
    return len(text) < 600 and not _APP_PAGE.search(text)


def web_page(view: View) -> Reason | None:
    """A page where an API answer should be (server errors and challenges are others' business)."""
    if view.answer.form is not Form.HTML or (view.status or 0) >= 500 or view.status in (404, 405, 413, 429):
        return None
    if view.status == 403 and view.to_lan and proxy.has_fingerprint(view):
        return None
    return Reason.BASE_URL_HTML_PAGE


def nothing_at_all(view: View) -> Reason | None:
    """200 and not a byte, on a path without a version: another site's catch-all."""
    if view.answer.form is not Form.EMPTY or view.status not in (200, 204):
        return None
    return None if has_version(view.url.path) else Reason.BASE_URL_MISSING_V1


def redirected(view: View) -> Reason | None:
    """The server sends the caller elsewhere; a POST does not survive that in every client."""
    if view.status in (301, 302, 303, 307, 308):
        return Reason.REDIRECT_BROKEN
    second = view.words("after_following", "redirected_from", "redirects", "location_followed")
    return Reason.REDIRECT_BROKEN if second and (view.status or 0) >= 400 else None


_DIALECT_TEXT = re.compile(
    r"(?:responses|messages|anthropic|generate) (?:api|endpoint|format).{0,60}(?:not (?:supported"
    r"|available|found|implemented)|unsupported)"
    r"|unsupported upstream path|wire_api|does not support the (?:responses|messages|anthropic)"
    r"|no such endpoint.{0,40}(?:responses|messages)"
    r"|only (?:chat/completions|chat completions).{0,30}support|(?:responses"
    r"|messages) .{0,30}not supported|不支持.{0,10}(?:responses|messages)"
)


def dialect(view: View) -> Reason | None:
    """The words say that this dialect is not spoken here."""
    if (view.status or 0) < 400 and not view.answer.is_error:
        return None
    return Reason.API_DIALECT_MISMATCH if _DIALECT_TEXT.search(view.answer.said) else None


FIRST: tuple[Rule, ...] = (redirected, structural)
LATE: tuple[Rule, ...] = (dialect, plain_refusal, web_page, nothing_at_all)
