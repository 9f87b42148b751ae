"""What to ask of whom, and by when: the frozen questions the engine takes."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import NoReturn

from checks.outcome import Rung


class Masked:
    """A secret that no string, log line, traceback or pickle shows.

    The one way to the value is `reveal()`, called where the bytes leave for the wire or a file.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._value

    def __repr__(self) -> str:
        return "[masked]"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Masked):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Masked, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("A masked value is never pickled.")


class LaneKind(StrEnum):
    """The three places an Agent-Lightning project calls a model from."""

    AGENT = "agent"
    REPLAY = "replay"
    ROLLOUT = "rollout"


class EndpointKind(StrEnum):
    """The software or vendor family that answers behind a base URL."""

    OPENAI = "openai"
    VLLM = "vllm"
    SGLANG = "sglang"
    LITELLM = "litellm-proxy"
    GATEWAY = "agl-gateway"
    OLLAMA = "ollama"
    AZURE = "azure"


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Which loopback and private networks the operator allows; the public internet always is.

    Link-local and cloud metadata addresses are refused whatever is listed here (rule S2).
    """

    allowed: tuple[IPv4Network | IPv6Network, ...] = ()


class Where(StrEnum):
    """From where the first two rungs are climbed."""

    WORKER = "worker"
    HOST = "host"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class HostSpec:
    """A GPU machine reached by SSH.

    `host_keys` are the public host keys that a lead accepted, one OpenSSH line each ("ssh-ed25519 AAAA…");
    without one the host is never logged in to. `private_key` is an OpenSSH private key. `jump` is the host
    to go through. `python` runs our programs and, unless a recipe names another, the team's; `activate` is
    a lead's shell line that prepares the team's environment ("source /opt/agl/bin/activate").
    """

    code: str
    name: str
    address: str
    user: str
    port: int = 22
    host_keys: tuple[str, ...] = ()
    private_key: Masked | None = None
    jump: HostSpec | None = None
    python: str = "python3"
    workdir: str = ""
    activate: str = ""
    egress: EgressPolicy = field(default_factory=EgressPolicy)


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """A real client library to load the bundle with: "openai", "langchain-openai" or "litellm". `python`
    is the interpreter of its environment beside the worker; empty where that is not installed. An empty
    `version` is the newest that this Preflight knows."""

    name: str
    version: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a project is run on its host, and how far a dry run of it may go.

    `workdir`, `python` and `activate` replace the host's own where they are not empty. `agent` is
    "package.module:Class" (or "package.module.Class"); `question` goes to it under the name `question_field`.
    `prompts` times `samples` completions are drawn from a rollout endpoint. `even_when_busy` lets a dry run
    go through a gateway that other rollouts use. `command` is the team's own, as arguments; `gpus` the
    indices it may use. Deadlines are in seconds, `output_cap` in bytes. `model_path` is a folder on the host;
    `tensor_parallel` the number of GPUs one replica spans.
    """

    generation: str = "1.x"
    workdir: str = ""
    python: str = ""
    activate: str = ""
    agent: str = ""
    question: str = ""
    question_field: str = "question"
    agent_deadline: float = 120.0
    prompts: int = 2
    samples: int = 2
    even_when_busy: bool = False
    command: tuple[str, ...] = ()
    command_deadline: float = 600.0
    output_cap: int = 262_144
    gpus: tuple[int, ...] = ()
    model_path: str = ""
    tensor_parallel: int = 1


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One climb of the ladder for one lane.

    `base_url` is normalised (`checks.addresses`). `key` is None where the endpoint needs none.
    `deadline` is in seconds and covers the whole climb. `latency_limit_ms` turns a slow pass into
    "degraded"; None means no limit. `token_budget` is what this climb may still spend, None for no
    cap. `token_parameter` is the name the model was last seen to take ("max_tokens" or
    "max_completion_tokens"); None lets the probe find out. `ca_file` adds a private CA's PEM file.
    `negative` also asks without the key and with a wrong one, where a key is set; `repeat` asks a
    failing chat once more where the failure may pass by itself. Both cost requests. `contract` asks,
    after a chat that passed, for what this kind of lane needs beyond it; `prompt_length` and
    `response_length` are what training will ask for, in tokens, None where the profile does not say.

    `place` names the workers' zone; `where` says from where rungs 1 and 2 are climbed. `bundle` is the file
    that the team would export for a shell, with its keys: rungs 3 to 5 load it. `clients` are the libraries
    of rung 3; `recipe` is None for a profile without one. What the climb starts elsewhere bears `id` as mark.
    `secrets` are all further values that nothing may show: the keys in the bundle, the host's private key.
    """

    id: str
    base_url: str
    model: str
    key: Masked | None = None
    lane: LaneKind = LaneKind.AGENT
    kind: EndpointKind = EndpointKind.OPENAI
    rungs: tuple[Rung, ...] = (Rung.NETWORK, Rung.CHANNEL)
    deadline: float = 30.0
    latency_limit_ms: int | None = None
    token_budget: int | None = None
    token_parameter: str | None = None
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    ca_file: str | None = None
    negative: bool = False
    repeat: bool = False
    contract: bool = False
    prompt_length: int | None = None
    response_length: int | None = None
    place: str = "panel"
    where: Where = Where.WORKER
    host: HostSpec | None = None
    bundle: Masked | None = None
    clients: tuple[ClientSpec, ...] = ()
    recipe: Recipe | None = None
    secrets: tuple[Masked, ...] = ()
