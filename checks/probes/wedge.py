"""A silent engine: asleep for training, stuck, or only slow; told by what its server says of itself."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from checks.addresses import root_of
from checks.egress import Exchange, exchange
from checks.outcome import Evidence, FailureKind, Phase, Rung, Status, Step
from checks.probes.asking import Ask
from checks.probes.completion import read_json
from checks.spec import EndpointKind, LaneSpec

READ_SECONDS: Final = 2.0
WATCH_SECONDS: Final = 1.0  # between two readings where none was taken while the chat was under way
WATCH_SHARE: Final = 0.5  # of the time left, when that is less
LONGEST_LINE: Final = 2_000
MAX_LINES: Final = 20_000  # a vLLM with all its histograms writes some three thousand

ENGINES: Final = frozenset({EndpointKind.VLLM, EndpointKind.SGLANG})

# From vLLM 0.32 and SGLang 0.5.23. The counter of prompt tokens moves during a long prefill, too.
_RUNNING: Final = frozenset({"vllm:num_requests_running", "sglang:num_running_reqs"})
_WAITING: Final = frozenset({"vllm:num_requests_waiting", "sglang:num_queue_reqs"})
_TOKENS: Final = frozenset(
    {
        "vllm:generation_tokens_total",
        "vllm:prompt_tokens_total",
        "sglang:generation_tokens_total",
        "sglang:prompt_tokens_total",
    }
)
_SLEEP_STATE: Final = "vllm:engine_sleep_state"
_SAMPLE: Final = re.compile(r"(?P<name>(?:vllm|sglang):\w+)(?P<labels>\{.*\})? +(?P<value>[0-9.eE+-]+)")
_OWNED_BY: Final = re.compile(r'"owned_by"\s*:\s*"(?:vllm|sglang)"')

_STATUS: Final = {
    "asleep": Status.NOT_TESTABLE,
    "paused": Status.NOT_TESTABLE,
    "frozen": Status.DOWN,
    "generating": Status.OK,
    "unknown": Status.NOT_TESTABLE,
}

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a server. None stands for what it does not tell; `tokens` counts all since its start."""

    healthy: bool = False
    sleeping: bool | None = None
    paused: bool | None = None
    running: float | None = None
    waiting: float | None = None
    tokens: float | None = None
    milliseconds: float = 0.0


Readings = tuple[Reading | None, Reading | None]
"""One taken while a chat was under way, and one after it; None where none was."""


def is_silent(evidence: Evidence) -> bool:
    """Tell whether a chat was sent and waited out its time without a byte."""
    failure = evidence.failure
    if failure is None or evidence.status is not None:
        return False
    return failure.kind is FailureKind.TIMEOUT and failure.phase is Phase.WAIT


def is_engine(spec: LaneSpec, listed: Evidence | None) -> bool:
    """Tell whether a vLLM or SGLang is asked, by the lane's kind or by what its model list says."""
    return spec.kind in ENGINES or (listed is not None and _OWNED_BY.search(listed.body) is not None)


async def watched(
    spec: LaneSpec, asking: Awaitable[Answer], patience: float
) -> tuple[Answer, Reading | None]:
    """Await `asking`; where an engine has kept it waiting for `patience` seconds, take a reading beside it.

    That reading is worth most: a request of ours is known to be under way. It is None for an answer in
    time and for what is no engine.
    """
    if spec.kind not in ENGINES:
        return await asking, None
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(_read_after(spec, patience))
        answer = await asking
        reading.cancel()
    return answer, None if reading.cancelled() else reading.result()


async def read_again(ask: Ask, early: Reading | None) -> Reading | None:
    """Take the reading that follows an early one; None where there was none."""
    return None if early is None else await read(ask.spec, ask.seconds(READ_SECONDS))


