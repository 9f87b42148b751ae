"""Base URLs: cleaned or refused as their clients would take them, and what each client makes of one.

No client adds or drops a version segment, so neither does this module: `/v1` stays as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from checks.hostnames import BadHost, canonical_host, ip_of, is_private
from checks.pasted import Edit, is_blank, name_character, tidy, without_lookalikes

MAX_LENGTH = 2048
"""Characters of a base URL, after cleaning of the ends."""

DEFAULT_PORTS = {"http": 80, "https": 443}
# Longest first: what people paste with the base. A client would append its own once more.
_OPERATIONS = ("/chat/completions", "/completions", "/responses", "/embeddings", "/models", "/messages")
_URL_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&()*+,;=%]")
_ABSOLUTE = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_HALF_SCHEME = re.compile(r"(https?)[:;/]+", re.IGNORECASE)
# One sign only: a longer chain of them is no paste of ours, and each would be one more call of `_offers`.
_ASSIGNMENT = re.compile(r"(?:(?:export|set|setx)\s+|\$env:)?[A-Za-z_]\w*\s*=\s*([^\s=][^=]*)", re.ASCII)
_KEY_LIKE = re.compile(r"(?:sk|pk|ak|hf|gsk|xai|nvapi)[-_][\w-]+|[\w-]{32,}", re.ASCII | re.IGNORECASE)


class AddressProblem(StrEnum):
    """Why a base URL is refused; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> AddressProblem:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    EMPTY = "empty", "There is no address."
    TOO_LONG = "too_long", f"An address has at most {MAX_LENGTH} characters."
    KEY_PASTED = "key_pasted", "This looks like a key, not like an address."
    ASSIGNMENT_PASTED = "assignment_pasted", "The name of a variable was pasted with the address."
    USER_INFO = "user_info", "A user name or password in the address would replace the key."
    NON_ASCII = "non_ascii", "A character of the address is not ASCII."
    CONTROL_CHARACTER = "control_character", "The address holds a control character."
    INNER_BLANK = "inner_blank", "There is a blank inside the address."
    FORBIDDEN_CHARACTER = "forbidden_character", "A character of the address has no place in a URL."
    MISSING_SCHEME = "missing_scheme", "The address does not begin with https:// or http://."
    UNSUPPORTED_SCHEME = "unsupported_scheme", "Only https:// and http:// can be called."
    NO_HOST = "no_host", "The address names no host."
    BAD_HOST = "bad_host", "This is not a host name and not an IP address."
    BAD_PORT = "bad_port", "A port is a number from 1 to 65535."
    QUERY = "query", "A base URL has no query: each client garbles it in its own way."
    FRAGMENT = "fragment", "A base URL has no fragment: most clients drop all after the #."
    BAD_ESCAPE = "bad_escape", "A percent sign in the path does not begin a usable escape."
    DOT_SEGMENT = "dot_segment", "The path holds . or .. as a segment, which clients resolve differently."


class AddressError(ValueError):
    """A base URL is refused.

    `detail` is the offending piece, quoted and named in ASCII where it can be shown, else empty; never
    a password, a query's value or a key. `suggestions` are complete base URLs that would be accepted as
    they stand. `position` counts characters of the raw text from 1; None where no one character is to blame.
    """

    def __init__(
        self,
        problem: AddressProblem,
        detail: str = "",
        suggestions: tuple[str, ...] = (),
        position: int | None = None,
    ) -> None:
        super().__init__(f"{problem.sentence} {detail}".rstrip())
        self.problem = problem
        self.detail = detail
        self.suggestions = suggestions
        self.position = position


@dataclass(frozen=True, slots=True)
class CleanUrl:
    """A base URL to store, its origin (`origin_of`), and what was changed to come to it, in order."""

    url: str
    origin: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """The URL that one client calls for a chat completion. `client` is a product's name, not translated."""

    client: str
    url: str


@dataclass(frozen=True, slots=True)
class _Parts:
    scheme: str
    host: str  # canonical, IPv6 without brackets
    port: int | None
    path: str
    edits: tuple[Edit, ...]

    @property
    def authority(self) -> str:
        return _with_port(f"[{self.host}]" if ":" in self.host else self.host, self.port)


