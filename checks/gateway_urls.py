"""Addresses of an Agent-Lightning 1.x gateway (the routes of its 1.0.2 openapi.json)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

ATTEMPT: Final = "0"  # the one attempt that 1.x makes of a rollout

_PROXIED: Final = re.compile(
    r"/proxy/rollout/[^/]+/attempt/[^/]+/mode/(?:train|val)/openai/v1(?:/(?:chat/)?completions)?/?$"
)


def gateway_root(base_url: str) -> str:
    """Return the gateway's own address: `base_url` without the path of a proxied rollout, if it has one."""
    return _PROXIED.sub("", base_url).rstrip("/")


def leads_through_rollout(base_url: str) -> bool:
    """Tell whether `base_url` is what an agent is given for one rollout, not the gateway's own address."""
    return _PROXIED.search(base_url) is not None


def proxy_path(rollout_id: str, mode: str) -> str:
    """The path of the base URL that an agent is given; `mode` is "train" or "val"."""
    return f"/proxy/rollout/{quote(rollout_id, safe='')}/attempt/{ATTEMPT}/mode/{mode}/openai/v1"


def rollout_path(rollout_id: str) -> str:
    """The path of one rollout."""
    return f"/api/rollouts/{quote(rollout_id, safe='')}"


def event_path(rollout_id: str) -> str:
    """The path that takes a rollout's events."""
    return f"{rollout_path(rollout_id)}/attempt/{ATTEMPT}/events"


def agents_chat_url(base_url: str) -> str:
    """Return what an agent calls for a chat: the gateway's address with a rollout's id, shown as "…"."""
    return f"{gateway_root(base_url)}/proxy/rollout/…/attempt/{ATTEMPT}/mode/train/openai/v1/chat/completions"
