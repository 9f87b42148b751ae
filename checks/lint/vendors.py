"""What vendors publish: the roots of their APIs, the beginnings of their keys, the ports of local servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from checks.verdict.servers import vendor_of

__all__ = [
    "ANTHROPIC_ROOTS",
    "CHAT_ONLY",
    "DOCUMENT_HOSTS",
    "KEY_VENDORS",
    "PLANS",
    "PORTS",
    "ROOTS",
    "SITES",
    "Plan",
    "key_vendor",
    "vendor_of",
]

ROOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "api.openai.com": ("/v1",),
    "api.deepseek.com": ("", "/v1", "/beta"),
    "api.groq.com": ("/openai/v1",),
    "openrouter.ai": ("/api/v1",),
    "api.moonshot.cn": ("/v1",),
    "api.moonshot.ai": ("/v1",),
    "api.kimi.com": ("/coding/v1",),
    "open.bigmodel.cn": ("/api/paas/v4", "/api/coding/paas/v4"),
    "api.z.ai": ("/api/paas/v4", "/api/coding/paas/v4"),
    "dashscope.aliyuncs.com": ("/compatible-mode/v1",),
    "dashscope-intl.aliyuncs.com": ("/compatible-mode/v1",),
    "dashscope-us.aliyuncs.com": ("/compatible-mode/v1",),
    "coding.dashscope.aliyuncs.com": ("/v1",),
    "coding-intl.dashscope.aliyuncs.com": ("/v1",),
    "ark.cn-beijing.volces.com": ("/api/v3", "/api/coding/v3"),
    "api.siliconflow.cn": ("/v1",),
    "api.siliconflow.com": ("/v1",),
    "api.minimax.chat": ("/v1",),
    "api.minimaxi.com": ("/v1",),
    "api.minimax.io": ("/v1",),
    "api.mistral.ai": ("/v1",),
    "api.together.xyz": ("/v1",),
    "api.fireworks.ai": ("/inference/v1",),
    "api.x.ai": ("/v1",),
    "integrate.api.nvidia.com": ("/v1",),
    "api.cerebras.ai": ("/v1",),
    "api.perplexity.ai": ("", "/v1"),
    "generativelanguage.googleapis.com": ("/v1beta/openai",),
    "router.huggingface.co": ("/v1",),
    "api-inference.modelscope.cn": ("/v1",),
    "qianfan.baidubce.com": ("/v2",),
    "api.stepfun.com": ("/v1",),
    "api.lingyiwanwu.com": ("/v1",),
    "api.baichuan-ai.com": ("/v1",),
    "api.hunyuan.cloud.tencent.com": ("/v1",),
    "api.deepinfra.com": ("/v1/openai",),
    "api.sambanova.ai": ("/v1",),
}
"""Documented base paths of OpenAI-compatible APIs, the advised one first."""

ANTHROPIC_ROOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "api.anthropic.com": ("",),
    "api.deepseek.com": ("/anthropic",),
    "open.bigmodel.cn": ("/api/anthropic",),
    "api.z.ai": ("/api/anthropic",),
    "api.moonshot.cn": ("/anthropic",),
    "api.moonshot.ai": ("/anthropic",),
    "api.kimi.com": ("/coding",),
    "dashscope.aliyuncs.com": ("/apps/anthropic", "/api/v2/apps/claude-code-proxy"),
    "dashscope-intl.aliyuncs.com": ("/apps/anthropic", "/api/v2/apps/claude-code-proxy"),
    "coding.dashscope.aliyuncs.com": ("/apps/anthropic",),
    "ark.cn-beijing.volces.com": ("/api/coding", "/api/compatible"),
    "openrouter.ai": ("/api",),
    "api.minimaxi.com": ("/anthropic",),
    "api.minimax.io": ("/anthropic",),
}
"""Documented roots of Anthropic-compatible APIs, to which clients append /v1/messages."""

CHAT_ONLY: Final = frozenset(
    (
        *("api.deepseek.com", "open.bigmodel.cn", "api.z.ai", "api.moonshot.cn", "api.moonshot.ai"),
        *("api.siliconflow.cn", "api.siliconflow.com", "api.mistral.ai", "api.cerebras.ai", "api.minimax.io"),
    )
)
"""Hosts that publish chat completions and no /responses."""

DOCUMENT_HOSTS: Final = frozenset(
    (
        *("platform.openai.com", "chat.openai.com", "chatgpt.com", "console.anthropic.com", "claude.ai"),
        *("platform.deepseek.com", "chat.deepseek.com", "platform.moonshot.cn", "platform.moonshot.ai"),
        *("console.groq.com", "bailian.console.aliyun.com", "cloud.siliconflow.cn", "bigmodel.cn"),
        *("www.bigmodel.cn", "chat.qwen.ai", "kimi.com", "www.kimi.com", "console.volcengine.com", "z.ai"),
        *("huggingface.co", "build.nvidia.com", "aistudio.google.com", "openai.com", "github.com"),
    )
)
"""Hosts of consoles, chats and documentation, where a web page answers."""

KEY_VENDORS: Final[tuple[tuple[str, str], ...]] = (
    ("sk-ant-", "anthropic"),
    ("sk-or-", "openrouter"),
    ("sk-proj-", "openai"),
    ("sk-svcacct-", "openai"),
    ("sk-kimi-", "kimi"),
    ("sk-sp-", "dashscope"),
    ("gsk_", "groq"),
    ("xai-", "xai"),
    ("nvapi-", "nvidia"),
    ("AIza", "google"),
    ("hf_", "huggingface"),
    ("pplx-", "perplexity"),
    ("csk-", "cerebras"),
    ("fw_", "fireworks"),
    ("ms-", "modelscope"),
)
"""Beginnings that one vendor alone prints; "sk-" is used by a dozen and proves nothing."""

SITES: Final[Mapping[str, tuple[str, ...]]] = {
    "moonshot": ("api.moonshot.ai", "api.moonshot.cn"),
    "minimax": ("api.minimax.io", "api.minimaxi.com"),
    "dashscope": ("dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com"),
    "zai": ("api.z.ai", "open.bigmodel.cn"),
    "siliconflow": ("api.siliconflow.com", "api.siliconflow.cn"),
    "volcengine": ("ark.cn-beijing.volces.com", "ark.ap-southeast.bytepluses.com"),
}
"""Vendors with separate sites, by the prefix of their model ids: the site that litellm calls, the other."""

PORTS: Final[Mapping[int, str]] = {
    11434: "Ollama",
    1234: "LM Studio",
    8000: "vLLM",
    30000: "SGLang",
    4000: "a litellm proxy",
    12434: "Docker Model Runner",
    8080: "llama.cpp",
}
"""The ports that local servers listen on unless told otherwise."""


class Plan:
    """A subscription with its own root: hosts it concerns, the general roots, the plan's root."""

    def __init__(self, vendor: str, hosts: tuple[str, ...], root: str, prefixes: tuple[str, ...]) -> None:
        self.vendor = vendor
        self.hosts = hosts
        self.root = root
        self.prefixes = prefixes


PLANS: Final = (
    Plan(
        "Zhipu", ("open.bigmodel.cn", "api.z.ai"), "/api/coding/paas/v4", ("zai", "zhipu", "zhipuai", "glm")
    ),
    Plan("Volcengine", ("ark.cn-beijing.volces.com",), "/api/coding/v3", ("volcengine", "ark")),
    Plan(
        "DashScope",
        ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        "https://coding.dashscope.aliyuncs.com/v1",
        ("dashscope",),
    ),
    Plan("Kimi", ("api.moonshot.cn", "api.moonshot.ai"), "https://api.kimi.com/coding/v1", ("moonshot",)),
)


def key_vendor(key: str) -> tuple[str, str]:
    """Return the public beginning of a key and its vendor, both empty where the beginning proves nothing."""
    return next(((start, vendor) for start, vendor in KEY_VENDORS if key.startswith(start)), ("", ""))
