"""Rules on documents: syntax of TOML, JSON and YAML, types that change a value, lists of models."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from checks.lint.finding import CONFIG_SYNTAX, Hit, Rule, caution, error
from checks.lint.rules.codes import spoilt
from checks.lint.sheet import Format, Item, Kind, Role, Scalar, Sheet
from checks.reason import Reason

_TEXTS: Final = frozenset((Role.KEY, Role.MODEL, Role.ORG))


def _fault(kind: str) -> Callable[[Sheet], Iterator[Hit]]:
    def find(sheet: Sheet) -> Iterator[Hit]:
        return (Hit(f.line, f.key, f.facts) for f in sheet.contents.faults if f.kind == kind)

    return find


def _type_changed(sheet: Sheet) -> Iterator[Hit]:
    """An unquoted value that YAML, JSON or TOML takes for a number, a truth value or a date."""
    for item in sheet.items:
        odd = item.scalar in (Scalar.NUMBER, Scalar.TRUTH, Scalar.DATE)
        if odd and item.role in _TEXTS:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _date_version(sheet: Sheet) -> Iterator[Hit]:
    for item in sheet.of(Role.VERSION):
        if item.scalar is Scalar.DATE and sheet.format in (Format.YAML, Format.TOML):
            yield Hit(item.line, item.key)


def _environment_type(sheet: Sheet) -> Iterator[Hit]:
    """Compose takes texts and numbers for variables; a bare yes or true is neither."""
    if sheet.kind is not Kind.COMPOSE:
        return
    for item in sheet.items:
        inside = len(item.path) > 1 and item.path[-2] == "environment"
        if inside and item.scalar is Scalar.TRUTH:
            yield Hit(item.line, item.key)


def _secret_items(sheet: Sheet) -> Iterator[tuple[Item, bytes | None]]:
    """The entries under `data` of a Kubernetes Secret, with what they decode to; None for no base64."""
    if not any(item.path == ("kind",) and item.value == "Secret" for item in sheet.items):
        return
    for item in sheet.items:
        if item.path[:1] == ("data",) and len(item.path) == 2 and item.value.strip():
            try:
                yield item, base64.b64decode("".join(item.value.split()), validate=True)
            except ValueError:
                yield item, None


def _secret_value(sheet: Sheet) -> Iterator[Hit]:
    for item, value in _secret_items(sheet):
        if value is not None and item.role in (Role.KEY, Role.BASE) and value.strip() != value:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _secret_encoding(sheet: Sheet) -> Iterator[Hit]:
    return (Hit(item.line, item.key) for item, value in _secret_items(sheet) if value is None)


def _model_entry(sheet: Sheet) -> Iterator[Hit]:
    """A litellm list whose entries lack the name or the parameters."""
    if sheet.kind is not Kind.LITELLM:
        return
    inside = {item.path[:3] for item in sheet.items}
    for path, line in sheet.contents.maps.items():
        if len(path) != 2 or path[0] != "model_list":
            continue
        missing = next((name for name in ("model_name", "litellm_params") if (*path, name) not in inside), "")
        if missing:
            yield Hit(line, "model_list", {"missing": missing})


def _entry_without_model(sheet: Sheet) -> Iterator[Hit]:
    if sheet.kind is not Kind.LITELLM:
        return
    filled = {item.path for item in sheet.items if item.value.strip()}
    for path, line in sheet.contents.maps.items():
        of_model = len(path) == 3 and path[0] == "model_list" and path[2] == "litellm_params"
        if of_model and (*path, "model") not in filled:
            yield Hit(line, "litellm_params")


RULES: Final[Mapping[str, Rule]] = {
    "toml_syntax": error(CONFIG_SYNTAX, _fault("toml_syntax")),
    "json_syntax": error(CONFIG_SYNTAX, _fault("json_syntax")),
    "yaml_syntax": error(CONFIG_SYNTAX, _fault("yaml_syntax")),
    "document_too_deep": error(CONFIG_SYNTAX, _fault("document_too_deep")),
    "document_key_twice": caution(CONFIG_SYNTAX, _fault("document_key_twice")),
    "type_changed": error(CONFIG_SYNTAX, _type_changed),
    "date_version": error(Reason.BASE_URL_WRONG_PATH, _date_version),
    "environment_type": error(CONFIG_SYNTAX, _environment_type),
    "secret_value": error(CONFIG_SYNTAX, _secret_value),
    "secret_encoding": error(CONFIG_SYNTAX, _secret_encoding),
    "model_entry": error(CONFIG_SYNTAX, _model_entry),
    "entry_without_model": error(Reason.MODEL_MISSING, _entry_without_model),
}
