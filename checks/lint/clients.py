"""Who uses the values: what each client appends to a base URL, and which variables it reads (measured)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Speech(StrEnum):
    """Which API a client speaks, and so what it appends to its base URL."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"
    AZURE = "azure"
    OTHER = "other"


class Through(StrEnum):
    """Which library carries a client's requests, and so which proxy settings it understands."""

    HTTPX = "httpx"
    CURL = "curl"
    FETCH = "fetch"


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `bases` and `keys` are the variables that it reads, the winning one first; empty where it
    takes its values as arguments. `adds_version`: it appends the version segment itself. `prefixed`: its
    model ids begin with a provider."""

    name: str
    speech: Speech = Speech.OPENAI
    bases: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    adds_version: bool = False
    prefixed: bool = False
    through: Through = Through.HTTPX


_BOTH: Final = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_SDK: Final = Client("openai", bases=("OPENAI_BASE_URL",), keys=("OPENAI_API_KEY",))
_ADDING: Final = Client("appends-v1", adds_version=True)

_ALL: Final = (
    _SDK,
    replace(_SDK, name="httpx"),
    replace(_SDK, name="openai-agents"),
    replace(_SDK, name="pydantic-ai"),
    replace(_SDK, name="autogen"),
    replace(_SDK, name="smolagents"),
    replace(_SDK, name="instructor"),
    replace(_SDK, name="langchain", bases=_BOTH[::-1]),
    replace(_SDK, name="litellm", bases=_BOTH, prefixed=True),
    replace(_SDK, name="litellm-proxy", bases=_BOTH, prefixed=True),
    replace(_SDK, name="dspy", bases=_BOTH, prefixed=True),
    replace(_SDK, name="llama-index", bases=("OPENAI_API_BASE",)),
    replace(_SDK, name="node-openai", through=Through.FETCH),
    replace(_SDK, name="ai-sdk", through=Through.FETCH),
    replace(_SDK, name="codex", bases=("OPENAI_BASE_URL",)),
    Client("curl", through=Through.CURL),
    Client("agent-lightning", bases=_BOTH),
    Client("agl-gateway"),
    Client("verl"),
    Client("anthropic", Speech.ANTHROPIC, ("ANTHROPIC_BASE_URL",), ("ANTHROPIC_API_KEY",), adds_version=True),
    Client(
        "claude-code",
        Speech.ANTHROPIC,
        ("ANTHROPIC_BASE_URL",),
        ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"),
        adds_version=True,
        through=Through.FETCH,
    ),
    Client("ollama", Speech.OLLAMA, ("OLLAMA_HOST",)),
    Client("azure", Speech.AZURE, ("AZURE_OPENAI_ENDPOINT",), ("AZURE_OPENAI_API_KEY",)),
    _ADDING,
    replace(_ADDING, name="nextchat"),
    replace(_ADDING, name="one-api"),
    replace(_ADDING, name="new-api"),
)
CLIENTS: Final[Mapping[str, Client]] = {client.name: client for client in _ALL}

IMAGES: Final[Mapping[str, str]] = {
    "nextchat": "nextchat",
    "chatgpt-next-web": "nextchat",
    "one-api": "one-api",
    "new-api": "new-api",
    "litellm": "litellm-proxy",
}
"""Clients told by a word in the name of their container image."""

OWN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "open-webui": ("OPENAI_API_BASE_URL", "OPENAI_API_BASE_URLS"),
    "dify": ("OPENAI_API_BASE_URL",),
}
"""Images that read variables which no client library reads."""
