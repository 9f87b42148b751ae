"""The team's own command on the GPU host: run once under a deadline, judged by what it printed and left.

An exit code decides nothing good: an Agent-Lightning 0.x example ends with 0 while every call was refused
(measured with 0.3.0), so what the command printed is read for known failures either way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from checks.hosts import GroundLost
from checks.outcome import Evidence, Failure, FailureKind, Rung, Status, Step
from checks.probes.asking import Ask
from checks.reason import Reason
from checks.spec import HostSpec, Recipe
from checks.verdict.pasted import causes_of

PROGRAM: Final = "command"
MARGIN_SECONDS: Final = 30.0  # for ending a stubborn command and reading the GPUs once more
LEAST_SECONDS: Final = 5.0
GPU_SLACK_MIB: Final = 64  # what a driver keeps without anybody's fault
ERROR_LINES: Final = 40
BODY_KEPT: Final = 8_192
PASSING_LAYERS: Final = frozenset({"server", "gateway", "rate", "tcp"})  # a retry may have got over it
# Lines that tell of a failure, whatever the exit code: tracebacks, SDK errors, the 0.x runner's own words.
_ERROR: Final = re.compile(
    r"traceback \(most recent call last\)|\b\w*(?:error|exception)\b\s*[:(]|error code: \d{3}"
    r"|error during agent",
    re.IGNORECASE,
)


async def command(ask: Ask) -> tuple[Step, ...]:
    """Run the recipe's command on the host; return the steps "command", "leftovers" and "gpu_memory"."""
    recipe, host = ask.spec.recipe, ask.spec.host
    if recipe is None or host is None or not recipe.command:
        return ()
    begun = monotonic()
    try:
        ground = await ask.host()
        told = await ground.run(
            PROGRAM,
            _request(ask, recipe, host),
            run=ask.spec.id,
            seconds=min(recipe.command_deadline, ask.seconds()) + MARGIN_SECONDS,
            heard=lambda event: _heard(ask, event),
        )
    except GroundLost as lost:
        return (_lost(host, lost, (monotonic() - begun) * 1000),)
    place = f"host:{host.name}"
    return (_ended(ask, recipe, told, place), *_left(told, place), *_memory(told, place))


def _request(ask: Ask, recipe: Recipe, host: HostSpec) -> dict[str, object]:
    return {
        "argv": list(recipe.command),
        "workdir": recipe.workdir or host.workdir,
        "activate": recipe.activate or host.activate,
        "bundle": ask.spec.bundle.reveal() if ask.spec.bundle else "",
        "gpus": list(recipe.gpus),
        "deadline": max(LEAST_SECONDS, min(recipe.command_deadline, ask.seconds())),
        "output_cap": recipe.output_cap,
    }


def _heard(ask: Ask, event: Mapping[str, Any]) -> None:
    if event["event"] == "output":
        ask.tell_output(str(event.get("text", "")))


def _lost(host: HostSpec, lost: GroundLost, duration_ms: float) -> Step:
    """The host, not the command, is to blame: nothing is said of the lane."""
    evidence = Evidence(method="", failure=lost.failure) if lost.failure else None
    return Step(
        Rung.ROLLOUT, "command", Status.NOT_TESTABLE, lost.reason, say=lost.say, evidence=evidence,
        duration_ms=duration_ms, place=f"host:{host.name}",
    )  # fmt: skip


def _ended(ask: Ask, recipe: Recipe, told: Mapping[str, Any], place: str) -> Step:
    tail = str(told.get("tail", ""))
    causes = causes_of("\n".join(_error_lines(tail)))
    say = {
        "program": recipe.command[0],
        "exit": _exit_in_words(told.get("exit")),
        "seconds": f"{float(told.get('seconds', 0)):.1f}",
        "deadline": f"{recipe.command_deadline:.0f}",
        "bytes": str(told.get("bytes", 0)),
        "errors": str(len(_error_lines(tail))),
    }
    status, reason = _judged(told, causes)
    named = reason not in (None, Reason.COMMAND_OVERRAN)
    failure = Failure(FailureKind.CLIENT, "\n".join(_error_lines(tail))[:BODY_KEPT]) if reason else None
    evidence = Evidence(method="", body=tail[-BODY_KEPT:], failure=failure, client=recipe.command[0])
    return Step(
        Rung.ROLLOUT, "command", status, reason, candidates=causes if named else (), say=say,
        evidence=evidence, duration_ms=float(told.get("seconds", 0)) * 1000, place=place,
    )  # fmt: skip


def _judged(told: Mapping[str, Any], causes: tuple[Reason, ...]) -> tuple[Status, Reason | None]:
    """A failure that was printed counts also where the command calls itself successful."""
    if told.get("overran"):
        return Status.DOWN, Reason.COMMAND_OVERRAN
    if told.get("exit") != 0:
        return Status.DOWN, causes[0] if causes else Reason.COMMAND_FAILED
    if not causes:
        return Status.OK, None
    return (Status.DEGRADED if causes[0].layer in PASSING_LAYERS else Status.DOWN), causes[0]


def _error_lines(tail: str) -> list[str]:
    return [line.strip()[:400] for line in tail.splitlines() if _ERROR.search(line)][-ERROR_LINES:]


def _exit_in_words(code: object) -> str:
    """A signal as the shell writes it ("SIGKILL (-9)" would need a table of the host's)."""
    return "" if code is None else str(code)


def _left(told: Mapping[str, Any], place: str) -> tuple[Step, ...]:
    """What the command started and did not end, or would not let end: ended by us, and told."""
    left = {**_strings(told.get("left")), **_strings(told.get("killed"))}
    if not left:
        return (Step(Rung.ROLLOUT, "leftovers", Status.OK, say={"count": "0"}, place=place),)
    say = {
        "count": str(len(left)),
        "killed": str(len(_strings(told.get("killed")))),
        "processes": ", ".join(f"{name} ({pid})" for pid, name in left.items())[:600],
    }
    return (Step(Rung.ROLLOUT, "leftovers", Status.DEGRADED, Reason.PROCESSES_LEFT, say=say, place=place),)


def _memory(told: Mapping[str, Any], place: str) -> tuple[Step, ...]:
    gpu = told.get("gpu")
    gpu = gpu if isinstance(gpu, Mapping) else {}
    before, peak, after = (_numbers(gpu.get(name)) for name in ("before", "peak", "after"))
    if not before:
        return ()
    say = {
        f"gpu{index}": f"{mib} → {peak.get(index, mib)} → {after.get(index, mib)} MiB"
        for index, mib in before.items()
    }
    held = {index: after.get(index, mib) - mib for index, mib in before.items()}
    worst = max(held.values())
    if worst <= GPU_SLACK_MIB:
        return (Step(Rung.ROLLOUT, "gpu_memory", Status.OK, say=say, place=place),)
    say |= {
        "held_mib": str(worst),
        "gpus": ", ".join(index for index, mib in held.items() if mib > GPU_SLACK_MIB),
    }
    return (Step(Rung.ROLLOUT, "gpu_memory", Status.DEGRADED, Reason.GPU_MEMORY_LEFT, say=say, place=place),)


def _strings(value: object) -> dict[str, str]:
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {str(key)[:12]: str(name)[:120] for key, name in list(pairs)[:40]}


def _numbers(value: object) -> dict[str, int]:
    pairs = value.items() if isinstance(value, Mapping) else ()
    return {str(key)[:4]: mib for key, mib in list(pairs)[:64] if isinstance(mib, int)}
