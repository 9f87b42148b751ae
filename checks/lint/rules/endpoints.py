"""Rules on base URLs that the text of the address alone decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from checks.addresses import AddressProblem
from checks.lint.bases import Base, bases_of
from checks.lint.clients import Speech
from checks.lint.finding import Hit, Rule, error, suspicion
from checks.lint.sheet import Kind, Role, Sheet
from checks.pasted import Edit
from checks.reason import Reason

_OPERATION: Final = re.compile(
    r"/(?:chat/completions|completions|responses|embeddings|messages|generate(?:_stream)?|api/chat|api/generate"
    r"|chat|models)/?(?:[?#].*)?$"
)
_TWICE: Final = re.compile(r"/(v\d+[a-z0-9]*)/(?:chat/)?(v\d+[a-z0-9]*)(?=/|$)")
_PASTED: Final = frozenset((AddressProblem.QUERY, AddressProblem.FRAGMENT))


def _shown(base: Base, **more: str) -> dict[str, str]:
    return {"host": base.host or "the host", "path": base.path or "/", "scheme": base.scheme, **more}


def _hits(sheet: Sheet, wrong: Callable[[Base], bool]) -> Iterator[Hit]:
    return (Hit(base.item.line, base.item.key, _shown(base)) for base in bases_of(sheet) if wrong(base))


def _full_endpoint(sheet: Sheet) -> Iterator[Hit]:
    for base in bases_of(sheet):
        match = _OPERATION.search(base.item.value.strip())
        cut = base.clean is not None and Edit.CUT_OPERATION in base.clean.edits
        native = base.speech is Speech.OTHER
        operation = match[0].split("?")[0].rstrip("/") if match else ""
        known = operation not in ("/chat", "/models", "/generate", "/generate_stream")
        pasted = base.problem is None or base.problem.problem in _PASTED
        if pasted and (cut or (operation and known and not native)):
            yield Hit(base.item.line, base.item.key, _shown(base, operation=operation or "the operation"))


def _no_address(sheet: Sheet) -> Iterator[Hit]:
    """All that `clean_base_url` refuses, but for what has a rule of its own."""
    for base in bases_of(sheet):
        refused = base.problem
        if refused is None or refused.problem in _OWN_RULES or _OPERATION.search(base.item.value.strip()):
            continue
        facts = {"problem": refused.problem.value, "said": refused.problem.sentence}
        yield Hit(base.item.line, base.item.key, facts)


_OWN_RULES: Final = frozenset(
    (
        AddressProblem.MISSING_SCHEME,
        AddressProblem.USER_INFO,
        AddressProblem.QUERY,
        AddressProblem.FRAGMENT,
        AddressProblem.KEY_PASTED,
    )
)


def _refused(*problems: AddressProblem) -> Callable[[Sheet], Iterator[Hit]]:
    def find(sheet: Sheet) -> Iterator[Hit]:
        for base in bases_of(sheet):
            operation = _OPERATION.search(base.item.value.strip())
            if base.problem and base.problem.problem in problems and not operation:
                yield Hit(base.item.line, base.item.key)

    return find


def _scheme_missing(sheet: Sheet) -> Iterator[Hit]:
    """A host variable of Ollama is the one setting that takes a bare host and port."""
    for base in bases_of(sheet):
        missing = base.problem is not None and base.problem.problem is AddressProblem.MISSING_SCHEME
        bare_host = base.speech is Speech.OLLAMA and base.item.name.upper().endswith("HOST")
        if missing and not bare_host:
            yield Hit(base.item.line, base.item.key)


def _wrapped(sheet: Sheet) -> Iterator[Hit]:
    """Quotes or blanks that are still there after the reader took its own quotes off."""
    for base in bases_of(sheet):
        edits = base.clean.edits if base.clean else ()
        if Edit.STRIPPED_QUOTES in edits or Edit.STRIPPED_BLANKS in edits:
            yield Hit(base.item.line, base.item.key)


def _empty(sheet: Sheet) -> Iterator[Hit]:
    if sheet.is_template:
        return
    for item in sheet.of(Role.BASE):
        nothing = not item.value.strip() and not item.is_reference
        if nothing and (sheet.format.by_lines or sheet.kind is Kind.COMPOSE or item.quoted):
            yield Hit(item.line, item.key)


def _version_twice(sheet: Sheet) -> Iterator[Hit]:
    return _hits(sheet, lambda base: bool(_TWICE.search(base.path)))


def _slashes(sheet: Sheet) -> Iterator[Hit]:
    """Doubled slashes, which servers take for another path."""

    def wrong(base: Base) -> bool:
        rest = base.item.value.strip().partition("://")[2]
        return base.clean is not None and "//" in rest

    return _hits(sheet, wrong)


def _slash_at_end(sheet: Sheet) -> Iterator[Hit]:
    """One slash at the end doubles in a client that only joins texts."""
    client = sheet.reading.client
    if client is None or client.name != "curl":
        return
    yield from _hits(sheet, lambda base: base.item.value.endswith("/") and not base.item.value.endswith("//"))


RULES: Final[Mapping[str, Rule]] = {
    "full_endpoint": error(Reason.BASE_URL_FULL_ENDPOINT, _full_endpoint),
    "version_twice": error(Reason.BASE_URL_DOUBLE_V1, _version_twice),
    "scheme_missing": error(Reason.BASE_URL_MALFORMED, _scheme_missing),
    "user_info": error(Reason.AUTH_SCHEME_MISMATCH, _refused(AddressProblem.USER_INFO)),
    "query": error(Reason.BASE_URL_MALFORMED, _refused(AddressProblem.QUERY, AddressProblem.FRAGMENT)),
    "key_as_address": error(Reason.BASE_URL_MALFORMED, _refused(AddressProblem.KEY_PASTED)),
    "no_address": error(Reason.BASE_URL_MALFORMED, _no_address),
    "address_wrapped": error(Reason.BASE_URL_MALFORMED, _wrapped),
    "address_empty": error(Reason.BASE_URL_MALFORMED, _empty),
    "slashes": suspicion(Reason.BASE_URL_WRONG_PATH, _slashes),
    "slash_at_end": suspicion(Reason.BASE_URL_WRONG_PATH, _slash_at_end),
}
