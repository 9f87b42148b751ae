"""The model's id: unknown, retired, wrongly prefixed, not allowed, not switched on, not loaded, unfit."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import servers
from checks.verdict.rules import Rule, failing, row, table
from checks.verdict.view import View

# Routing prefixes that litellm and kin put before an id; a server that is asked directly knows none of them.
_ROUTES = frozenset(
    [
        "openai",
        "azure",
        "hosted_vllm",
        "litellm_proxy",
        "ollama",
        "ollama_chat",
        "vllm",
        "dashscope",
        "moonshot",
        "deepseek",
        "anthropic",
        "gemini",
        "groq",
        "mistral",
        "together_ai",
        "fireworks_ai",
        "huggingface",
        "bedrock",
        "vertex_ai",
        "openrouter",
        "custom_openai",
        "xai",
        "zai",
        "volcengine",
        "lm_studio",
        "text-completion-openai",
        "openai-chat",
        "nvidia_nim",
        "sambanova",
        "cerebras",
    ]
)
_UNPREFIXED = (
    r"llm provider not provided|unknown (?:provider )?prefix|(?:unable|cannot|could not) (?:to )?(?:infer"
    r"|determine) (?:the )?(?:model )?provider|provider[ /]prefix|(?:missing|requires?|must (?:have"
    r"|start with|include|contain|be)).{0,40}(?:provider/|prefix|provider/model|'/' )"
    r"|model_info is required|unmapped llm provider|provider/model(?:[ _-]?(?:name|id))?"
    r"|provider.{0,20}not (?:provided|specified|recogni[sz]ed)|模型.{0,12}前缀"
)
unprefixed_failure = failing(Reason.MODEL_PROVIDER_PREFIX, _UNPREFIXED)
FAILURES: tuple[Rule, ...] = (
    unprefixed_failure,
    failing(Reason.MODEL_NOT_FOUND, r"unknown model|model_not_found"),
)

unprefixed = table(row(Reason.MODEL_PROVIDER_PREFIX, _UNPREFIXED, "", (400, 401, 404, 422, 500)))
deployment = table(
    row(
        Reason.AZURE_DEPLOYMENT_NOT_FOUND,
        r"deployment for this resource does not exist|(?:api|model"
        r"|azure) deployment.{0,60}(?:not (?:found|exist)|does not exist)"
        r"|deployment .{0,60}(?:was not found|does not exist|not found)",
        "deploymentnotfound deployment_not_found",
        (400, 404, 500),
    )
)
_SWITCHED_OFF = row(
    Reason.MODEL_NOT_ACTIVATED,
    r"(?:model|service|access|endpoint).{0,80}(?:not (?:been )?(?:activated|enabled|opened|purchased"
    r"|subscribed|switched on)|unpurchased|not open\b|needs? to be (?:enabled|activated))|(?:has not"
    r"|have not|haven.t|hasn.t) (?:activated|enabled|purchased|subscribed|accepted|opened).{0,60}"
    r"|(?:please|must|need to) (?:first )?(?:activate|enable|accept|agree|subscribe"
    r"|request access).{0,60}(?:model|license|terms|service|access|agreement)|eligible"
    r"|must be verified|activate the model"
    r"|(?:未|没有|尚未|还未)(?:开通|激活|开启|购买|订阅)|开通.{0,8}(?:模型|服务)|request access",
    "modelnotopen accessdenied.unpurchased accessdeniedunpurchased model_not_activated "
    "model_not_enabled modelnotactivated unpurchased service_not_open servicenotopen servicedisabled",
    (400, 401, 403, 404),
)
_RETIRED = row(
    Reason.MODEL_DEPRECATED,
    r"decommission|deprecat|models? (?:is |has been |was )?(?:disabled|offline|taken offline)"
    r"|no longer (?:supported|available|served|offered|exists?)|(?:been |was |is )retired|\bsunset"
    r"|discontinued|end[ -]of[ -](?:life|service)|shut ?down|has been (?:removed|withdrawn|replaced"
    r"|turned off)|已(?:经)?(?:下线|弃用|停用|废弃|停止)|停止(?:服务|支持)|下架|reached (?:its )?end"
    r"|function.{0,40}withdrawn",
    "model_decommissioned model_deprecated model_retired modelretired modeldeprecated "
    "model_discontinued model_end_of_life modeloffline",
    (400, 403, 404, 410, 422, 500, 503),
)
_FORBIDDEN = row(
    Reason.MODEL_NO_PERMISSION,
    r"(?:not|n.t|no) (?:have )?(?:access|permission|authori[sz]ed|allowed|permitted"
    r"|entitled).{0,80}(?:model|模型|engine)|无权(?:使用|访问|调用)|(?:key|token|令牌|team|user"
    r"|project|organi[sz]ation|group|tier|plan|subscription).{0,80}(?:not allowed|cannot|can only"
    r"|not authori[sz]ed|not permitted|no access|does not include).{0,60}(?:model|模型)?"
    r"|models?\b.{0,100}(?:not allowed|forbidden|no permission|access denied|not accessible"
    r"|restricted to|is restricted|not permitted|not authori[sz]ed|requires? (?:a )?(?:higher|paid|pro"
    r"|subscription))"
    r"|function.{0,80}not found for account|(?:没有|无).{0,12}(?:模型|model).{0,12}权限"
    r"|access (?:to (?:the )?(?:requested )?model )?(?:is )?denied|不(?:允许|可)(?:使用|访问"
    r"|调用).{0,12}模型|(?:模型|model).{0,30}(?:无权限|没有权限|未授权|禁止)|allowed models"
    r"|套餐.{0,16}(?:暂未开放|不支持|不包含|未包含)|(?:暂未|未)开放.{0,24}权限",
    "model_access_denied modelaccessdenied model.accessdenied key_model_access_denied "
    "team_model_access_denied user_model_access_denied model_not_allowed token_model_forbidden "
    "model_forbidden accessdenied accessdeniedexception 1220 1311 project_model_access_denied "
    "org_model_access_denied",
    (400, 401, 403, 404, 429),
)
_UNFIT = row(
    Reason.MODEL_TASK_MISMATCH,
    r"does(?: not|n.t) support (?:the )?(?:chat|generate|generation|completions?|embed"
    r"|text generation)|not (?:a |an )?(?:chat|completion|embedding|instruct|generative"
    r"|text.generation)(?: completion)? model|(?:an? )?(?:embedding|rerank(?:er|ing)?|audio|image|tts"
    r"|speech|transcription|completion|text-to-image)s?[ -](?:only )?model\b.{0,80}(?:not|cannot|can.t"
    r"|use|only|but)|only (?:support|be used|works?|available).{0,40}(?:embedding|v1/completions"
    r"|responses|rerank)|not supported (?:in|on|with|by) (?:the )?/?v1/(?:chat/completions|completions"
    r"|embeddings|responses)|(?:use|try|mean to use) (?:the )?.{0,30}/?v?1?/(?:embeddings|completions"
    r"|responses|rerank|audio|images)\b"
    r"|(?:chat ?completions?|embeddings?|completions?)(?: api| operation)? (?:is |are "
    r"|operation )?(?:not supported|does not work|unsupported)|operation.{0,60}(?:not work"
    r"|not support)|not intended for|task.{0,30}(?:mismatch|not support|unsupported)"
    r"|not support the .{0,30}(?:chat|completions|embeddings).{0,10}(?:api|operation|endpoint|task)"
    r"|不(?:支持|是).{0,6}(?:聊天|对话|chat|嵌入|生成)(?:模型|接口|补全)?|向量模型",
    "operationnotsupported model_task_mismatch model_not_supported_for_chat unsupported_task "
    "not_a_chat_model",
    (400, 403, 404, 405, 422, 500, 501),
)
_UNLOADED = row(
    Reason.MODEL_NOT_LOADED,
    r"no models? (?:is |are |currently )?(?:currently )?loaded|fail(?:ed"
    r"|ure)? (?:to )?load(?:ing)? (?:the )?model|models? .{0,60}(?:is )?not (?:currently "
    r"|been )?loaded|error loading model|(?:please )?load a model|model (?:is |was )?unloaded"
    r"|unable to load (?:the )?model|could not load model|requires more (?:system )?memory"
    r"|insufficient .{0,30}(?:memory|resources).{0,30}load|模型.{0,8}(?:未加载|没有加载|加载失败)"
    r"|未加载.{0,6}模型|cannot load",
    "model_not_loaded no_model_loaded model_load_failed modelnotloaded",
    (400, 404, 409, 500, 503),
)
_UNKNOWN = row(
    Reason.MODEL_NOT_FOUND,
    r"models?\b.{0,160}(?:not found|does ?n.t exist|does not exist|not exist|unknown|is invalid"
    r"|not available|not supported|unavailable|not served|no such|could not be found|cannot be found"
    r"|isn.t available|unsupported|not recogni[sz]ed|not registered|not deployed|wasn.t found)"
    r"|(?:unknown|invalid|no such|unsupported|unrecogni[sz]ed|nonexistent|could not find|cannot find"
    r"|can.t find|not find|unable to find|no) (?:the |this |requested |matching )?models?\b"
    r"|not found (?:the )?model|not a valid model|not an? (?:available|supported) model|there (?:is"
    r"|are) no model|none of .{0,30}models?|available models|model_name|try pulling"
    r"|模型.{0,80}(?:不存在|未找到|找不到|不支持|无效|未配置|错误|没有|不可用)|(?:不存在|找不到|未知"
    r"|无效).{0,12}模型|model.{0,60}(?:不存在|未找到|无效)|模型名称|is not a valid model",
    "model_not_found modelnotfound invalid_model model_not_exist invalidendpointormodel.notfound "
    "20012 unknown_model model_not_available modelnotexist 1211 model_not_supported invalidmodel "
    "model_invalid notfounderror 1222 no_such_model invalid_model_error model_unavailable",
    (400, 403, 404, 422, 500, 501, 502, 503),
)
_ABOUT_MODEL = re.compile(r"\bmodels?\b|模型|engine|deployment|\bep-|function|model_|models/")


def _about_model(view: View) -> bool:
    """Whether the words are on a model: they say so, or repeat its id."""
    said = view.answer.said
    model = view.evidence.model.lower()
    return (
        bool(_ABOUT_MODEL.search(said)) or (len(model) > 2 and model in said) or "model" in view.answer.params
    )


def switched_off(view: View) -> Reason | None:
    """The account must switch the model on first."""
    plain = bool(_SWITCHED_OFF.codes & view.answer.codes) or _about_model(view)
    return Reason.MODEL_NOT_ACTIVATED if _SWITCHED_OFF.holds(view) and plain else None


def retired(view: View) -> Reason | None:
    """The vendor took the model away."""
    if view.status == 410:
        return Reason.MODEL_DEPRECATED
    return Reason.MODEL_DEPRECATED if _RETIRED.holds(view) and _about_model(view) else None


def forbidden(view: View) -> Reason | None:
    """The model exists, this key may not use it."""
    if _EITHER.search(view.answer.said):
        return None
    return Reason.MODEL_NO_PERMISSION if _FORBIDDEN.holds(view) and _about_model(view) else None


# The usual sentence that leaves it open; the name is the first thing to check.
_EITHER = re.compile(
    r"does not exist or (?:you|the|your)|not exist or you|不存在或.{0,8}(?:无权|没有权限)"
    r"|or permission denied"
)


def unknown(view: View) -> Reason | None:
    """The id is not served here: spelled wrongly, or still wearing another router's prefix."""
    if not (_UNKNOWN.holds(view) and _about_model(view)) and not _absent_from_list(view):
        return None
    return Reason.MODEL_PROVIDER_PREFIX if wears_prefix(view) else Reason.MODEL_NOT_FOUND


