"""Is there a gateway, is its key right, does it pass calls on now: asked without making anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from checks.egress import Exchange
from checks.gateway_urls import leads_through_rollout
from checks.outcome import FailureKind, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step
from checks.probes.contracts import channel_under_contract
from checks.probes.gateway.door import CALL_SECONDS, Door, object_of, objects_of
from checks.probes.gateway.rollouts import PREFIX, Purpose
from checks.reason import Reason
from checks.spec import EndpointKind

OK: Final = 200
BUSY_LISTED: Final = 20  # rollouts asked for: whether there are others is the question, not how many
MAX_SHOWN: Final = 40
MAX_REASON: Final = 200


async def channel_by_kind(ask: Ask) -> Found:
    """Rung 2: of a gateway its own questions, of every other endpoint a chat and its lane's contract."""
    if ask.spec.kind is EndpointKind.GATEWAY:
        return await gateway_channel(ask)
    return await channel_under_contract(ask)


async def gateway_channel(ask: Ask) -> Found:
    """Rung 2 of a gateway: health, then its state with the lane's key and without one.

    No rollout is made. Where the base URL leads through a rollout that is still there, a chat goes through
    it too, under the lane's contract; one that is gone says nothing of the gateway.
    """
    door = Door(ask.spec)
    health = await gateway_health(ask, door)
    if health.status is not Status.OK:
        return Found((health,))
    state = await gateway_state(ask, door, Rung.CHANNEL)
    answered = state.status in (Status.OK, Status.DEGRADED)
    found = Found((health, state), latency_ms=state.duration_ms if answered else None)
    if not answered or not leads_through_rollout(ask.spec.base_url):
        return found
    through = await channel_under_contract(ask)
    chat = next((step for step in through.steps if step.name == "chat"), None)
    if chat is not None and chat.evidence is not None and _is_gone(chat):
        return replace(found, steps=(*found.steps, replace(chat, status=Status.NOT_TESTABLE, reason=None)))
    return replace(through, steps=(*found.steps, *through.steps))


def _is_gone(chat: Step) -> bool:
    """The gateway's words for a rollout that it does not have (1.0.2, and the same in 1.0.0)."""
    return chat.evidence is not None and chat.evidence.status == 404 and "Rollout" in chat.evidence.body


async def gateway_health(ask: Ask, door: Door) -> Step:
    """Ask the page that needs no key. What answers there and is no gateway is named where it is known."""
    got = await door.send("GET", "/healthz", seconds=ask.seconds(CALL_SECONDS), with_key=False)
    say = {"status": _status(got)}
    if object_of(got).get("status") == "ok":
        return Step(Rung.CHANNEL, "gateway_health", Status.OK, say=say, duration_ms=got.timings.total_ms)
    step = broken_step(Rung.CHANNEL, "gateway_health", ask.spec, door.evidence(got), say)
    stranger = await _stranger(ask, door) if got.status is not None else ""
    if not stranger:
        return step
    reason = Reason.NOT_A_GATEWAY
    return replace(
        step, status=Status.DOWN, reason=reason, candidates=(reason,), say={**step.say, "found": stranger}
    )


async def _stranger(ask: Ask, door: Door) -> str:
    """What else listens there: a 0.x store, whose dashboard answers every path, or an inference server."""
    store = await door.send("GET", "/v1/agl/health", seconds=ask.seconds(CALL_SECONDS), with_key=False)
    if object_of(store).get("status") == "ok":
        return "Agent-Lightning 0.x store"
    told = await door.send("GET", "/version", seconds=ask.seconds(CALL_SECONDS), with_key=False)
    version = object_of(told).get("version")
    return f"vLLM {version[:MAX_SHOWN]}" if isinstance(version, str) else ""


async def gateway_state(ask: Ask, door: Door, rung: Rung) -> Step:
    """Read the gateway's state: is the key right, is it paused; and does it refuse a caller without key."""
    got = await door.send("GET", "/proxy/state", seconds=ask.seconds(CALL_SECONDS))
    state = object_of(got)
    if not isinstance(state.get("paused"), bool):
        return broken_step(rung, "gateway_state", ask.spec, door.evidence(got), {"status": _status(got)})
    say = {"status": _status(got), "paused": "yes" if state["paused"] else "no", **_state_facts(state)}
    step = Step(
        rung, "gateway_state", Status.OK, say=say, evidence=door.evidence(got),
        duration_ms=got.timings.total_ms,
    )  # fmt: skip
    if state["paused"]:
        return _with(step, Status.NOT_TESTABLE, Reason.GATEWAY_PAUSED)
    if ask.spec.key and await _is_open(ask, door):
        return _with(step, Status.DEGRADED, Reason.ENDPOINT_OPEN)
    return step


async def _is_open(ask: Ask, door: Door) -> bool:
    bare = await door.send("GET", "/proxy/state", seconds=ask.seconds(CALL_SECONDS), with_key=False)
    return bare.status == OK


def _state_facts(state: Mapping[str, object]) -> dict[str, str]:
    inflight, why = state.get("inflight"), state.get("reason")
    facts = {"inflight": str(inflight) if isinstance(inflight, int) else ""}
    facts["why"] = why[:MAX_REASON] if isinstance(why, str) else ""
    return {name: text for name, text in facts.items() if text}


async def unless_busy(ask: Ask, door: Door, state: Step) -> Step:
    """Return `state`, or the same as refused because other rollouts wait or run on this gateway."""
    recipe = ask.spec.recipe
    query = f"state_in=queuing&state_in=running&limit={BUSY_LISTED}"
    got = await door.send("GET", f"/api/rollouts?{query}", seconds=ask.seconds(CALL_SECONDS))
    # A list beyond our cap holds other people's inputs: whoever has such a list is busy.
    flooded = got.failure is not None and got.failure.kind is FailureKind.TOO_LARGE
    others = [one for one in objects_of(got) if not _is_harmless(one.get("rollout_id"))]
    if not others and not flooded:
        return state
    say = {**state.say, "others": f"{BUSY_LISTED}+" if flooded else str(len(others))}
    told = replace(state, say=say)
    if recipe is not None and recipe.even_when_busy:
        return told
    return _with(told, Status.NOT_TESTABLE, Reason.GATEWAY_BUSY)


def _is_harmless(ident: object) -> bool:
    """Whether a rollout is one of Preflight's own, of whatever run: those last for seconds."""
    return isinstance(ident, str) and ident.startswith(PREFIX) and ident.endswith(tuple(Purpose))


def _with(step: Step, status: Status, reason: Reason) -> Step:
    return replace(step, status=status, reason=reason, candidates=(reason,))


def _status(got: Exchange) -> str:
    return "" if got.status is None else str(got.status)
