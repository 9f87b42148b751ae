"""Who answers: the vendor or server family, told by host, headers, envelope and hint."""

from __future__ import annotations

import re
from collections.abc import Mapping

from checks.verdict.answer import Form
from checks.verdict.view import View

# A vendor's published hosts. They serve to know a vendor's own key forms, roots and sites, and to
# tell "the vendor says" from "a relay repeats".
_HOSTS: Mapping[str, str] = {
    "openai.com": "openai",
    "anthropic.com": "anthropic",
    "azure.com": "azure",
    "azure.cn": "azure",
    "deepseek.com": "deepseek",
    "aliyuncs.com": "dashscope",
    "bigmodel.cn": "zhipu",
    "z.ai": "zhipu",
    "moonshot.cn": "moonshot",
    "moonshot.ai": "moonshot",
    "kimi.com": "kimi",
    "volces.com": "ark",
    "bytepluses.com": "ark",
    "minimax.chat": "minimax",
    "minimaxi.com": "minimax",
    "minimax.io": "minimax",
    "siliconflow.cn": "siliconflow",
    "siliconflow.com": "siliconflow",
    "openrouter.ai": "openrouter",
    "groq.com": "groq",
    "mistral.ai": "mistral",
    "googleapis.com": "google",
    "nvidia.com": "nvidia",
    "x.ai": "xai",
    "cerebras.ai": "cerebras",
    "together.xyz": "together",
    "together.ai": "together",
    "fireworks.ai": "fireworks",
    "perplexity.ai": "perplexity",
    "cohere.com": "cohere",
    "cohere.ai": "cohere",
    "huggingface.co": "huggingface",
    "stepfun.com": "stepfun",
    "baidubce.com": "baidu",
    "tencentcloudapi.com": "tencent",
    "tencent.com": "tencent",
    "xf-yun.com": "spark",
    "lingyiwanwu.com": "yi",
    "baichuan-ai.com": "baichuan",
    "deepinfra.com": "deepinfra",
    "modelscope.cn": "modelscope",
    "sambanova.ai": "sambanova",
    "novita.ai": "novita",
    "github.ai": "github",
    "amazonaws.com": "bedrock",
}

# Vendors that run separate sites whose keys do not fit each other.
SITED = frozenset(("dashscope", "moonshot", "minimax", "zhipu", "siliconflow", "ark", "azure", "stepfun"))

_HINTS: tuple[tuple[str, str], ...] = (
    ("cc switch", "local router"),
    ("claude-code-router", "local router"),
    ("new-api", "new-api"),
    ("one-api", "one-api"),
    ("oneapi", "one-api"),
    ("litellm", "litellm"),
    ("lm studio", "lmstudio"),
    ("lmstudio", "lmstudio"),
    ("ollama", "ollama"),
    ("sglang", "sglang"),
    ("vllm", "vllm"),
    ("llama.cpp", "llamacpp"),
    ("azure", "azure"),
    ("openrouter", "openrouter"),
    ("dashscope", "dashscope"),
    ("bailian", "dashscope"),
    ("deepseek", "deepseek"),
    ("zhipu", "zhipu"),
    ("bigmodel", "zhipu"),
    ("moonshot", "moonshot"),
    ("kimi", "kimi"),
    ("volcengine", "ark"),
    ("volcano ark", "ark"),
    ("siliconflow", "siliconflow"),
    ("minimax", "minimax"),
    ("nvidia", "nvidia"),
    ("groq", "groq"),
    ("mistral", "mistral"),
    ("anthropic", "anthropic"),
    ("gemini", "google"),
    ("api.openai.com", "openai"),
)

SELF_HOSTED = frozenset(("vllm", "sglang", "ollama", "lmstudio", "llamacpp"))
RELAYS = frozenset(("one-api", "new-api", "litellm", "openrouter", "local router"))

_WORDED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("openai", re.compile(r"platform\.openai\.com|help\.openai\.com")),
    ("dashscope", re.compile(r"help\.aliyun\.com|alibabacloud\.com|dashscope")),
    ("litellm", re.compile(r"litellm|invalid model name passed in|to view available models for your key")),
    ("new-api", re.compile(r"new_api_error|rix_api_error|shell_api_error|v_api_error|tool_api_error")),
    ("one-api", re.compile(r"one_api_error|aiproxy_error|api_error.{0,200}\(request id: 20\d{8}")),
    ("azure", re.compile(r"azure openai|cognitiveservices|aka\.ms/")),
    ("groq", re.compile(r"console\.groq\.com")),
    ("openrouter", re.compile(r"openrouter\.ai")),
    ("anthropic", re.compile(r"docs\.anthropic\.com|platform\.claude\.com")),
)


def vendor_of(host: str) -> str:
    """The vendor that owns a host name; empty for any other host."""
    parts = host.lower().split(".")
    for size in (2, 3):
        found = _HOSTS.get(".".join(parts[-size:]))
        if found:
            return found
    return ""


def family(view: View) -> str:
    """The server family that most likely wrote the answer; empty when nothing tells."""
    headers = view.answer.headers
    if "x-litellm-version" in headers or "x-litellm-call-id" in headers:
        return "litellm"
    if "x-oneapi-request-id" in headers:
        return "one-api"
    if "x-new-api-version" in headers:
        return "new-api"
    if "x-ms-region" in headers or "apim-request-id" in headers:
        return "azure"
    told = worded_by(view)
    if told:
        return told
    return vendor_of(view.url.host) or hinted(view)


def worded_by(view: View) -> str:
    """The family whose own wording or links the answer carries; empty when it is neutral."""
    said = view.answer.said
    return next((name for name, pattern in _WORDED if pattern.search(said)), "")


def hinted(view: View) -> str:
    """The family that the free hint on the server names; empty when none."""
    low = view.evidence.server.lower()
    return next((name for sign, name in _HINTS if sign in low), "")


def is_vendor_itself(view: View) -> bool:
    """Whether the request went to a known vendor's own host (so its words are about this account)."""
    told = view.flag("host_is_vendor")
    return bool(vendor_of(view.url.host)) if told is None else told


def is_relay(view: View) -> bool:
    """Whether a relay (one-api and kin, litellm, an aggregator) stands between client and model."""
    return family(view) in RELAYS or hinted(view) in RELAYS


def self_hosted(view: View) -> bool:
    """Whether the server is an inference engine of one's own, or sits on one's own network."""
    return family(view) in SELF_HOSTED or view.to_lan


def is_string_error(view: View) -> bool:
    """Whether the envelope is the bare `{"error": "..."}` of vLLM, SGLang, Ollama and LM Studio."""
    return view.answer.form is Form.ERROR_STRING
