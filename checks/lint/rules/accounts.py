"""Rules on whose key it is: vendor, site, plan, login. A probe decides most of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.bases import Base, bases_of
from checks.lint.clients import Speech
from checks.lint.finding import Hit, Rule, caution, error, suspicion
from checks.lint.roles import snake, stem
from checks.lint.sheet import Item, Kind, Role, Sheet
from checks.lint.vendors import PLANS, SITES, Plan, key_vendor, vendor_of
from checks.reason import Reason

_PLAN_WORD: Final = re.compile(
    r"coding[ _-]?plan|\bsubscription\b|\bplan key\b|glm[ -]coding"
    r"|套餐|包月|订阅|编程计划"
)
_GENERAL_WORD: Final = re.compile(r"pay[ -]as[ -]you[ -]go|\bno (?:coding )?plan\b|balance key|按量")
_LOGIN_START: Final = "sk-ant-oat"
_GENERAL_PATHS: Final = frozenset(("/api/paas/v4", "/api/v3", "/compatible-mode/v1", "/v1"))


def _pairs(sheet: Sheet) -> Iterator[tuple[Item, Base]]:
    """Yield each key with the base URL that it goes to: of the same name's beginning, else the only one."""
    bases = [base for base in bases_of(sheet) if base.usable]
    for key in sheet.of(Role.KEY):
        if not key.value.strip() or key.is_reference:
            continue
        near = [base for base in bases if base.item.group == key.group]
        own = [base for base in near if stem(base.item.name) == stem(key.name)]
        keys = [other for other in sheet.of(Role.KEY) if other.group == key.group]
        if own:
            yield key, own[0]
        elif len(near) == 1 and len(keys) == 1:
            yield key, near[0]


def _other_vendor(sheet: Sheet) -> Iterator[Hit]:
    for key, base in _pairs(sheet):
        start, vendor = key_vendor(key.value.strip())
        host_vendor = vendor_of(base.host)
        related = {vendor, host_vendor} <= {"kimi", "moonshot"} or key.value.startswith(_LOGIN_START)
        if vendor and host_vendor and vendor != host_vendor and not related:
            yield Hit(key.line, key.key, {"start": start, "host": base.host, "vendor": vendor})
    for key in sheet.of(Role.KEY):
        start, vendor = key_vendor(key.value.strip())
        named = snake(key.name)
        if named.startswith("azure_openai") and (vendor or key.value.startswith("sk-")):
            yield Hit(
                key.line, key.key, {"start": start or "sk-", "host": "Azure", "vendor": vendor or "another"}
            )


def _default_host(sheet: Sheet) -> Iterator[Hit]:
    """OPENAI_API_KEY holds another vendor's key and no base URL is set: it goes to api.openai.com."""
    if any(sheet.of(Role.BASE)) or not sheet.format.by_lines:
        return
    for key in sheet.named("OPENAI_API_KEY"):
        start, vendor = key_vendor(key.value.strip())
        if vendor and vendor != "openai":
            yield Hit(key.line, key.key, {"start": start, "vendor": vendor})


def _other_site(sheet: Sheet) -> Iterator[Hit]:
    """A model id whose prefix leads to one of a vendor's two sites, while nothing names the site."""
    for model in sheet.of(Role.MODEL):
        prefix = model.value.strip().partition("/")[0].lower() if "/" in model.value else ""
        if prefix not in SITES or model.name == "model_name" or _base_for(sheet, model, prefix):
            continue
        if prefix == "zai" and _plan_told(sheet):
            continue  # the plan's own rule says more
        called, other = SITES[prefix]
        variable = f"{prefix.upper()}_API_BASE"
        yield Hit(
            model.line, model.key, {"host": called, "other": other, "variable": variable, "prefix": prefix}
        )


def _base_for(sheet: Sheet, model: Item, prefix: str) -> bool:
    """Whether a base beside the model, or the prefix's own variable, names the site."""
    beside = any(other.role is Role.BASE and other.value.strip() for other in sheet.beside(model))
    variable = any(stem(item.name) == prefix for item in sheet.of(Role.BASE) if item.value.strip())
    return variable or (beside and not sheet.format.by_lines)


def _plan_told(sheet: Sheet) -> bool:
    return bool(_PLAN_WORD.search(sheet.remarks)) and not _GENERAL_WORD.search(sheet.remarks)


