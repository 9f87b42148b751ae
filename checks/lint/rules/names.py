"""Rules on names: variables that nobody reads, that are spelt wrong, that only some clients read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.clients import OWN_NAMES
from checks.lint.finding import Hit, Rule, caution, error, suspicion
from checks.lint.roles import stem
from checks.lint.rules.codes import lost
from checks.lint.sheet import Format, Item, Kind, Role, Sheet
from checks.reason import Reason

_UNREAD_BASES: Final = frozenset(
    (
        *("OPENAI_API_BASE_URL", "OPENAI_BASE", "OPENAI_URL", "OPENAI_ENDPOINT", "OPENAI_HOST"),
        *(
            "OPENAI_API_URL",
            "OPENAI_API_ENDPOINT",
            "OPENAI_API_HOST",
            "LITELLM_API_BASE",
            "VERL_ROLLOUT_BASE",
        ),
    )
)
_UNREAD_KEYS: Final = frozenset(("OPENAI_KEY", "OPENAI_TOKEN", "OPENAI_SECRET", "VERL_ROLLOUT_KEY"))
_UNREAD_MODELS: Final = frozenset(("AGENT_LLM_MODEL", "VERL_ROLLOUT_MODEL"))
_KNOWN: Final = {
    name.replace("_", ""): name
    for name in (
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY"),
        *("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY"),
        *(
            "AZURE_OPENAI_API_KEY",
            "AZURE_OPENAI_ENDPOINT",
            "AGL_KEY",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "NO_PROXY",
        ),
    )
}
_MISTYPED: Final = re.compile(r"(?:OPENAI|OPEANAI|OPNEAI|OPENIA|OPENAPI)_(?:API_)?(?:KEY|BASE|BASE_URL)S?$")
_OLD_GENERATION: Final = frozenset(
    (
        *("AGL_MANAGED_STORE", "AGL_CURRENT_ROLE", "AGL_SERVER_HOST", "AGL_SERVER_PORT"),
        *("AGL_EMITTER_DEBUG", "VERL_SPIDER_DATA_DIR", "VERL_API_BASE"),
    )
)
_NEW_GENERATION: Final = frozenset(("AGL_KEY", "AGL_BASE_URL", "AGL_MODEL_NAME"))
_ENV_FILE: Final = frozenset(
    (
        *("env", "dotenv", "_env", "env.txt", ".env.txt", "env.env.txt", ".evn", ".enf", ".nev", "dot.env"),
        *(".env.env", ".env.text", "_.env", ".env.md", ".env.rtf", ".env.doc", "env.local", "env.production"),
    )
)
_GENERAL_STEMS: Final = frozenset(
    ("llm", "model", "agent", "chat", "ai", "gpt", "task", "judge", "inference", "completion")
)


def _environment(sheet: Sheet) -> Iterator[Item]:
    """Settings that become environment variables."""
    for item in sheet.items:
        listed = item.path and any(part in ("environment", "env") for part in item.path)
        if sheet.format.by_lines or listed:
            yield item


def _name_of(sheet: Sheet) -> str:
    return sheet.name.replace("\\", "/").rpartition("/")[2]


def _file_name(sheet: Sheet) -> Iterator[Hit]:
    """A loader that searches for `.env` finds no other name."""
    base, dialect = _name_of(sheet), sheet.reading.dialect
    wrong = base.lower() in _ENV_FILE or (base != ".env" and base.lower() == ".env") or base != base.strip()
    if wrong and sheet.format is Format.DOTENV and not dialect.by_path and sheet.items:
        yield Hit(None, "(file name)", {"name": base[:60]})


def _base_unread(sheet: Sheet) -> Iterator[Hit]:
    known = {item.name for item in _environment(sheet)}
    own = {name for image, names in OWN_NAMES.items() if image in sheet.text for name in names}
    client = sheet.reading.client
    for item in _environment(sheet):
        better = {"OPENAI_BASE_URL", "OPENAI_API_BASE"} & known
        if item.name not in _UNREAD_BASES or item.name in own or (client and item.name in client.bases):
            continue
        if not better or item.name.startswith("VERL_"):
            yield Hit(item.line, item.key, {"name": item.name})


def _key_unread(sheet: Sheet) -> Iterator[Hit]:
    known = {item.name for item in _environment(sheet)}
    for item in _environment(sheet):
        if item.name in _UNREAD_KEYS and ("OPENAI_API_KEY" not in known or item.name.startswith("VERL_")):
            yield Hit(item.line, item.key, {"name": item.name})


def _model_unread(sheet: Sheet) -> Iterator[Hit]:
    for item in _environment(sheet):
        if item.name in _UNREAD_MODELS:
            yield Hit(item.line, item.key, {"name": item.name})


def _misspelt(sheet: Sheet) -> Iterator[Hit]:
    """The letters of a known name with other signs or another case, which an environment tells apart."""
    for item in _environment(sheet):
        right = _KNOWN.get(re.sub(r"[_\-. ]", "", item.name).upper(), "")
        if (
            not right
            and _MISTYPED.fullmatch(item.name.upper())
            and item.name not in _UNREAD_KEYS | _UNREAD_BASES
        ):
            right = "OPENAI_API_KEY" if "KEY" in item.name.upper() else "OPENAI_BASE_URL"
        proxy = right.endswith("_PROXY") and item.name == right.lower()
        if right and item.name != right and not proxy:
            yield Hit(item.line, item.key, {"right": right}, code=lost(item.role))


def _values(sheet: Sheet, name: str) -> list[Item]:
    return [item for item in _environment(sheet) if item.name == name and item.value.strip()]


def _one_base(sheet: Sheet) -> Iterator[Hit]:
    """One spelling alone: the clients that read the other one call their vendor's default."""
    client = sheet.reading.client
    for name, other in (("OPENAI_API_BASE", "OPENAI_BASE_URL"), ("OPENAI_BASE_URL", "OPENAI_API_BASE")):
        here = _values(sheet, name)
        if not here or _values(sheet, other) or "api.openai.com" in here[0].value:
            continue
        missed = _missed_by(name, client.name if client else "", client.bases if client else ())
        if missed:
            yield Hit(here[0].line, here[0].key, {"name": name, "other": other, "missed": missed})


