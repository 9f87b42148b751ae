"""The servers that can be played, by name."""

from __future__ import annotations

from checks.simulator.call import Family
from checks.simulator.families import azure, engines, gateway, litellm, local, nginx, relays, vendors

FAMILIES: dict[str, Family] = {
    "vllm": Family("/v1", ("/v1/chat/completions",), engines.vllm),
    "sglang": Family("/v1", ("/v1/chat/completions",), engines.sglang),
    "openai": Family("/v1", ("/v1/chat/completions",), vendors.openai),
    "vendor": Family("/v1", ("/v1/chat/completions",), vendors.plain),
    "deepseek": Family("", ("/chat/completions", "/v1/chat/completions"), vendors.deepseek),
    "one-api": Family("/v1", ("/v1/chat/completions",), relays.one_api),
    "new-api": Family("/v1", ("/v1/chat/completions",), relays.new_api),
    "litellm-proxy": Family("/v1", ("/v1/chat/completions", "/chat/completions"), litellm.answer),
    "ollama": Family("/v1", ("/v1/chat/completions",), local.ollama),
    "lmstudio": Family("/v1", ("/v1/chat/completions",), local.lmstudio),
    "azure": Family(
        "/openai/v1",
        ("/openai/v1/chat/completions", "/openai/deployments/*/chat/completions"),
        azure.answer,
    ),
    "agl-gateway": Family(
        f"/proxy/rollout/{gateway.READY_ROLLOUT}/attempt/0/mode/val/openai/v1",
        ("/proxy/rollout/*/attempt/*/mode/*/openai/v1/chat/completions",),
        gateway.answer,
    ),
    "nginx": Family("/v1", ("/v1/chat/completions",), nginx.answer),
}
