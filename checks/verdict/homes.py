"""Why a well-formed key may still be refused: never sent, shadowed, or at home elsewhere."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import client_config, keys, oauth, servers
from checks.verdict.rules import Rule, first
from checks.verdict.view import View


def not_sent(view: View) -> Reason | None:
    """Nothing was sent, or the words say that nothing came."""
    if keys.was_sent(view) is False:
        return Reason.AUTH_MISSING_HEADER
    bare = servers.is_string_error(view) and view.answer.said.strip() in ("unauthorized", "unauthorised")
    return Reason.AUTH_MISSING_HEADER if bare and keys.was_sent(view) is None else None


def malformed(view: View) -> Reason | None:
    """The value itself cannot match: quotes, blanks, a word instead of a key."""
    return Reason.AUTH_KEY_MALFORMED if keys.is_malformed(view) else None


def shadowed(view: View) -> Reason | None:
    """Two sources hold different keys, and the other one was sent."""
    return Reason.ENV_SHADOWED if keys.tails_differ(view) else None


def of_the_relay(view: View) -> Reason | None:
    """The refused key is not the one that was sent: a relay's own key was refused behind it."""
    return Reason.UPSTREAM_MISCONFIGURED if keys.is_anothers(view) else None


def stale_organisation(view: View) -> Reason | None:
    """An organisation variable with a leftover value travels in a header of its own."""
    value = view.env.get("OPENAI_ORGANIZATION", view.env.get("OPENAI_ORG_ID", "")).strip().lower()
    named = "organi" in view.answer.said
    return Reason.ORG_MISMATCH if value in ("null", "none", "undefined") or (value and named) else None


def at_home_elsewhere(view: View) -> Reason | None:
    """A sibling site of the vendor accepts the same key."""
    probe = view.words(
        "probe_other_site",
        "other_site",
        "sibling_site",
        "probe_sibling_region",
        "other_region",
        "probe_other_region",
    )
    if re.match(r"\s*(?:http )?2\d\d\b|ok\b|accept", probe):
        return Reason.AUTH_KEY_REGION_MISMATCH
    return Reason.AUTH_KEY_REGION_MISMATCH if _REGION.search(view.answer.said) else None


_REGION = re.compile(
    r"(?:key|token|account).{0,60}(?:another|different|other|wrong|this|international|china"
    r"|overseas) (?:region|site|platform|station)|wrong region"
    r"|(?:region|site) mismatch|does not belong to this region|(?:密钥|key|账号).{0,16}(?:其他|不同"
    r"|国际|国内)(?:地域|站|区域|平台)|地域不匹配"
)


def of_another_plan(view: View) -> Reason | None:
    """Key and root belong to different plans (a coding plan has a root of its own)."""
    planned = bool(_PLAN_ROOT.search(view.url.host + view.url.path.lower()))
    plan_key = keys.prefix(view).startswith(("sk-sp-", "sk-kimi-")) or "plan" in view.words(
        "key_plan", "key_kind"
    )
    probe = view.words("probe_plan_root", "plan_root", "probe_other_plan")
    if re.match(r"\s*2\d\d\b|ok\b", probe) or PLAN_WORDS.search(view.answer.said):
        return Reason.AUTH_KEY_PLAN_MISMATCH
    return Reason.AUTH_KEY_PLAN_MISMATCH if planned != plan_key and (planned or _has_plans(view)) else None


def _has_plans(view: View) -> bool:
    return servers.vendor_of(view.url.host) in ("dashscope", "zhipu", "moonshot", "kimi", "ark", "minimax")


_PLAN_ROOT = re.compile(r"\bcoding\b|token-?plan|/plan/")
PLAN_WORDS = re.compile(
    r"coding[ -]?plan.{0,80}(?:only|key|endpoint|base|not|dedicated|exclusive)|(?:key"
    r"|token).{0,40}coding[ -]?plan|plan.{0,30}(?:dedicated|exclusive) (?:endpoint|base)"
    r"|(?:套餐|订阅).{0,16}(?:专属|专用|密钥|接口|地址)|仅(?:限|支持|可用于).{0,12}(?:coding|套餐|编程)"
)


def of_another_vendor(view: View) -> Reason | None:
    """The prefix is one vendor's, and the host is another's or nobody's that takes such keys."""
    if keys.fits_host(view) is False:
        return Reason.AUTH_KEY_WRONG_PROVIDER
    # Azure keys are 32 hex digits or long opaque strings; none begins with "sk-".
    if servers.family(view) == "azure" and keys.prefix(view).startswith("sk-"):
        return Reason.AUTH_KEY_WRONG_PROVIDER
    owner = keys.told_vendor(view) or (keys.vendor(view) if servers.is_relay(view) else "")
    strange = bool(owner) and owner != servers.family(view) and not servers.vendor_of(view.url.host)
    return Reason.AUTH_KEY_WRONG_PROVIDER if strange else None


def in_the_wrong_header(view: View) -> Reason | None:
    """An API key in the bearer header, or the reverse, where the vendor keeps them apart."""
    header = view.words("header", "auth_header", "sent_header")
    api_key = keys.prefix(view).startswith("sk-ant-api")
    wrong = (api_key and header == "authorization") or (
        header == "x-api-key" and servers.vendor_of(view.url.host) == "openai"
    )
    return Reason.AUTH_SCHEME_MISMATCH if wrong else None


NEARER: tuple[Rule, ...] = (
    malformed,
    not_sent,
    shadowed,
    of_the_relay,
    client_config.not_applied,
    oauth.conflict_by_facts,
    in_the_wrong_header,
    at_home_elsewhere,
    of_another_plan,
    of_another_vendor,
    stale_organisation,
    client_config.default_host_asked,
)


def why(view: View) -> Reason:
    """A refused key is only called wrong when nothing nearer explains the refusal."""
    if view.answer.codes & {"upstreamerror", "badresponsestatuscode"}:
        return Reason.UPSTREAM_MISCONFIGURED
    return first(NEARER, view) or Reason.AUTH_INVALID_KEY
