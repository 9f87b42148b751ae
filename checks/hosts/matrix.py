"""Which versions of Agent-Lightning, verl, vLLM and their libraries are known to work together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from checks.outcome import Status

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """A version that does not go with the rest. `found` is "verl 0.9.1"; `wanted` what works, in the words
    of a requirement ("verl==0.8.0"). `DOWN` is known not to work, `DEGRADED` not known to work."""

    status: Status
    found: str
    wanted: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """In a generation ("" is both), `package` from `low` up to but not including `high` clashes. A variable
    named `unless` that is set lifts the rule."""

    generation: str
    package: str
    low: Numbers
    high: Numbers
    status: Status
    wanted: str
    unless: str = ""


_END: Final[Numbers] = (1 << 30,)
_KEYLESS: Final = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"

# Measured and read in source for agentlightning 0.3.0 and 1.0.2 (requirements, import errors, spans lost,
# proxies that refuse to start), and from threads #44, #589 of microsoft/agent-lightning.
_RULES: Final = (
    _Rule("1.x", "python", (0,), (3, 12), Status.DOWN, "python>=3.12"),
    _Rule("1.x", "agentlightning", (0,), (1,), Status.DOWN, "agentlightning>=1"),
    _Rule("0.x", "agentlightning", (1,), _END, Status.DOWN, "agentlightning<1"),
    _Rule("1.x", "verl", (0, 9), _END, Status.DOWN, "verl==0.8.0"),
    _Rule("1.x", "vllm", (0,), (0, 9), Status.DOWN, "vllm==0.12.0"),
    _Rule("1.x", "vllm", (0, 9), (0, 10, 2), Status.DOWN, "vllm>=0.10.2"),  # no token ids before
    _Rule("0.x", "python", (0,), (3, 10), Status.DOWN, "python>=3.10"),
    _Rule("0.x", "vllm", (0, 11, 1), (0, 11, 3), Status.DOWN, "vllm==0.10.2"),
    _Rule("0.x", "vllm", (0, 12), (0, 12, 1), Status.DOWN, "vllm==0.10.2"),
    _Rule("0.x", "vllm", (0,), (0, 10, 2), Status.DEGRADED, "vllm==0.10.2"),  # ids only by `agl vllm`
    _Rule("0.x", "litellm", (1, 104), _END, Status.DOWN, "litellm[proxy]<1.104", unless=_KEYLESS),
    _Rule("0.x", "opentelemetry-exporter-otlp", (1, 42, 2), _END, Status.DOWN, "opentelemetry-*<=1.42.1"),
    _Rule("0.x", "opentelemetry-sdk", (1, 42, 2), _END, Status.DOWN, "opentelemetry-*<=1.42.1"),
    _Rule("0.x", "langgraph", (1,), _END, Status.DEGRADED, "langgraph<1"),
    _Rule("0.x", "langchain", (1,), _END, Status.DEGRADED, "langchain<1"),
)
# Sets that were seen to work: the pins of agent-lightning's own documentation, by generation.
_GOOD: Final[Mapping[str, tuple[Mapping[str, str], ...]]] = {
    "1.x": ({"verl": "0.7.1", "vllm": "0.12.0"}, {"verl": "0.8.0", "vllm": "0.20.2"}),
    "0.x": ({"verl": "0.5.0", "vllm": "0.10.2", "torch": "2.8.0"},),
}


def clashes(
    versions: Mapping[str, str], generation: str, python: str, variables: Mapping[str, str] | None = None
) -> list[Clash]:
    """Return what does not go together, the known not to work first.

    `versions` are those of an environment by package, `python` its Python's, `variables` its environment.
    An empty `generation` is taken from the agentlightning that is installed; without either nothing clashes.
    """
    generation = generation or generation_of(versions.get("agentlightning", ""))
    have = {**versions, "python": python}
    broken = [
        Clash(rule.status, f"{rule.package} {have[rule.package]}", rule.wanted)
        for rule in _RULES
        if rule.generation == generation and _breaks(rule, have, variables or {})
    ]
    unknown = [] if any(_names_set(clash) for clash in broken) else _unknown_set(versions, generation)
    return sorted(broken + unknown, key=lambda clash: clash.status is not Status.DOWN)


def generation_of(version: str) -> str:
    """Return "0.x" or "1.x" for a version of agentlightning; "" for none."""
    numbers = _numbers(version)
    return "" if not numbers else "1.x" if numbers[0] >= 1 else "0.x"


def _breaks(rule: _Rule, have: Mapping[str, str], variables: Mapping[str, str]) -> bool:
    numbers = _numbers(have.get(rule.package, ""))
    lifted = rule.unless and variables.get(rule.unless, "").lower() in ("1", "true", "yes", "on")
    return bool(numbers) and rule.low <= numbers < rule.high and not lifted


def _names_set(clash: Clash) -> bool:
    return clash.found.split()[0] in ("verl", "vllm", "torch")


def _unknown_set(versions: Mapping[str, str], generation: str) -> list[Clash]:
    """Say that verl with this vLLM is no set that was seen to work; where either is missing, nothing."""
    sets = _GOOD.get(generation, ())
    if not sets or "verl" not in versions or "vllm" not in versions:
        return []
    if any(all(_same(versions.get(name, good[name]), good[name]) for name in good) for good in sets):
        return []
    found = ", ".join(f"{name} {versions[name]}" for name in ("verl", "vllm", "torch") if name in versions)
    wanted = " / ".join(" ".join(f"{name}=={good[name]}" for name in good) for good in sets)
    return [Clash(Status.DEGRADED, found, wanted)]


def _same(version: str, good: str) -> bool:
    return _numbers(version) == _numbers(good)


def _numbers(version: str) -> Numbers:
    """Return the release of a version as numbers ("0.12.0+cu129" is 0, 12), without zeros at the end."""
    match = re.match(r"\d{1,9}(?:\.\d{1,9}){0,5}", version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