def named_in_refusal(view: View) -> Reason | None:
    """A 404 in JSON that repeats the model's id, in whatever words."""
    named = len(view.evidence.model) > 3 and view.evidence.model.lower() in view.answer.said
    return Reason.MODEL_NOT_FOUND if named and view.status == 404 and view.answer.is_error else None


def _absent_from_list(view: View) -> bool:
    """A bare 404 on a route that works, for a model that the server's own list lacks."""
    listed = served(view)
    return (
        view.status in (400, 404)
        and bool(listed)
        and bool(view.evidence.model)
        and view.evidence.model not in listed
        and view.answer.is_error
    )


def served(view: View) -> list[str]:
    """The ids the server lists; empty when unknown."""
    found = view.fact("models", "models_list", "model_list", "available_models")
    return [str(item) for item in found[:500]] if isinstance(found, list | tuple) else []


def wears_prefix(view: View) -> bool:
    """Whether the id carries a route's prefix that this server does not strip."""
    head, slash, rest = view.evidence.model.lower().partition("/")
    if not slash:
        lowered = view.evidence.model.lower()
        return bool(lowered) and any(
            item.lower().endswith("/" + lowered) and not item.startswith("/") for item in served(view)
        )
    if any(item.lower() == rest for item in served(view)):
        return True
    return (
        head in _ROUTES
        and not servers.is_relay(view)
        and not any(item.lower().startswith(head + "/") for item in served(view))
    )


ANSWERS: tuple[Rule, ...] = (
    unprefixed,
    deployment,
    table(_UNFIT),
    table(_UNLOADED),
    switched_off,
    retired,
    forbidden,
    unknown,
)
LATE: tuple[Rule, ...] = (named_in_refusal,)
