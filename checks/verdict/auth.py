"""Keys that are missing, wrong, spent, elsewhere at home, or sent in the wrong way."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import client_config, keys, oauth, servers
from checks.verdict.rules import Rule, failing, first, row, table
from checks.verdict.view import View

malformed_header = failing(
    Reason.AUTH_KEY_MALFORMED,
    r"illegal header|invalid (?:http )?header|codec can.?t encode|invalid character in header|bytestring|header (?:value|field)"
    r".{0,60}(?:invalid|illegal|newline|return|whitespace|must not)|forbidden byte|invalid ?header ?value|failed to parse header"
    r"|non-ascii|unprintable|err_invalid_char|headers? (?:must|should) (?:be|contain).{0,20}(?:ascii|str|latin)|ordinal not in range"
    r"|invalid leading whitespace|请求头.{0,10}(?:非法|无效)",
)
FAILURES: tuple[Rule, ...] = (malformed_header,)

_OWN_ENDS = (401, 403, 400, 404, 429, 500, 503, 502, 402, 200)

scope = table(
    row(
        Reason.AUTH_INSUFFICIENT_SCOPE,
        r"missing scopes?|insufficient (?:permissions?|scope|privilege)|insufficient_scope|required scope|(?:lacks?|without|requires?) (?:the )?.{0,30}scope"
        r"|does not have .{0,40}scope|scope requirement|not (?:meet|include|carry|contain).{0,30}\bscopes?\b|scope.{0,30}(?:missing|insufficient|not granted)|permission to (?:perform|call) (?:this )?(?:operation|method|action)"
        r"|restricted (?:api )?key|权限不足|缺少.{0,12}权限",
        "insufficient_scope access_token_scope_insufficient insufficient_permissions missing_scope",
    ),
)
organisation = table(
    row(
        Reason.ORG_MISMATCH,
        r"no such (?:organi[sz]ation|project)|mismatched_(?:organi[sz]ation|project)|openai-(?:organization|project)"
        r"|organi[sz]ation.{0,60}(?:mismatch|does ?n.t match|not match|does not exist|not found|invalid|do(?:es)? not belong)"
        r"|(?:member of|belong to) (?:an?|the|this) (?:organi[sz]ation|project|workspace|team)|workspace.{0,40}(?:access|denied|mismatch|not (?:found|match|belong))"
        r"|(?:项目|组织|业务空间|工作空间).{0,12}(?:不匹配|不存在|无权|不属于)",
        "mismatched_organization invalid_organization workspace.accessdenied mismatched_project invalid_project no_such_organization",
    ),
)
disabled = table(
    row(
        Reason.AUTH_KEY_DISABLED_OR_EXPIRED,
        r"(?:api[ _-]?key|token|令牌|密钥|\bkey).{0,60}(?:disabled|deactivated|expired|revoked|inactive|suspended|no longer (?:valid|active)|been (?:deleted|blocked|leaked))"
        r"|(?:disabled|deactivated|expired|revoked|inactive) (?:api[ _-]?)?(?:key|token)|状态不可用"
        r"|(?:令牌|密钥|key|token).{0,16}(?:过期|停用|禁用|失效|冻结|不可用|吊销)|account.{0,30}deactivated|has been deactivated"
        r"|signature (?:has )?expired|jwt expired|clock skew|timestamp.{0,40}(?:expired|skew|too)|reported as leaked",
        "account_deactivated api_key_disabled key_expired apikeyexpired token_disabled expired_key api_key_expired expired_api_key"
        " key_disabled token_expired_error 1003 deactivated_workspace revoked_key expired_token",
    ),
)
missing = table(
    row(
        Reason.AUTH_MISSING_HEADER,
        r"did ?n.?t provide (?:an )?api key|did not provide|no (?:api[ _-]?key|credentials?|auth(?:orization|entication)?(?: header| token| credentials?)?|token|bearer|cookie auth)(?: \w{1,12}){0,2} (?:provided|found|supplied|passed|present|given|in request|set|sent|specified)"
        r"|no api key passed in|no cookie auth|missing .{0,40}(?:api[ _-]?key|authorization|auth\b|token|credential|bearer|authentication)|(?:authorization|api[ _-]?key|x-api-key|authentication|credentials?|bearer token|access token|token)(?:[ `'\"]{1,2}header)?[`'\"]? (?:header )?(?:is |was |are |were )?(?:missing|required|not (?:provided|found|present|supplied|set|specified|given)|empty|blank|null)"
        r"|(?:must|need to|please) (?:provide|include|supply|contain|send|set|pass) (?!.{0,8}\bvalid\b).{0,40}(?:api[ _-]?key|authorization|token|credential)|header.{0,60}(?:was|is) missing|required request header"
        r"|unauthenticated requests|caller identity|without established identity|expected to start with 'sk-|anonymous|not logged in|api key required|unregistered callers"
        r"|未(?:提供|携带|传|收到|检测到|填写).{0,12}(?:令牌|密钥|key|token|认证|鉴权|authorization)|(?:缺少|没有|缺失).{0,12}(?:key|令牌|密钥|认证|authorization|鉴权|token)"
        r"|(?:header|请求头)中未|(?:authorization|api ?key|令牌|密钥|token).{0,8}(?:为空|缺失|不能为空|未提供|没有提供)",
        "missing_api_key no_api_key missing_authorization missingauthorization auth_header_missing missing_token 1001 missing_auth"
        " missingauthenticationtoken apikeymissing missing_authorization_header authentication_required no_auth",
    ),
)
scheme = table(
    row(
        Reason.AUTH_SCHEME_MISMATCH,
        r"(?:invalid|malformed|unsupported|incorrect|bad|wrong) (?:authorization|authentication|auth) (?:header|scheme|format|type|method)|authorization header (?:must|should|format|is not|is invalid|has (?:an )?invalid|does not)"
        r"|(?:must|should) (?:be in the (?:form|format)|start with|begin with|use).{0,20}(?:bearer|basic|x-api-key|api-key)|only (?:basic|bearer)|missing subscription key"
        r"|(?:use|send|pass|provide|put|via|expects?|requires?).{0,40}[`'\"]?(?:x-api-key|api-key|ocp-apim-subscription-key)[`'\"]?(?: header)?|bearer (?:token )?(?:scheme|format|prefix|authentication).{0,40}(?:required|expected|missing|not|invalid)"
        r"|unsupported (?:token type|credential type|auth)|(?:not|n't) (?:support|accept).{0,20}(?:bearer|x-api-key|api-key|basic)(?: auth| token| header)?|expected .{0,20}bearer|(?:认证|鉴权)(?:方式|头).{0,12}(?:不正确|错误|不支持|格式)",
        "invalid_auth_scheme unsupported_auth_scheme invalid_authorization_header",
    ),
)
_REFUSED = row(
    Reason.AUTH_INVALID_KEY,
    r"incorrect api[ _-]?key|invalid[ _-](?:api|proxy|access|subscription|authentication|auth|authorization|bearer|x-api|secret|user|server|virtual|oauth)?[ _-]?(?:server )?(?:key|token|credentials?)"
    r"|(?:api[ _-]?key|token|credentials?|密钥|令牌|secret|\bkey).{0,60}(?:invalid|incorrect|not valid|wrong|unrecogni[sz]ed|not found|does ?n.t exist|does not exist|unknown|mismatch|not recogni[sz]ed|unauthorized)"
    r"|invalid or (?:missing|expired) |无效的?.{0,6}(?:令牌|密钥|api|key|token|身份|凭证)|令牌.{0,4}(?:无效|不存在|错误)|(?:密钥|key|token|凭证).{0,8}(?:无效|错误|不正确|不存在|有误|不合法|非法)"
    r"|(?:身份)?(?:验证|认证|鉴权|校验)(?:失败|错误|不通过|未通过)|authentication[ _-]?(?:fails|failed|failure|error|parameter)|authenticationerror|unauthori[sz]ed|unauthenticated|user not found|validate credentials|not authenticated|auth(?:entication)? .{0,20}(?:failed|rejected)"
    r"|access denied due to invalid|bad credentials|invalid x-api-key|login fail|invalid signature",
    "invalid_api_key invalidapikey authentication_error api_key_invalid invalid_authentication_error invalid_authentication invalid_token unauthorized"
    " unauthenticated authenticationerror invalid_iam_token no_db_connection token_not_found_in_db incorrect_api_key_error 1000 1002 invalid_request_key"
    " authenticationfailed auth_error authfailure invalidaccesstoken invalid_key wrong_api_key invalid_access_token 1004 2049 unauthorizederror auth_failed",
)


def refused(view: View) -> Reason | None:
    """The key is refused in words, or by a bare 401."""
    if view.status in (401, 403, 400, 404, 429, 500, 200) and _REFUSED.holds(view):
        if (
            view.status in (401, 403)
            or view.answer.codes & _REFUSED.codes
            or _ABOUT_KEY.search(view.answer.said)
        ):
            return _why(view)
    return _why(view) if view.status == 401 else None


_ABOUT_KEY = re.compile(
    r"api[ _-]?key|token|令牌|密钥|credential|authenticat|unauthori|鉴权|认证|身份|\bkey\b"
)


def _why(view: View) -> Reason:
    """A refused key is only called wrong when nothing nearer explains the refusal."""
    if view.answer.codes & {"upstreamerror", "badresponsestatuscode"}:
        return Reason.UPSTREAM_MISCONFIGURED
    return first(_NEARER, view) or Reason.AUTH_INVALID_KEY


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
    r"(?:key|token|account).{0,60}(?:another|different|other|wrong|this|international|china|overseas) (?:region|site|platform|station)|wrong region"
    r"|(?:region|site) mismatch|does not belong to this region|(?:密钥|key|账号).{0,16}(?:其他|不同|国际|国内)(?:地域|站|区域|平台)|地域不匹配"
)


def of_another_plan(view: View) -> Reason | None:
    """Key and root belong to different plans (a coding plan has a root of its own)."""
    planned = bool(_PLAN_ROOT.search(view.url.host + view.url.path.lower()))
    plan_key = keys.prefix(view).startswith(("sk-sp-", "sk-kimi-")) or "plan" in view.words(
        "key_plan", "key_kind"
    )
    probe = view.words("probe_plan_root", "plan_root", "probe_other_plan")
    if re.match(r"\s*2\d\d\b|ok\b", probe) or _PLAN_WORDS.search(view.answer.said):
        return Reason.AUTH_KEY_PLAN_MISMATCH
    return Reason.AUTH_KEY_PLAN_MISMATCH if planned != plan_key and (planned or _has_plans(view)) else None


def _has_plans(view: View) -> bool:
    return servers.vendor_of(view.url.host) in ("dashscope", "zhipu", "moonshot", "kimi", "ark", "minimax")


_PLAN_ROOT = re.compile(r"\bcoding\b|token-?plan|/plan/")
_PLAN_WORDS = re.compile(
    r"coding[ -]?plan.{0,80}(?:only|key|endpoint|base|not|dedicated|exclusive)|(?:key|token).{0,40}coding[ -]?plan|plan.{0,30}(?:dedicated|exclusive) (?:endpoint|base)"
    r"|(?:套餐|订阅).{0,16}(?:专属|专用|密钥|接口|地址)|仅(?:限|支持|可用于).{0,12}(?:coding|套餐|编程)"
)


def of_another_vendor(view: View) -> Reason | None:
    """The prefix is another vendor's, or the host hides behind a vendor's key form."""
    if keys.fits_host(view) is False:
        return Reason.AUTH_KEY_WRONG_PROVIDER
    # Azure keys are 32 hex digits or long opaque strings; none begins with "sk-".
    if servers.family(view) == "azure" and keys.prefix(view).startswith("sk-"):
        return Reason.AUTH_KEY_WRONG_PROVIDER
    relayed = servers.hinted(view) in ("one-api", "new-api", "litellm") or servers.family(view) in (
        "one-api",
        "new-api",
        "litellm",
    )
    foreign = keys.vendor(view) in ("anthropic", "openrouter", "groq", "xai", "google", "openai")
    return Reason.AUTH_KEY_WRONG_PROVIDER if relayed and foreign and keys.prefix(view) != "sk-" else None


def in_the_wrong_header(view: View) -> Reason | None:
    """An API key in the bearer header, or the reverse, where the vendor keeps them apart."""
    header = view.words("header", "auth_header", "sent_header")
    api_key = keys.prefix(view).startswith("sk-ant-api")
    wrong = (api_key and header == "authorization") or (
        header == "x-api-key" and servers.vendor_of(view.url.host) == "openai"
    )
    return Reason.AUTH_SCHEME_MISMATCH if wrong else None


_NEARER: tuple[Rule, ...] = (
    malformed,
    not_sent,
    shadowed,
    client_config.not_applied,
    oauth.conflict_by_facts,
    in_the_wrong_header,
    at_home_elsewhere,
    of_another_plan,
    of_another_vendor,
    stale_organisation,
    client_config.default_host_asked,
)


def by_status(view: View) -> Reason | None:
    """403 that says nothing more: the key is known and may not do this."""
    return Reason.AUTH_INSUFFICIENT_SCOPE if view.status == 403 else None


def placeholder(view: View) -> Reason | None:
    """The server echoes a placeholder: no credential reached it."""
    return (
        Reason.AUTH_MISSING_HEADER if view.status in (400, 401, 403) and keys.is_placeholder(view) else None
    )


def _in_denials(rule: Rule) -> Rule:
    """Ask only answers that may be about access; a 5xx or a parameter error is not."""

    def look(view: View) -> Reason | None:
        return rule(view) if view.status in (400, 401, 403, 404, 429, 200) else None

    return look


def missing_or_nearer(view: View) -> Reason | None:
    """The words say that nothing came: unless a malformed value explains why."""
    if view.status not in (400, 401, 403, 500, 200) or missing(view) is None:
        return None
    return malformed(view) or Reason.AUTH_MISSING_HEADER


_EITHER = re.compile(
    r"(?:invalid|incorrect).{0,20}\bor\b.{0,20}expired|expired or (?:is )?(?:invalid|incorrect)|无效或(?:已)?过期|过期或无效"
)


def switched_off(view: View) -> Reason | None:
    """Known key, no longer good; "invalid or expired" says neither."""
    if disabled(view) is None:
        return None
    if _EITHER.search(view.answer.said) or view.answer.codes & {"invalidapikey", "apikeyinvalid"}:
        return refused(view)
    return not_sent(view) or Reason.AUTH_KEY_DISABLED_OR_EXPIRED


ANSWERS: tuple[Rule, ...] = (
    _in_denials(organisation),
    _in_denials(scope),
    placeholder,
    _in_denials(switched_off),
    _in_denials(scheme),
    missing_or_nearer,
    refused,
)