def _missed_by(name: str, client: str, bases: tuple[str, ...]) -> str:
    if client == "agent-lightning":
        return "Agent-Lightning"
    if client:
        return client if bases and name not in bases else ""
    return "OpenAI SDK" if name == "OPENAI_API_BASE" else ""


def _bases_differ(sheet: Sheet) -> Iterator[Hit]:
    for first in _values(sheet, "OPENAI_BASE_URL"):
        for second in _values(sheet, "OPENAI_API_BASE"):
            plain = not first.is_reference and not second.is_reference
            if plain and first.group == second.group and first.value.rstrip("/") != second.value.rstrip("/"):
                later = max(first, second, key=lambda item: item.line)
                yield Hit(later.line, later.key)
                return


def _master_key(sheet: Sheet) -> Iterator[Hit]:
    names = {item.name for item in _environment(sheet)}
    client = sheet.reading.client
    if _OLD_GENERATION & names or (client and client.name == "agent-lightning"):
        for item in _environment(sheet):
            if item.name == "LITELLM_MASTER_KEY":
                yield Hit(item.line, item.key)


def _overwritten(sheet: Sheet) -> Iterator[Hit]:
    for item in _environment(sheet):
        if item.name in ("AGL_OPENAI_BASE_URL", "AGL_EVENT_URL") and item.value.strip():
            yield Hit(item.line, item.key, {"name": item.name})


def _past_the_gateway(sheet: Sheet) -> Iterator[Hit]:
    """In a 1.x bundle an agent that reads OPENAI_BASE_URL never meets the gateway, which records samples."""
    names = {item.name for item in _environment(sheet)}
    if not _NEW_GENERATION & names:
        return
    for item in _values(sheet, "OPENAI_BASE_URL"):
        if "AGL_OPENAI_BASE_URL" not in item.value and "/proxy/rollout/" not in item.value:
            yield Hit(item.line, item.key)


def _empty_option(sheet: Sheet) -> Iterator[Hit]:
    """Set but empty is not unset: an empty header is sent, an empty model asked for."""
    if sheet.is_template:
        return
    for item in _environment(sheet):
        if item.role in (Role.ORG, Role.MODEL) and not item.value.strip() and not item.is_reference:
            code = Reason.ORG_MISMATCH if item.role is Role.ORG else Reason.MODEL_MISSING
            yield Hit(item.line, item.key, {"name": item.name}, code=code)