def clean_base_url(raw: str) -> CleanUrl:
    """Normalise a pasted base URL, telling each edit, or raise `AddressError`."""
    tidied = tidy(raw)
    text = tidied.text
    if not text:
        raise AddressError(AddressProblem.EMPTY)
    if len(text) > MAX_LENGTH:
        raise AddressError(AddressProblem.TOO_LONG, f"({len(text)})")
    _refuse_other_pastes(text)
    _refuse_user_info(text)
    _refuse_characters(text, tidied.offset)
    parts = _split(text)
    path, path_edits = _clean_path(parts.path)
    url = f"{parts.scheme}://{parts.authority}{path}"
    return CleanUrl(url, _origin(parts), tidied.edits + parts.edits + path_edits)


def origin_of(url: str) -> str:
    """Return `scheme://host[:port]`, lower case, the default port dropped, IPv6 short and in brackets.

    Raises `AddressError` for what is no absolute http or https URL.
    """
    return _origin(_parse(url))


def same_origin(a: str, b: str) -> bool:
    """Whether two URLs share scheme, host and port: the bound within which a key may be sent."""
    return origin_of(a) == origin_of(b)


def host_of(url: str) -> str:
    """Return the host of an absolute URL, canonical; an IPv6 address without its brackets."""
    return _parse(url).host


def chat_url(base_url: str) -> str:
    """The chat completions URL under a clean base URL."""
    return base_url + "/chat/completions"


def models_url(base_url: str) -> str:
    """The model list's URL under a clean base URL."""
    return base_url + "/models"


def responses_url(base_url: str) -> str:
    """The responses URL under a clean base URL, which agents SDKs call unless told otherwise."""
    return base_url + "/responses"


def root_of(base_url: str) -> str:
    """A clean base URL without its version segment: where servers keep health, metrics and accounts."""
    return re.sub(r"/v\d{1,2}$", "", base_url)


def join_preview(base_url: str) -> tuple[Joined, ...]:
    """What each client calls for a chat. They differ only where a base ends in slashes (measured)."""
    return tuple(Joined(client, join(base_url)) for client, join in _JOINS.items())


def _sdk_join(base: str) -> str:
    return (base if base.endswith("/") else base + "/") + "chat/completions"


def _gateway_join(base: str) -> str:
    return chat_url(base.rstrip("/"))


_JOINS: dict[str, Callable[[str], str]] = {
    "OpenAI SDK": _sdk_join,
    "LangChain ChatOpenAI": _sdk_join,
    "litellm": _sdk_join,
    "Agent-Lightning 1.x gateway": _gateway_join,
    "curl": chat_url,
}


def _parse(url: str) -> _Parts:
    _refuse_user_info(url)
    return _split(url)


def _origin(parts: _Parts) -> str:
    if parts.port == DEFAULT_PORTS[parts.scheme]:
        parts = replace(parts, port=None)
    return f"{parts.scheme}://{parts.authority}"


def _offers(candidate: str) -> tuple[str, ...]:
    """Return what a repaired text comes to when cleaned; nothing where it would be refused again."""
    try:
        return (clean_base_url(candidate).url,)
    except AddressError as error:
        return error.suggestions


def _refuse_other_pastes(text: str) -> None:
    assignment = _ASSIGNMENT.fullmatch(text)
    if assignment:
        raise AddressError(AddressProblem.ASSIGNMENT_PASTED, "", _offers(assignment[1]))
    if _KEY_LIKE.fullmatch(text):
        raise AddressError(AddressProblem.KEY_PASTED)


def _refuse_user_info(text: str) -> None:
    before, scheme_mark, after = text.partition("://") if "://" in text else ("", "", text)
    authority = re.split(r"[/?#]", after, maxsplit=1)[0]
    if "@" in authority:
        host_on = after[authority.rindex("@") + 1 :]
        raise AddressError(AddressProblem.USER_INFO, "«…@»", _offers(before + scheme_mark + host_on))


def _refuse_characters(text: str, offset: int) -> None:
    for index, char in enumerate(text):
        if _URL_CHARACTERS.fullmatch(char):
            continue
        named = name_character(char)
        detail = f"«{char}» {named}" if char.isprintable() and char != " " else named
        ascii_text = without_lookalikes(text)
        offers = _offers(ascii_text) if char > "\x7f" and ascii_text.isascii() else ()
        raise AddressError(_character_problem(char), detail, offers, offset + index + 1)


def _character_problem(char: str) -> AddressProblem:
    if char in " \t":
        return AddressProblem.INNER_BLANK
    if char < " " or char == "\x7f" or "\x80" <= char <= "\x9f":
        return AddressProblem.CONTROL_CHARACTER
    if char > "\x7f":
        return AddressProblem.INNER_BLANK if is_blank(char) else AddressProblem.NON_ASCII
    return AddressProblem.FORBIDDEN_CHARACTER


