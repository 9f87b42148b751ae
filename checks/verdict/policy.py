"""Who may come in, from where, and what may be said."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

_WAF_WORDS = re.compile(
    r"attention required|just a moment|cf-chl|captcha|checking your browser"
    r"|enable javascript and cookies|verify you are (?:a )?human|sorry, you have been blocked"
    r"|request (?:was |has been )?blocked|incapsula|sucuri|akamai|edgesuite|web application firewall"
    r"|\bwaf\b|ddos|error code: ?10\d\d|error 10\d\d\b"
    r"|bot (?:detection|protection|management)|access denied.{0,80}reference"
    r"|request could not be satisfied|security (?:check|policy|service)|安全(?:验证|防护|策略|拦截)"
    r"|请求被?拦截|人机|访问被拒绝|被阻断"
)
_WAF_STATUSES = frozenset((400, 401, 403, 405, 406, 429, 503))


def challenged(view: View) -> Reason | None:
    """A firewall or CDN answers before the API does."""
    answer = view.answer
    if "cf-mitigated" in answer.headers:
        return Reason.WAF_CHALLENGE
    if view.status not in _WAF_STATUSES and not (view.status == 200 and answer.form is Form.HTML):
        return None
    if answer.form in (Form.HTML, Form.TEXT) and _WAF_WORDS.search(answer.said + answer.text[:3000].lower()):
        return Reason.WAF_CHALLENGE
    edge = answer.headers.get("server", "").lower()
    bare = answer.form in (Form.HTML, Form.TEXT, Form.EMPTY) and view.status in (403, 429, 503)
    if bare and any(
        name in edge
        for name in ("cloudflare", "cloudfront", "akamai", "sucuri", "awselb", "yundun", "ddos", "safedog")
    ):
        return Reason.WAF_CHALLENGE
    blocked = view.status == 403 and answer.is_json and _UA_BLOCK.search(answer.said)
    return Reason.WAF_CHALLENGE if blocked else None


_UA_BLOCK = re.compile(
    r"(?:your )?request (?:was |has been |is )?blocked|blocked by (?:cloudflare|firewall|waf|security"
    r"|the site)|error code: ?10\d\d|forbidden user.?agent|browser_signature_banned"
)

filtered = table(
    row(
        Reason.CONTENT_FILTERED,
        r"content[ _-]?(?:management|filter|moderation|policy)|(?:content|prompt|input|output"
        r"|request) (?:that )?violat|safety_check|usage guidelines|responsible ?ai"
        r"|inappropriate content|safety (?:system|filter|setting|check|guideline|reason)|moderation"
        r"|flagged (?:as|by|for)|was flagged|exists risk|risk content|prohibited[ _]content"
        r"|敏感(?:词|内容|信息)?|不当内容|不安全|内容(?:安全|审核|风险|违规|不合规)|违规内容"
        r"|unsafe (?:or|and|content)|data[ _]?inspection|harmful|sensitive (?:content|words?"
        r"|information)|considered high risk|high.risk (?:input|output|content)"
        r"|rejected as a result of (?:our|the) safety|violat.{0,30}(?:content|usage|safety) polic"
        r"|invalid_prompt",
        "content_filter data_inspection_failed datainspectionfailed content_policy_violation "
        "responsibleaipolicyviolation content_policy 1301 1026 1027 sensitive_words_detected"
        " contentfilter content_blocked prompt_blocked moderation_blocked sensitivecontentdetected "
        "inputtextsensitivecontentdetected outputtextsensitivecontentdetected",
        (400, 401, 403, 422, 429, 451, 500, 200, 404),
    ),
)
address = table(
    row(
        Reason.IP_NOT_ALLOWED,
        r"\bip\b.{0,60}(?:not (?:allowed|authori[sz]ed|in |permitted|whitelisted|on )|whitelist"
        r"|allow-?list|allow list|blocked|restrict|denied|forbidden|banned)|(?:whitelist|allow-?list"
        r"|allowed (?:list of )?ips?).{0,40}\bip\b"
        r"|(?:client|source|request(?:ing)?|your) ip|指定网段|\bip ?.{0,16}(?:不在|白名单|未授权|限制"
        r"|不允许|禁止|受限)|网段|ip白名单|virtual network|firewall rules?\b|private endpoint"
        r"|public (?:network )?access is disabled|not in (?:the )?(?:allowed|whitelist)",
        "ip_not_authorized ip_not_allowed api_key_ip_address_blocked ipnotallowed ip_restricted "
        "ip_forbidden invalidip",
        (400, 401, 403, 404, 429),
    ),
)
region = table(
    row(
        Reason.REGION_BLOCKED,
        r"(?:country|region|territory|location|countries).{0,60}(?:not (?:supported|available|allowed"
        r"|permitted)|unsupported|prohibited|restricted|blocked|ineligible)|unsupported[ _](?:country"
        r"|region|location)|not (?:available|supported|offered|accessible) in (?:your|this"
        r"|the) (?:current )?(?:country|region|location|area)"
        r"|access.{0,30}from (?:your|this) (?:country|region|location)|geo.?(?:block|restrict)"
        r"|restricted (?:country|region|location)|(?:地区|国家|区域|地域|所在地).{0,14}(?:不支持"
        r"|不可用|受限|限制|暂未开放|无法使用|禁止|不提供)|不支持.{0,10}(?:国家|地区)|embargo",
        "unsupported_country_region_territory unsupported_country unsupported_region "
        "region_not_supported geo_blocked location_not_supported",
        (400, 401, 403, 404, 412, 451),
    ),
)
account = table(
    row(
        Reason.ACCOUNT_POLICY_BLOCK,
        r"guardrail|data[ _]policy|privacy (?:settings|policy)|no (?:allowed )?(?:endpoints"
        r"|providers) (?:found |available |are )?(?:matching|allowed|available for|that match)"
        r"|no allowed providers"
        r"|(?:account|organi[sz]ation|user|workspace).{0,40}(?:suspended|banned|terminated|blocked"
        r"|restricted|under review|locked|frozen|has been disabled|is disabled|violat)"
        r"|terms of (?:service|use)|usage polic|acceptable use|trust.{0,4}safety"
        r"|封禁|封号|(?:账号|账户|帐号|帐户|用户).{0,10}(?:停用|冻结|禁用|封|异常|违规|限制)|风控"
        r"|risk control|zero data retention|\bzdr\b",
        "account_suspended organization_disabled access_terminated_error user_banned "
        "organization_restricted accountdisabled account_blocked",
        (400, 401, 402, 403, 404, 429),
    ),
)


def filtered_output(view: View) -> Reason | None:
    """A good answer whose output the filter took away."""
    ends = [item.get("finish_reason") for item in view.answer.choices or () if isinstance(item, dict)]
    return (
        Reason.CONTENT_FILTERED
        if any(end in ("content_filter", "sensitive", "safety") for end in ends)
        else None
    )


EDGE: tuple[Rule, ...] = (challenged,)
ANSWERS: tuple[Rule, ...] = (address, region, account, filtered)