def _other_plan(sheet: Sheet) -> Iterator[Hit]:
    """The file speaks of a plan, or the key is a plan's, and the address is the general root."""
    told = _plan_told(sheet)
    keyed = {base.item.line: key for key, base in _pairs(sheet)}
    for base in bases_of(sheet):
        plan = next((plan for plan in PLANS if base.host in plan.hosts), None)
        if plan is None or base.path not in _GENERAL_PATHS:
            continue
        key = keyed.get(base.item.line)
        start = key_vendor(key.value.strip())[0] if key else ""
        if told or start in ("sk-sp-", "sk-kimi-"):
            yield Hit(base.item.line, base.item.key, _plan_facts(plan, base.host, base.path))
    if told:
        yield from _plan_by_prefix(sheet)


def _plan_by_prefix(sheet: Sheet) -> Iterator[Hit]:
    for model in sheet.of(Role.MODEL):
        prefix = model.value.strip().partition("/")[0].lower() if "/" in model.value else ""
        plan = next((plan for plan in PLANS if prefix in plan.prefixes), None)
        if plan and model.name != "model_name" and not _base_for(sheet, model, prefix):
            yield Hit(model.line, model.key, _plan_facts(plan, plan.hosts[0], f"{prefix}/"))


def _plan_facts(plan: Plan, host: str, path: str) -> dict[str, str]:
    root = plan.root if plan.root.startswith("https:") else f"https://{host}{plan.root}"
    return {"vendor": plan.vendor, "host": host, "path": path, "root": root}


def _plan_root(sheet: Sheet) -> Iterator[Hit]:
    """The reverse: the plan's root with a key that is none of the plan's."""
    for key, base in _pairs(sheet):
        coding = base.host.startswith(("coding.dashscope", "coding-intl.dashscope"))
        value = key.value.strip()
        if coding and value.startswith("sk-") and not value.startswith("sk-sp-"):
            root = "https://dashscope.aliyuncs.com/compatible-mode/v1"
            yield Hit(key.line, key.key, {"vendor": "DashScope", "host": base.host, "root": root})


def _login_token(sheet: Sheet) -> Iterator[Hit]:
    """A login token where only an API key works: another host than the vendor's, or a key's variable."""
    gateway = next((b for b in bases_of(sheet) if b.speech is Speech.ANTHROPIC and _is_gateway(b)), None)
    for item in sheet.of(Role.KEY):
        if not item.value.strip().startswith(_LOGIN_START):
            continue
        as_key = snake(item.name).endswith("api_key")
        if gateway or as_key:
            where = gateway.host if gateway else item.name
            yield Hit(item.line, item.key, {"start": _LOGIN_START, "where": where})


def _is_gateway(base: Base) -> bool:
    return base.usable and vendor_of(base.host) != "anthropic"


def _two_credentials(sheet: Sheet) -> Iterator[Hit]:
    groups: dict[str, list[Item]] = {}
    for item in sheet.named("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        if item.value.strip():
            groups.setdefault(item.group, []).append(item)
    for items in groups.values():
        names = list(dict.fromkeys(item.name for item in items))
        values = {item.value for item in items}
        if len(names) > 1 and len(values) > 1:
            last = max(items, key=lambda item: item.line)
            yield Hit(last.line, last.key, {"names": ", ".join(names)})


def _key_absent(sheet: Sheet) -> Iterator[Hit]:
    """A public base URL without any key in the same environment file."""
    if not sheet.format.by_lines or any(sheet.of(Role.KEY, Role.KEY_NAME)) or sheet.is_template:
        return
    for base in bases_of(sheet):
        named = base.item.name.upper() in ("OPENAI_BASE_URL", "OPENAI_API_BASE")
        if base.usable and not base.private and named and sheet.kind is Kind.PLAIN:
            yield Hit(None, "OPENAI_API_KEY (absent)", {"host": base.host, "variable": "OPENAI_API_KEY"})
            return


RULES: Final[Mapping[str, Rule]] = {
    "login_token": error(Reason.OAUTH_ENV_CONFLICT, _login_token),
    "two_credentials": caution(Reason.OAUTH_ENV_CONFLICT, _two_credentials),
    "other_vendor": suspicion(Reason.AUTH_KEY_WRONG_PROVIDER, _other_vendor),
    "default_host": suspicion(Reason.BASE_URL_NOT_APPLIED, _default_host),
    "other_plan": suspicion(Reason.AUTH_KEY_PLAN_MISMATCH, _other_plan),
    "plan_root": suspicion(Reason.AUTH_KEY_PLAN_MISMATCH, _plan_root),
    "other_site": suspicion(Reason.AUTH_KEY_REGION_MISMATCH, _other_site),
    "key_absent": suspicion(Reason.ENV_KEY_UNSET, _key_absent),
}