def _split(text: str) -> _Parts:
    found = _ABSOLUTE.fullmatch(text)
    if not found:
        raise AddressError(AddressProblem.MISSING_SCHEME, "", _offers(_with_scheme(text)))
    scheme, authority, rest = found["scheme"], found["authority"], found["rest"]
    edits = (Edit.LOWER_CASED_SCHEME,) if scheme != scheme.lower() else ()
    scheme = scheme.lower()
    if scheme not in DEFAULT_PORTS:
        offers = _offers(f"{_scheme_for(authority)}://{authority}{rest}")
        raise AddressError(AddressProblem.UNSUPPORTED_SCHEME, f"«{scheme}://»", offers)
    path = _refuse_query(f"{scheme}://{authority}", rest)
    host_text, port = _split_authority(scheme, authority, path)
    try:
        host = canonical_host(host_text)
    except BadHost as bad:
        offers = _offers(f"{scheme}://{_with_port(bad.instead, port)}{path}") if bad.instead else ()
        raise AddressError(AddressProblem.BAD_HOST, f"«{host_text[:80]}»", offers) from None
    return _Parts(scheme, host.name, port, path, edits + host.edits)


def _with_scheme(text: str) -> str:
    """Guess what a text without `://` was to begin with; half a scheme counts for one."""
    half = _HALF_SCHEME.match(text)
    rest = text[half.end() if half else 0 :].lstrip("/")
    return f"{half[1] if half else _scheme_for(rest)}://{rest}"


def _scheme_for(rest: str) -> str:
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
    return "http" if is_private(host.lower()) else "https"


def _refuse_query(before: str, rest: str) -> str:
    path = re.split(r"[?#]", rest, maxsplit=1)[0]
    if path == rest:
        return path
    mark = rest[len(path)]
    problem = AddressProblem.QUERY if mark == "?" else AddressProblem.FRAGMENT
    raise AddressError(problem, f"«{mark}…»", _offers(before + path))


def _split_authority(scheme: str, authority: str, path: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>[^:]*))?", authority)
    if not found:
        offers = _offers(f"{scheme}://[{authority}]{path}") if ip_of(authority) else ()
        raise AddressError(AddressProblem.BAD_HOST, "", offers)
    host, port = found["host"], found["port"]
    if not host:
        raise AddressError(AddressProblem.NO_HOST)
    if port is None:
        return host, None
    if re.fullmatch(r"[1-9][0-9]{0,4}", port) and int(port) <= 65535:
        return host, int(port)
    # Only digits are shown: what stands after a colon may also be a password without its host.
    detail = f"«:{port[:12]}»" if re.fullmatch(r"[0-9]+", port) else "«:…»"
    raise AddressError(AddressProblem.BAD_PORT, detail, () if port else _offers(f"{scheme}://{host}{path}"))


def _with_port(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def _clean_path(path: str) -> tuple[str, tuple[Edit, ...]]:
    _refuse_path(path)
    edits: list[Edit] = []
    collapsed = re.sub(r"/{2,}", "/", path)
    if collapsed.rstrip("/") != path.rstrip("/"):
        edits.append(Edit.COLLAPSED_SLASHES)
    trimmed = collapsed.rstrip("/")
    if path.endswith("/"):
        edits.append(Edit.DROPPED_TRAILING_SLASH)
    base = _cut_operations(trimmed)
    if base != trimmed:
        edits.append(Edit.CUT_OPERATION)
    return base, tuple(edits)


def _refuse_path(path: str) -> None:
    misplaced = re.search(r"[\[\]]|://", path)
    if misplaced:
        raise AddressError(AddressProblem.FORBIDDEN_CHARACTER, f"«{misplaced[0]}»")
    escape = re.search(r"%(?![0-9A-Fa-f]{2})|%(?:[01][0-9A-Fa-f]|20|7[Ff])", path)
    if escape:
        raise AddressError(AddressProblem.BAD_ESCAPE, f"«{path[escape.start() : escape.start() + 3]}»")
    if {".", ".."} & set(path.split("/")):
        raise AddressError(AddressProblem.DOT_SEGMENT)


def _cut_operations(path: str) -> str:
    while True:
        operation = next((tail for tail in _OPERATIONS if path.lower().endswith(tail)), "")
        if not operation:
            return path
        path = path[: -len(operation)].rstrip("/")