async def look(ask: Ask, readings: Readings, listed: bool) -> Step:
    """Say as a step what state the engine is in, by the readings (two are taken now where none were):
    asleep, paused, frozen, generating or unknown.

    `listed` says that the model list was answered. No key is sent: these pages ask for none.
    """
    first, last = readings
    in_flight = first is not None
    if first is None or last is None:
        first = last = await read(ask.spec, ask.seconds(READ_SECONDS))
        if not _resting(first):
            await asyncio.sleep(min(WATCH_SECONDS, ask.seconds() * WATCH_SHARE))
            last = await read(ask.spec, ask.seconds(READ_SECONDS))
    state = _state(first, last, in_flight=in_flight, listed=listed)
    counted = {"running": last.running, "waiting": last.waiting, "tokens": last.tokens}
    say = {name: f"{value:.0f}" for name, value in counted.items() if value is not None}
    spent = last.milliseconds + (first.milliseconds if last is not first else 0.0)
    return Step(Rung.CHANNEL, "wedge", _STATUS[state], say={"engine": state, **say}, duration_ms=spent)


async def read(spec: LaneSpec, seconds: float) -> Reading:
    """Take one reading within `seconds`; never raises but on cancellation."""
    health, metrics, sleeping, paused = await asyncio.gather(
        *(_get(spec, page, seconds) for page in ("health", "metrics", "is_sleeping", "is_paused"))
    )
    awake, counted = _count(metrics)
    is_sleeping, is_paused = _flag(sleeping, "is_sleeping"), _flag(paused, "is_paused")
    if is_paused and awake:  # vLLM 0.32 calls a paused engine sleeping too; its gauge tells them apart
        is_sleeping = False
    return replace(
        counted,
        healthy=health.status == 200,
        sleeping=True if awake is False else is_sleeping,
        paused=is_paused,
        milliseconds=max(page.timings.total_ms for page in (health, metrics, sleeping, paused)),
    )


async def _read_after(spec: LaneSpec, patience: float) -> Reading:
    await asyncio.sleep(patience)
    return await read(spec, READ_SECONDS)


async def _get(spec: LaneSpec, page: str, seconds: float) -> Exchange:
    url = f"{root_of(spec.base_url)}/{page}"
    return await exchange("GET", url, policy=spec.egress, deadline=seconds, ca_file=spec.ca_file)


def _resting(reading: Reading) -> bool:
    return reading.sleeping is True or reading.paused is True


def _state(first: Reading, last: Reading, *, in_flight: bool, listed: bool) -> str:
    """Counters that stand still prove something only while a request is known to be under way."""
    for reading in (last, first):
        if _resting(reading):
            return "asleep" if reading.sleeping else "paused"
    if not (listed or last.healthy) or first.tokens is None or last.tokens is None:
        return "unknown"
    if last.tokens > first.tokens:
        return "generating"
    busy = min((first.running or 0) + (first.waiting or 0), (last.running or 0) + (last.waiting or 0)) > 0
    return "frozen" if last.tokens == first.tokens and (in_flight or busy) else "unknown"


def _flag(page: Exchange, name: str) -> bool | None:
    body = read_json(page)
    value = body.get(name) if isinstance(body, Mapping) else None
    return value if isinstance(value, bool) else None


def _count(page: Exchange) -> tuple[bool | None, Reading]:
    """Whether any engine is awake, None where that is not told, and the counters summed over engines."""
    sums: dict[str, float] = {}
    awake: bool | None = None
    lines = page.body.splitlines()[:MAX_LINES] if page.status == 200 else []
    for line in lines:
        sample = _SAMPLE.match(line[:LONGEST_LINE].decode("utf-8", "replace"))
        value = _number(sample["value"]) if sample else None
        if sample is None or value is None:
            continue
        if sample["name"] == _SLEEP_STATE and 'sleep_state="awake"' in (sample["labels"] or ""):
            awake = bool(awake) or value > 0
        for kind, names in (("running", _RUNNING), ("waiting", _WAITING), ("tokens", _TOKENS)):
            if sample["name"] in names:
                sums[kind] = sums.get(kind, 0.0) + value
    return awake, Reading(running=sums.get("running"), waiting=sums.get("waiting"), tokens=sums.get("tokens"))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
