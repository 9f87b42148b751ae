"""Rules on the shape of keys: empty, pasted with something, hidden, no key at all. No rule shows a piece."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from checks.keys import KeyProblem, KeyRefused, clean_key
from checks.lint.bases import bases_of
from checks.lint.finding import Hit, Rule, Severity, caution, error
from checks.lint.roles import snake, stem
from checks.lint.sheet import Item, Kind, Role, Sheet
from checks.reason import Reason

# Words that people type where a local server needs no key.
_NO_KEY: Final = re.compile(
    r"(?:empty|none|null|dummy|fake|local|ollama|lm-?studio|vllm|token-abc123|sk-no-key-required|x|sk-x+"
    r"|(?:sk-)?(?:not?[-_ ]?(?:needed|required|key|used)|unused|anything|placeholder"
    r"|1234|dummy|fake|test|local).*)",
    re.IGNORECASE,
)
_EXTRA_PLACEHOLDER: Final = re.compile(
    r"(?:sk[-_])?(?:\.{3,}|x{4,}.*|your.*|<.*>|my[-_]?(?:api[-_]?)?key|replace.*|insert.*|changeme|dummy|fake"
    r"|placeholder|api[-_]?key|key[-_]?here|填.*|你的.*|请.*|这里.*|xxx.*|在此.*)",
    re.IGNORECASE,
)
_WRONG_REFERENCE: Final = re.compile(
    r"os\.environ(?:\.get\(|\[|\.|:|\s)|os\.getenv|process\.env|env(?:iron)?[./:]\w+$|\$\{?[A-Za-z_]\w*\}?$|%\w+%$"
    r"|getenv\("
)
_NO_HEADER: Final = frozenset((KeyProblem.INNER_BLANK, KeyProblem.CONTROL_CHARACTER, KeyProblem.NON_ASCII))


def _filled(sheet: Sheet) -> Iterator[Item]:
    """Keys that hold something, references to another place left out."""
    return (item for item in sheet.of(Role.KEY) if item.value.strip() and not item.is_reference)


def _problem(item: Item) -> KeyRefused | None:
    try:
        clean_key(item.value)
    except KeyRefused as refused:
        return refused
    return None


def _refused(*problems: KeyProblem) -> Callable[[Sheet], Iterator[Hit]]:
    def find(sheet: Sheet) -> Iterator[Hit]:
        for item in _filled(sheet):
            refused = _problem(item)
            if refused and refused.problem in problems and not _is_placeholder(item):
                facts = {"position": str(refused.position or 1), "character": refused.character}
                yield Hit(item.line, item.key, facts)

    return find


def _wrapped(sheet: Sheet) -> Iterator[Hit]:
    for item in _filled(sheet):
        try:
            edits = clean_key(item.value).edits
        except KeyRefused:
            continue
        smart = any(sign > "\x7f" for sign in item.value)
        if edits and not smart and not item.value.endswith("\n"):
            yield Hit(item.line, item.key, {"length": str(len(item.value))})


def _empty(sheet: Sheet) -> Iterator[Hit]:
    if sheet.is_template or _misplaced_fields(sheet):
        return
    for item in sheet.of(Role.KEY):
        if item.value.strip() or not (sheet.format.by_lines or item.quoted or sheet.kind is Kind.COMPOSE):
            continue
        needless = any(base.private for base in bases_of(sheet) if stem(base.item.name) == stem(item.name))
        if not needless and not _has_sibling(sheet, item):
            yield Hit(item.line, item.key)


def _has_sibling(sheet: Sheet, item: Item) -> bool:
    """Whether the same vendor's other key variable holds the key."""
    mine = stem(item.name)
    return any(other.value.strip() for other in sheet.of(Role.KEY) if stem(other.name) == mine)


def _is_placeholder(item: Item) -> bool:
    refused = _problem(item)
    named = refused is not None and refused.problem is KeyProblem.PLACEHOLDER
    return named or bool(_EXTRA_PLACEHOLDER.fullmatch(item.value.strip()))


def _placeholder(sheet: Sheet) -> Iterator[Hit]:
    """An example's stand-in, but where a server on the own network may need no key."""
    if sheet.is_template:
        return
    for item in _filled(sheet):
        if not _is_placeholder(item) or _WRONG_REFERENCE.match(item.value.strip()):
            continue
        if _NO_KEY.fullmatch(item.value.strip()) and not _public_base(sheet, item):
            continue
        yield Hit(item.line, item.key, {"length": str(len(item.value))})


def _public_base(sheet: Sheet, item: Item) -> bool:
    """Whether the key goes to a public host: its own base, else any base of its mapping."""
    near = [base for base in bases_of(sheet) if base.item.group == item.group]
    own = [base for base in near if stem(base.item.name) == stem(item.name)] or near
    return bool(own) and not any(base.private for base in own)