def _base_absent(sheet: Sheet) -> Iterator[Hit]:
    """A key of no vendor's name, and neither base nor provider: the tool's own default decides the host."""
    if not sheet.format.by_lines or sheet.is_template or any(sheet.of(Role.BASE, Role.PROVIDER)):
        return
    client = sheet.reading.client
    for item in sheet.of(Role.KEY):
        mine = stem(item.name)
        general = mine in _GENERAL_STEMS or (not mine and any(sheet.of(Role.MODEL)))
        if general and item.value.strip() and not (client and client.prefixed):
            name = f"{mine}_api_base".strip("_").upper()
            yield Hit(None, f"{name} (absent)", {"name": name, "key": item.name})
            return


def _model_elsewhere(sheet: Sheet) -> Iterator[Hit]:
    """A key of OpenAI's name with another vendor's model and no base URL: the call goes to api.openai.com."""
    if any(sheet.of(Role.BASE, Role.PROVIDER)) or sheet.kind is not Kind.PLAIN:
        return
    for item in sheet.of(Role.MODEL):
        keys = [other for other in sheet.beside(item) if other.role is Role.KEY and other.value.strip()]
        general = not sheet.format.by_lines and any(not stem(key.name) for key in keys)
        named = stem(item.name) == "openai" and any(stem(key.name) == "openai" for key in keys)
        if (named or general) and _FOREIGN_MODEL.match(item.value.strip()) and "/" not in item.value:
            yield Hit(item.line, item.key, {"name": "OPENAI_BASE_URL"})
            return


_FOREIGN_MODEL: Final = re.compile(
    r"(?:deepseek|qwen|glm|kimi|moonshot|llama|mistral|gemini|claude|doubao|yi-|baichuan|ernie)",
    re.IGNORECASE,
)


def _lower_cased_default(sheet: Sheet) -> Iterator[Hit]:
    """The agents SDK lower-cases this variable and takes what stands before a slash for a provider."""
    for item in _environment(sheet):
        value = item.value.strip()
        if item.name == "OPENAI_DEFAULT_MODEL" and (value != value.lower() or "/" in value):
            yield Hit(item.line, item.key)


def _provider_unknown(sheet: Sheet) -> Iterator[Hit]:
    """codex: the chosen provider has no table of its own."""
    if sheet.kind is not Kind.CODEX:
        return
    tables = {path[1] for path in sheet.contents.maps if len(path) > 1 and path[0] == "model_providers"}
    tables |= {
        item.path[1] for item in sheet.items if len(item.path) > 2 and item.path[0] == "model_providers"
    }
    for item in sheet.items:
        chosen = item.path == ("model_provider",) and item.value not in (
            "openai",
            "oss",
            "ollama",
            "lmstudio",
        )
        if chosen and item.value not in tables:
            yield Hit(item.line, item.key, {"name": re.sub(r"[^ -~]", "?", item.value)[:60]})


RULES: Final[Mapping[str, Rule]] = {
    "file_name": error(Reason.ENV_KEY_UNSET, _file_name),
    "base_unread": caution(Reason.BASE_URL_NOT_APPLIED, _base_unread),
    "key_unread": caution(Reason.ENV_KEY_UNSET, _key_unread),
    "model_unread": caution(Reason.MODEL_MISSING, _model_unread),
    "misspelt": caution(Reason.BASE_URL_NOT_APPLIED, _misspelt),
    "one_base": caution(Reason.BASE_URL_NOT_APPLIED, _one_base),
    "bases_differ": caution(Reason.BASE_URL_NOT_APPLIED, _bases_differ),
    "master_key": suspicion(Reason.SERVER_NOT_READY, _master_key),
    "overwritten": caution(Reason.BASE_URL_NOT_APPLIED, _overwritten),
    "past_the_gateway": suspicion(Reason.TOKEN_IDS_MISSING, _past_the_gateway),
    "empty_option": caution(Reason.MODEL_MISSING, _empty_option),
    "base_absent": suspicion(Reason.BASE_URL_NOT_APPLIED, _base_absent),
    "model_elsewhere": suspicion(Reason.BASE_URL_NOT_APPLIED, _model_elsewhere),
    "lower_cased_default": caution(Reason.MODEL_PROVIDER_PREFIX, _lower_cased_default),
    "provider_unknown": error(Reason.BASE_URL_NOT_APPLIED, _provider_unknown),
}
