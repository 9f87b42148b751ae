"""Fields, values, parts and roles that this server does not take."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

_REFUSALS = (400, 404, 413, 415, 422, 500, 501, 502)
_REFUSED = (
    r"not (?:supported|permitted|allowed|available|compatible|accept)|unsupported|unrecogni[sz]ed|unknown"
    r"|unexpected|extra|forbidden|不支持|instead|invalid|cannot|can.t|does not support|未知|both"
)
_NOT_TOO_MANY = r"(?!.{0,40}(?:greater than|larger than|exceed|at most|max_model_len))"
"""The name is taken where its number is refused."""

length_name = table(
    row(
        Reason.MAX_TOKENS_PARAM_UNSUPPORTED,
        r"max_tokens.{0,80}(?:not supported|unsupported|instead|\buse\b|deprecated|both|together"
        r"|mutually|one of).{0,60}max_completion_tokens"
        r"|both .{0,20}max_(?:completion_)?tokens|max_completion_tokens.{0,80}(?:instead|\buse\b"
        r"|both).{0,30}max_tokens\b"
        rf"|max_completion_tokens{_NOT_TOO_MANY}.{{0,80}}(?:{_REFUSED})"
        rf"|(?:{_REFUSED}){_NOT_TOO_MANY}.{{0,60}}max_completion_tokens"
        r"|(?:unsupported|unrecogni[sz]ed|unknown|extra|unexpected) (?:parameter|field|argument"
        r"|request argument|input)s?.{0,30}max_(?:output_)?tokens|max_tokens.{0,40}(?:is not supported"
        r"|not supported with|extra inputs|unsupported)|max_output_tokens.{0,30}(?:not supported"
        r"|unknown)",
        "",
        _REFUSALS,
    )
)
vision = table(
    row(
        Reason.VISION_UNSUPPORTED,
        r"unknown variant .{0,3}image|image_url.{0,80}(?:not (?:supported|allowed)|unsupported"
        r"|only (?:supported|available)|expected)|(?:not|n.t|no) (?:support|accept|handle"
        r"|process)(?:ed|s)?.{0,40}(?:image|vision|multi-?modal|picture)|image(?:s|_url| inputs?"
        r"| input| content)?.{0,40}(?:is|are|not) (?:not )?(?:supported|allowed|enabled|accepted)"
        r"|not a (?:multi-?modal|vision)|at most 0 (?:image|multi)|text-only|images? (?:input )?(?:is"
        r"|are) disabled"
        r"|不支持.{0,10}(?:图片|图像|视觉|多模态|image)|support image input|vision (?:is )?not"
        r"|no endpoints found that support image|mmproj|multimodal (?:data|input).{0,30}not",
        "",
        _REFUSALS,
    )
)
output_form = table(
    row(
        Reason.RESPONSE_FORMAT_UNSUPPORTED,
        r"response[_ .]format|json_schema|json_object|structured[ _-]outputs?|json[ _]mode"
        r"|guided_(?:json|decoding|grammar)|word ['\"]?json|text\.format|结构化输出|output_config"
        r"|strict (?:json )?schema|grammar",
        "",
        _REFUSALS,
    )
)
thinking_history = table(
    row(
        Reason.REASONING_CONTENT_REQUIRED,
        r"reasoning_content|thought_signature|(?:thinking|reasoning)(?: blocks?"
        r"| content)?.{0,60}(?:passed back|must be (?:passed|included|returned|echoed|preserved|sent)"
        r"|missing|required in|not be modified|preceding|expected)|expected .{0,3}thinking"
        r"|redacted_thinking|思考内容.{0,12}(?:回传|缺失|必须)",
        "",
        _REFUSALS,
    )
)
role = table(
    row(
        Reason.ROLE_UNSUPPORTED,
        r"unknown variant .{0,3}(?:developer|tool|function|latest_reminder|ipython)"
        r"|\broles?\b.{0,120}(?:not (?:supported|allowed|valid|recogni[sz]ed|in )|unsupported|invalid"
        r"|must (?:be|alternate)|should be|unexpected|alternate|only|expected)|roles? must"
        r"|(?:unsupported|invalid|unknown|unexpected|unrecogni[sz]ed) (?:message )?role|(?:system"
        r"|developer)[ _-](?:role|message|prompt|instruction)s?.{0,80}(?:not (?:support|allowed"
        r"|enabled)|must be|only|first|beginning|unsupported|multiple|more than one)"
        r"|developer instruction|alternat|only one system|multiple system|'developer'|\"developer\""
        r"|不支持.{0,12}(?:角色|system|developer)|角色.{0,16}(?:不支持|错误|非法|无效|交替)"
        r"|does not match .{0,60}(?:'system'|user)",
        "",
        _REFUSALS,
    )
)
_STRICT = row(
    Reason.PARAM_UNKNOWN_REJECTED,
    r"extra inputs? (?:are|is) not permitted|extra_forbidden|extra fields? not permitted"
    r"|unrecogni[sz]ed (?:request argument|field|key|parameter|argument|property)|unknown (?:parameter"
    r"|field|argument|name|key|property)|unexpected (?:keyword|field|parameter|property|argument)"
    r"|unsupported (?:parameter|field|argument|param)|additional properties|(?:parameter|field"
    r"|argument|property|param)s?.{0,80}(?:not (?:supported|permitted|allowed|recogni[sz]ed|accepted)"
    r"|unsupported|unknown|is not a valid)|does not support parameters?|cannot find field"
    r"|未知(?:的)?(?:参数|字段)|不支持(?:的|该|此)?.{0,20}(?:参数|字段)|(?:参数|字段).{0,24}不(?:支持"
    r"|允许|被识别)|stream_options|chat_template_kwargs|not (?:expected|allowed) here",
    "extra_forbidden unknown_parameter unsupported_parameter unsupportedparamserror "
    "unrecognized_parameter unknown_field unsupported_param",
    _REFUSALS,
)
strict = table(_STRICT)
_VALUE = row(
    Reason.PARAM_VALUE_UNSUPPORTED,
    r"unsupported value|invalid value|(?:temperature|top_?p|top_?k|\bn\b|penalty|seed|\bstop\b"
    r"|logit_bias|min_p|top_logprobs|reasoning_effort|effort|best_of|prompt_token_ids|prompt|logprobs"
    r"|budget_tokens|verbosity|service_tier).{0,100}(?:only|must|should|not (?:support|allow|valid)"
    r"|invalid|unsupported|range|between|greater|less|default|expected|exceed|不能|只能|取值|范围)"
    r"|does not support .{0,60} with this model|only the default|must be (?:in|between|less|greater"
    r"|one of|a |an |at |positive|strictly|non-)|input should be|取值(?:范围)?|参数.{0,12}(?:非法|错误"
    r"|无效|不合法|有误)|out of range|nonetype|invalid type: null|null value|cannot be null"
    r"|must not be null|is not of type|value error|cannot unmarshal|invalid_union",
    "unsupported_value invalid_value invalid_parameter_value invalidparametervalue "
    "integer_above_max_value integer_below_min_value decimal_above_max_value decimal_below_min_value "
    "invalid_parameter 1214 1210 20015 2013 invalid_type invalidparameter",
    _REFUSALS,
)
value = table(_VALUE)
_CLEAR_SHAPE = row(
    Reason.MESSAGE_FORMAT_REJECTED,
    r"messages?\[\d+\].{0,60}(?:invalid type|missing field|expected|unknown variant)|untagged enum"
    r"|invalid type: (?:sequence|map), expected (?:a )?string",
    "",
    _REFUSALS,
)
_SHAPE = row(
    Reason.MESSAGE_FORMAT_REJECTED,
    r"failed to deserialize|contents?\b.{0,100}(?:must be|should be|string|not be empty"
    r"|cannot be empty|invalid type|field required|is empty|non-empty|blank|array|list|not supported)"
    r"|invalid type: (?:sequence|map|null), expected (?:a )?string|messages?\b.{0,80}(?:invalid|format"
    r"|must|validation|empty|malformed|not valid|cannot|should|name)|empty (?:content|message)"
    r"|messages\[\d|messages\.\d|body\.messages|untagged enum|expected a string|got (?:list|array"
    r"|object|dict)|can only concatenate str|消息.{0,16}(?:格式|为空|不能为空|非法|错误)"
    r"|content.{0,8}(?:不能为空|格式|必须)|text content blocks|list object|'list' object"
    r"|assistant message",
    "message_format_error invalid_message invalid_messages 1213",
    _REFUSALS,
)
_BODY = row(
    Reason.REQUEST_BODY_MALFORMED,
    r"unsupported media type|could(?: not|n.t) (?:parse|decode|read).{0,40}(?:json|request|body)"
    r"|parse the json body|(?:invalid|malformed|bad) (?:json|request body|body)|json (?:parse|decode"
    r"|decoding|syntax|parsing)|json_invalid|jsondecodeerror|expecting value|expecting property name"
    r"|unexpected (?:end of json|token|end of input)|(?:request )?body.{0,40}(?:missing|is empty"
    r"|required|not valid|cannot be empty|invalid|must be (?:valid )?json)"
    r"|missing.{0,60}['\"`]?messages?['\"`]?\b|messages['\"`]? (?:is|are|field) (?:a )?required"
    r"|you must provide a (?:model|messages)|model (?:is required|parameter is required"
    r"|must be provided|field is required|name is required|name not specified)|valid dictionary"
    r"|valid (?:json )?object|请求体|(?:json|参数).{0,6}解析|content-type|\beof\b"
    r"|received_model_group=none|model=none|model_name=none|required.{0,20}messages|no model specified"
    r"|invalid character|looking for beginning of",
    "json_invalid invalid_json unsupported_media_type bad_json jsonparseerror body_parse_error",
    (400, 415, 422, 500),
)


def unread_body(view: View) -> Reason | None:
    """The server could not read what was sent, or found neither model nor messages in it."""
    if view.status == 415:
        return Reason.REQUEST_BODY_MALFORMED
    at_root = view.answer.params.strip() in ("body", "body.0") or bool(
        re.search(r"\bbody\.\d+\b$", view.answer.params.strip())
    )
    return (
        Reason.REQUEST_BODY_MALFORMED
        if _BODY.holds(view) or (at_root and view.status in (400, 422))
        else None
    )


def odd_value(view: View) -> Reason | None:
    """A plain 500 for a request that holds a null or another odd value."""
    odd = any(item is None for item in view.evidence.params.values())
    return Reason.PARAM_VALUE_UNSUPPORTED if odd and view.status in (400, 422, 500) else None


def by_status(view: View) -> Reason | None:
    """400 or 422 in words nobody knows: something in the request does not please."""
    return (
        Reason.PARAM_VALUE_UNSUPPORTED
        if view.status in (400, 422) and view.answer.form is not Form.HTML
        else None
    )


def _only_text(view: View) -> Reason | None:
    """A validator names a message's content and asks for a string, whatever role it stands under."""
    return Reason.MESSAGE_FORMAT_REJECTED if _STRING_CONTENT.search(view.answer.said) else None


_STRING_CONTENT = re.compile(r"content['\"]? ?: ?(?:value|input)? ?(?:must|should) be a (?:valid )?string")
alternation = table(
    row(Reason.ROLE_UNSUPPORTED, r"\balternat(?:e|ing)\b|角色.{0,8}交替", "", (400, 422, 500))
)


def extra_field(view: View) -> Reason | None:
    """A strict validator names a field it does not know, whatever the field is about."""
    return (
        Reason.PARAM_UNKNOWN_REJECTED
        if "extraforbidden" in view.answer.codes or _EXTRA.search(view.answer.said)
        else None
    )


_EXTRA = re.compile(r"extra inputs? (?:are|is) not permitted|extra_forbidden|extra fields? not permitted")

FIRST: tuple[Rule, ...] = (alternation, _only_text)
NAMED: tuple[Rule, ...] = (length_name, extra_field, vision, thinking_history, role, output_form)
ANSWERS: tuple[Rule, ...] = (strict, table(_SHAPE), value, odd_value)
LAST: tuple[Rule, ...] = (table(_CLEAR_SHAPE), unread_body)