def _wrong_reference(sheet: Sheet) -> Iterator[Hit]:
    """A reference in another tool's spelling: this one sends the reference itself as the key."""
    if sheet.format.by_lines or sheet.kind in (Kind.COMPOSE, Kind.CLAUDE):
        return
    for item in sheet.of(Role.KEY):
        text = item.value.strip()
        litellm = sheet.kind is Kind.LITELLM and not text.startswith("os.environ/")
        if litellm and _WRONG_REFERENCE.match(text):
            yield Hit(item.line, item.key, {"right": "os.environ/NAME"})


def _address_as_key(sheet: Sheet) -> Iterator[Hit]:
    for item in _filled(sheet):
        if re.match(r"https?://", item.value.strip(), re.IGNORECASE):
            yield Hit(item.line, item.key)


def _key_as_name(sheet: Sheet) -> Iterator[Hit]:
    """A setting that names the variable holds a key itself, or something that names nothing."""
    for item in sheet.of(Role.KEY_NAME):
        if item.value.strip() and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", item.value.strip()):
            yield Hit(item.line, item.key, {"length": str(len(item.value))})


def _misplaced_fields(sheet: Sheet) -> tuple[Item, ...]:
    """Keys at the top of Claude Code's settings, where nothing reads them, while its variables hold none."""
    if sheet.kind is not Kind.CLAUDE:
        return ()
    inside = [item for item in sheet.of(Role.KEY) if item.path[:1] == ("env",)]
    helper = any(item.path == ("apiKeyHelper",) for item in sheet.items)
    if helper or any(item.value.strip() for item in inside):
        return ()
    outside = [item for item in sheet.of(Role.KEY) if len(item.path) == 1 and item.value.strip()]
    loose = [item for item in sheet.items if len(item.path) == 1 and snake(item.name) in ("token", "key")]
    return tuple(outside or [item for item in loose if item.value.strip()])


def _field_not_read(sheet: Sheet) -> Iterator[Hit]:
    misplaced = _misplaced_fields(sheet)
    if misplaced:
        inside = next((item for item in sheet.of(Role.KEY) if item.path[:1] == ("env",)), misplaced[0])
        target = inside.key if inside is not misplaced[0] else "env.ANTHROPIC_AUTH_TOKEN"
        yield Hit(inside.line, inside.key, {"field": misplaced[0].key, "target": target})


def _beside_parameters(sheet: Sheet) -> Iterator[Hit]:
    """A key or base beside `litellm_params` instead of in it is not read."""
    if sheet.kind is not Kind.LITELLM:
        return
    for item in sheet.of(Role.KEY, Role.BASE):
        if len(item.path) == 3 and item.path[0] == "model_list":
            code = Reason.AUTH_MISSING_HEADER if item.role is Role.KEY else Reason.BASE_URL_NOT_APPLIED
            yield Hit(item.line, item.key, code=code)


def _listed_quotes(sheet: Sheet) -> Iterator[Hit]:
    """`- KEY="value"` in a compose list: YAML takes no quotes off there, so they belong to the value."""
    for item in sheet.items:
        listed = bool(item.path) and isinstance(item.path[-1], int) and item.role in (Role.KEY, Role.BASE)
        if (
            listed
            and item.value[:1] in ("'", '"')
            and item.value[-1:] == item.value[:1]
            and len(item.value) > 1
        ):
            code = Reason.AUTH_KEY_MALFORMED if item.role is Role.KEY else Reason.BASE_URL_MALFORMED
            yield Hit(item.line, item.key, code=code, severity=Severity.ERROR)


RULES: Final[Mapping[str, Rule]] = {
    "field_not_read": error(Reason.AUTH_MISSING_HEADER, _field_not_read),
    "beside_parameters": error(Reason.AUTH_MISSING_HEADER, _beside_parameters),
    "listed_quotes": error(Reason.AUTH_KEY_MALFORMED, _listed_quotes),
    "key_wrapped": error(Reason.AUTH_KEY_MALFORMED, _wrapped),
    "key_bearer": error(Reason.AUTH_KEY_MALFORMED, _refused(KeyProblem.BEARER)),
    "key_assignment": error(Reason.AUTH_KEY_MALFORMED, _refused(KeyProblem.ASSIGNMENT)),
    "key_masked": error(Reason.AUTH_KEY_MALFORMED, _refused(KeyProblem.MASKED)),
    "key_no_header": error(Reason.AUTH_KEY_MALFORMED, _refused(*_NO_HEADER)),
    "key_too_long": error(Reason.AUTH_KEY_MALFORMED, _refused(KeyProblem.TOO_LONG)),
    "key_placeholder": error(Reason.AUTH_MISSING_HEADER, _placeholder),
    "key_empty": caution(Reason.ENV_KEY_UNSET, _empty),
    "address_as_key": error(Reason.AUTH_KEY_MALFORMED, _address_as_key),
    "key_as_name": error(Reason.ENV_KEY_UNSET, _key_as_name),
    "wrong_reference": error(Reason.AUTH_KEY_MALFORMED, _wrong_reference),
}
