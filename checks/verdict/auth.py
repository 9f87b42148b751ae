"""Keys that are missing, wrong, spent, elsewhere at home, or sent in the wrong way."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import homes, keys, servers
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, failing, row, table
from checks.verdict.view import View

malformed_header = failing(
    Reason.AUTH_KEY_MALFORMED,
    r"(?:unexpected|invalid|illegal) char(?:acter)?.{0,40}(?:authorization|header)"
    r"|(?:authorization|bearer|header).{0,80}(?:new-?lines?\b|line breaks?|control char|non-?ascii)"
    r"|new-?line characters? (?:are|is) not allowed"
    r"|illegal header|invalid (?:http )?header|codec can.?t encode|invalid character in header"
    r"|bytestring|header (?:value|field)"
    r".{0,60}(?:invalid|illegal|newline|return|whitespace|must not)|forbidden byte"
    r"|invalid ?header ?value|failed to parse header"
    r"|non-ascii|unprintable|err_invalid_char|headers? (?:must|should) (?:be|contain).{0,20}(?:ascii"
    r"|str|latin)|ordinal not in range"
    r"|invalid leading whitespace|请求头.{0,10}(?:非法|无效)",
)
FAILURES: tuple[Rule, ...] = (malformed_header,)

_OWN_ENDS = (401, 403, 400, 404, 429, 500, 503, 502, 402, 200)

scope = table(
    row(
        Reason.AUTH_INSUFFICIENT_SCOPE,
        r"missing scopes?|insufficient (?:permissions?|scope|privilege)|insufficient_scope"
        r"|required scope|(?:lacks?|without|requires?) (?:the )?.{0,30}scope"
        r"|does not have .{0,40}scope|scope requirement|not (?:meet|include|carry"
        r"|contain).{0,30}\bscopes?\b|scope.{0,30}(?:missing|insufficient|not granted)"
        r"|permission to (?:perform|call) (?:this )?(?:operation|method|action)"
        r"|restricted (?:api )?key|权限不足|缺少.{0,12}权限",
        "insufficient_scope access_token_scope_insufficient insufficient_permissions missing_scope",
    ),
)
organisation = table(
    row(
        Reason.ORG_MISMATCH,
        r"no such (?:organi[sz]ation|project)|mismatched_(?:organi[sz]ation|project)"
        r"|openai-(?:organization|project)"
        r"|organi[sz]ation.{0,60}(?:mismatch|does ?n.t match|not match|does not exist|not found"
        r"|invalid|do(?:es)? not belong)"
        r"|(?:member of|belong to) (?:an?|the|this) (?:organi[sz]ation|project|workspace|team)"
        r"|workspace.{0,40}(?:access|denied|mismatch|not (?:found|match|belong))"
        r"|(?:项目|组织|业务空间|工作空间).{0,12}(?:不匹配|不存在|无权|不属于)",
        "mismatched_organization invalid_organization workspace.accessdenied mismatched_project "
        "invalid_project no_such_organization",
    ),
)
disabled = table(
    row(
        Reason.AUTH_KEY_DISABLED_OR_EXPIRED,
        r"(?:api[ _-]?key|token|令牌|密钥|\bkey).{0,60}(?:disabled|deactivated|expired|revoked"
        r"|inactive|suspended|no longer (?:valid|active)|been (?:deleted|blocked|leaked))"
        r"|(?:disabled|deactivated|expired|revoked|inactive) (?:api[ _-]?)?(?:key|token)|状态不可用"
        r"|(?:令牌|密钥|key|token).{0,16}(?:过期|停用|禁用|失效|冻结|不可用|吊销)"
        r"|account.{0,30}deactivated|has been deactivated"
        r"|signature (?:has )?expired|jwt expired|clock skew|timestamp.{0,40}(?:expired|skew|too)"
        r"|reported as leaked",
        "account_deactivated api_key_disabled key_expired apikeyexpired token_disabled expired_key "
        "api_key_expired expired_api_key"
        " key_disabled token_expired_error 1003 deactivated_workspace revoked_key expired_token",
    ),
)
missing = table(
    row(
        Reason.AUTH_MISSING_HEADER,
        r"did ?n.?t provide (?:an )?api key|did not provide|no (?:api[ _-]?key|credentials?"
        r"|auth(?:orization|entication)?(?: header| token| credentials?)?|token|bearer"
        r"|cookie auth)(?: \w{1,12}){0,2} (?:provided|found|supplied|passed|present|given|in request"
        r"|set|sent|specified)"
        r"|no api key passed in|no cookie auth|missing .{0,40}(?:api[ _-]?key|authorization|auth\b"
        r"|token|credential|bearer|authentication)|(?:authorization|api[ _-]?key|x-api-key"
        r"|authentication|credentials?|bearer token|access token"
        r"|token)(?:[ `'\"]{1,2}header)?[`'\"]? (?:header )?(?:is |was |are |were )?(?:missing"
        r"|required|not (?:provided|found|present|supplied|set|specified|given)|empty|blank|null)"
        r"|(?:must|need to|please) (?:provide|include|supply|contain|send|set"
        r"|pass) (?!.{0,8}\bvalid\b).{0,40}(?:api[ _-]?key|authorization|token|credential)"
        r"|header.{0,60}(?:was|is) missing|required request header"
        r"|unauthenticated requests|caller identity|without established identity"
        r"|expected to start with 'sk-|anonymous|not logged in|api key required|unregistered callers"
        r"|未(?:提供|携带|传|收到|检测到|填写).{0,12}(?:令牌|密钥|key|token|认证|鉴权|authorization)"
        r"|(?:缺少|没有|缺失).{0,12}(?:key|令牌|密钥|认证|authorization|鉴权|token)"
        r"|(?:header|请求头)中未|(?:authorization|api ?key|令牌|密钥|token).{0,8}(?:为空|缺失|不能为空"
        r"|未提供|没有提供)",
        "missing_api_key no_api_key missing_authorization missingauthorization auth_header_missing "
        "missing_token 1001 missing_auth"
        " missingauthenticationtoken apikeymissing missing_authorization_header "
        "authentication_required no_auth",
    ),
)
scheme = table(
    row(
        Reason.AUTH_SCHEME_MISMATCH,
        r"(?:invalid|malformed|unsupported|incorrect|bad|wrong) (?:authorization|authentication"
        r"|auth) (?:header|scheme|format|type|method)|authorization header (?:must|should|format"
        r"|is not|is invalid|has (?:an )?invalid|does not)"
        r"|(?:must|should) (?:be in the (?:form|format)|start with|begin with|use).{0,20}(?:bearer"
        r"|basic|x-api-key|api-key)|only (?:basic|bearer)|missing subscription key"
        r"|(?:use|send|pass|provide|put|via|expects?|requires?).{0,40}[`'\"]?(?:x-api-key|api-key"
        r"|ocp-apim-subscription-key)[`'\"]?(?: header)?|bearer (?:token )?(?:scheme|format|prefix"
        r"|authentication).{0,40}(?:required|expected|missing|not|invalid)"
        r"|unsupported (?:token type|credential type|auth)|(?:not|n't) (?:support"
        r"|accept).{0,20}(?:bearer|x-api-key|api-key|basic)(?: auth| token| header)?"
        r"|expected .{0,20}bearer|(?:认证|鉴权)(?:方式|头).{0,12}(?:不正确|错误|不支持|格式)",
        "invalid_auth_scheme unsupported_auth_scheme invalid_authorization_header",
    ),
)
_REFUSED = row(
    Reason.AUTH_INVALID_KEY,
    r"incorrect api[ _-]?key|invalid[ _-](?:api|proxy|access|subscription|authentication|auth"
    r"|authorization|bearer|x-api|secret|user|server|virtual|oauth)?[ _-]?(?:server )?(?:key|token"
    r"|credentials?)"
    r"|(?:api[ _-]?key|token|credentials?|密钥|令牌|secret|\bkey).{0,60}(?:invalid|incorrect|not valid"
    r"|wrong|unrecogni[sz]ed|not found|does ?n.t exist|does not exist|unknown|mismatch"
    r"|not recogni[sz]ed|unauthorized)"
    r"|invalid or (?:missing|expired) |无效的?.{0,6}(?:令牌|密钥|api|key|token|身份|凭证)"
    r"|令牌.{0,4}(?:无效|不存在|错误)|(?:密钥|key|token|凭证).{0,8}(?:无效|错误|不正确|不存在|有误"
    r"|不合法|非法)"
    r"|(?:身份)?(?:验证|认证|鉴权|校验)(?:失败|错误|不通过|未通过)|authentication[ _-]?(?:fails|failed"
    r"|failure|error|parameter)|authenticationerror|unauthori[sz]ed|unauthenticated|user not found"
    r"|validate credentials|not authenticated|auth(?:entication)? .{0,20}(?:failed|rejected)"
    r"|access denied due to invalid|bad credentials|invalid x-api-key|login fail|invalid signature",
    "invalid_api_key invalidapikey authentication_error api_key_invalid invalid_authentication_error "
    "invalid_authentication invalid_token unauthorized"
    " unauthenticated authenticationerror invalid_iam_token no_db_connection token_not_found_in_db "
    "incorrect_api_key_error 1000 1002 invalid_request_key"
    " authenticationfailed auth_error authfailure invalidaccesstoken invalid_key wrong_api_key "
    "invalid_access_token 1004 2049 unauthorizederror auth_failed",
)


def refused(view: View) -> Reason | None:
    """The key is refused in words, or by a bare 401."""
    if view.status == 401:
        return homes.why(view)
    if view.status not in (403, 400, 404, 429, 500, 200) or not _REFUSED.holds(view):
        return None
    plain = view.status == 403 or _REFUSED.codes & view.answer.codes or _ABOUT_KEY.search(view.answer.said)
    return homes.why(view) if plain else None


_ABOUT_KEY = re.compile(
    r"api[ _-]?key|token|令牌|密钥|credential|authenticat|unauthori|鉴权|认证|身份|\bkey\b"
)


def by_status(view: View) -> Reason | None:
    """403 that says nothing more: the key is known and may not do this."""
    return Reason.AUTH_INSUFFICIENT_SCOPE if view.status == 403 else None


def keyless_fault(view: View) -> Reason | None:
    """A litellm proxy of the package's usual extras (1.108, without its database client) breaks on a call
    that brings no key, before it can refuse it: a bare 500 and none of its own envelope."""
    if view.status != 500 or view.answer.form is not Form.TEXT or keys.was_sent(view) is not False:
        return None
    bare = view.answer.text.strip().lower() == "internal server error"
    return Reason.AUTH_MISSING_HEADER if bare and servers.family(view) == "litellm" else None


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
    if _LEFT_OPEN.search(view.answer.said) and keys.was_sent(view) is not False:
        return homes.why(view)
    return homes.malformed(view) or Reason.AUTH_MISSING_HEADER


_LEFT_OPEN = re.compile(
    r"(?:missing|absent|no|empty) or (?:is )?(?:an? )?(?:invalid|incorrect|wrong)|(?:invalid|incorrect"
    r"|wrong) or (?:is )?(?:missing|absent|empty)|(?:缺失|为空|缺少)或(?:无效|错误)|无效或(?:缺失|为空)"
)


_EITHER = re.compile(
    r"(?:invalid|incorrect).{0,20}\bor\b.{0,20}expired|expired or (?:is )?(?:invalid|incorrect)"
    r"|无效或(?:已)?过期|过期或无效"
)


def switched_off(view: View) -> Reason | None:
    """Known key, no longer good; "invalid or expired" says neither."""
    if disabled(view) is None:
        return None
    if _EITHER.search(view.answer.said) or view.answer.codes & {"invalidapikey", "apikeyinvalid"}:
        return refused(view)
    return homes.not_sent(view) or Reason.AUTH_KEY_DISABLED_OR_EXPIRED


ANSWERS: tuple[Rule, ...] = (
    _in_denials(organisation),
    _in_denials(scope),
    placeholder,
    _in_denials(switched_off),
    _in_denials(scheme),
    missing_or_nearer,
    keyless_fault,
    refused,
)
