"""What a probe is given and what it gives back.

A probe that runs a program elsewhere asks for the place: `ground = await ask.host()` (raises GroundLost,
which `lost_step` turns into a step) or `ask.worker()`; then `await ground.run("program", {…},
run=ask.spec.id, seconds=ask.seconds(60))`. The connection is the climb's: nobody closes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import ip_address
from time import monotonic
from typing import Final

from checks.egress import judge
from checks.hosts import Ground, GroundLost
from checks.outcome import Evidence, FailureKind, Rung, Status, Step, Told
from checks.probes.grounds import HOST_PREFIX, Grounds
from checks.reason import Reason
from checks.spec import EgressPolicy, LaneSpec
from checks.verdict import classify

LEAST_SECONDS: Final = 0.001

# What the endpoint is not to blame for: it could not be asked, here and now.
NOT_ASKED: Final = frozenset(
    {
        Reason.EGRESS_DENIED,
        Reason.MODEL_MISSING,
        Reason.BUDGET_SPENT,
        Reason.DEADLINE_SPENT,
        Reason.ENGINE_FAULT,
        Reason.ENGINE_ASLEEP,
        Reason.GATEWAY_PAUSED,
        Reason.GATEWAY_BUSY,
    }
)


@dataclass(frozen=True, slots=True)
class Ask:
    """One rung of one climb. `ends` is the climb's last moment on the monotonic clock; `now` the aware
    time of its start; `tokens_left` is what it may still spend, None for no cap. `heard` is told what happens
    while the rung is climbed, None where nobody listens. `grounds` are the machines where programs run;
    a probe that is asked without the ladder needs none given."""

    spec: LaneSpec
    ends: float
    now: datetime
    tokens_left: int | None = None
    heard: Callable[[Told], None] | None = None
    grounds: Grounds | None = None

    async def host(self) -> Ground:
        """Return the lane's host, its connection open. Raises GroundLost; of a lane without a host too."""
        return await self._places().host(self.seconds())

    def worker(self) -> Ground:
        """Return the worker's own machine, where programs run in a clean environment."""
        return self._places().worker()

    def _places(self) -> Grounds:
        return self.grounds or Grounds(self.spec)

    @property
    def host_place(self) -> str:
        """How steps name the host as their place; empty for a lane without one."""
        return HOST_PREFIX + self.spec.host.name if self.spec.host else ""

    def tell_output(self, text: str) -> None:
        """Pass on what a command printed, to whoever listens."""
        if self.heard is not None and text:
            self.heard(Told(self.spec.id, output=text))

    def seconds(self, at_most: float | None = None) -> float:
        """Seconds left to the climb, or `at_most` when that is less; never zero or below."""
        left = self.ends - monotonic()
        return max(LEAST_SECONDS, left if at_most is None else min(left, at_most))

    def affords(self, tokens: int) -> bool:
        """Tell whether the budget still covers an answer of that length."""
        return self.tokens_left is None or self.tokens_left >= tokens

    def after(self, tokens: int) -> Ask:
        """Return the same climb with that much less to spend."""
        return self if self.tokens_left is None else replace(self, tokens_left=self.tokens_left - tokens)


@dataclass(frozen=True, slots=True)
class Found:
    """A rung's steps in order. `latency_ms` is the time to a full answer; `token_parameter` the name of
    the length field that the model took; `offered_base_url` the base URL that answered in place of the
    lane's. None where no answer told."""

    steps: tuple[Step, ...]
    latency_ms: float | None = None
    token_parameter: str | None = None
    offered_base_url: str | None = None


Probe = Callable[[Ask], Awaitable[Found]]


def status_of(reason: Reason) -> Status:
    """Return how a step ends that has this reason."""
    return Status.NOT_TESTABLE if reason in NOT_ASKED else Status.DOWN


def lost_step(rung: Rung, name: str, lost: GroundLost, place: str) -> Step:
    """Return the step of what could not be asked since its place was lost: the lane is not to blame."""
    evidence = Evidence(method="", failure=lost.failure) if lost.failure else None
    return Step(rung, name, Status.NOT_TESTABLE, lost.reason, say=lost.say, evidence=evidence, place=place)


def broken_step(
    rung: Rung, name: str, spec: LaneSpec, evidence: Evidence, say: dict[str, str], tokens: int = 0
) -> Step:
    """Return the step that `evidence` of a failure makes, with the verdict on it."""
    verdict = classify(evidence)
    return Step(
        rung=rung,
        name=name,
        status=status_of(verdict.reason),
        reason=verdict.reason,
        candidates=verdict.candidates,
        say={**say, **_refusal(evidence, spec.egress), **verdict.facts},
        evidence=evidence,
        duration_ms=evidence.timings.total_ms,
        tokens=tokens,
    )


def _refusal(evidence: Evidence, policy: EgressPolicy) -> dict[str, str]:
    """The address that the policy refused and by which rule, for a sentence in the reader's language."""
    if evidence.failure is None or evidence.failure.kind is not FailureKind.DENIED:
        return {}
    denials = (judge(ip_address(address), policy) for address in evidence.addresses)
    denial = next((denial for denial in denials if denial is not None), None)
    return {"address": denial.address, "rule": denial.rule} if denial else {}
