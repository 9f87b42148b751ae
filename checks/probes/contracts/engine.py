"""What an inference server tells of itself without being asked to infer: state, window, open routes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address
from typing import Final

from checks.addresses import models_url, root_of
from checks.egress import Exchange
from checks.outcome import Rung, Status, Step
from checks.probes.asking import status_of
from checks.probes.chat import lane_evidence
from checks.probes.completion import read_json
from checks.probes.contracts.question import Terms, look
from checks.reason import Reason
from checks.spec import EndpointKind

MAX_SHOWN: Final = 40
MAX_ROUTES: Final = 6
FIRST_WITH_IDS: Final = (0, 10, 2)  # vLLM; older ones pass over `return_token_ids` in silence

_NUMBERS: Final = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")

# Routes that change a running engine; they are looked up in the server's own list and never called.
STEERING: Final = (
    "/sleep",
    "/wake_up",
    "/pause",
    "/resume",
    "/collective_rpc",
    "/init_weight_transfer_engine",
    "/start_weight_update",
    "/update_weights",
    "/finish_weight_update",
    "/abort_requests",
    "/reset_prefix_cache",
    "/release_memory_occupation",
    "/resume_memory_occupation",
    "/pause_generation",
    "/continue_generation",
    "/update_weights_from_disk",
    "/update_weights_from_tensor",
    "/update_weights_from_distributed",
    "/update_weights_from_ipc",
    "/flush_cache",
)


async def engine(terms: Terms) -> Step:
    """Say version, sleep and pause. An engine that went to sleep since the chat is busy, not broken."""
    version, sleeping, paused = await asyncio.gather(
        served_version(terms), _flag(terms, "is_sleeping"), _flag(terms, "is_paused")
    )
    say = {"version": version, "sleeping": sleeping, "paused": paused}
    if is_too_old(version):
        say["token_ids_since"] = ".".join(map(str, FIRST_WITH_IDS))
    step = Step(Rung.CHANNEL, "engine", Status.OK, say={name: text for name, text in say.items() if text})
    if "yes" not in (sleeping, paused):
        return step
    reason = Reason.ENGINE_ASLEEP
    return replace(step, status=status_of(reason), reason=reason, candidates=(reason,))


async def served_version(terms: Terms) -> str:
    """Return what `/version` says; empty where nothing does."""
    told = _object(await look(terms, f"{root_of(terms.spec.base_url)}/version")).get("version")
    return told[:MAX_SHOWN] if isinstance(told, str) else ""


def is_too_old(version: str) -> bool:
    """Tell whether a vLLM of this version has no token ids; a build without a release number may."""
    found = _NUMBERS.match(version)
    return found is not None and tuple(map(int, found.groups())) < FIRST_WITH_IDS


async def _flag(terms: Terms, name: str) -> str:
    """ "yes" or "no" as the page of that name says; empty where there is no such page."""
    told = _object(await look(terms, f"{root_of(terms.spec.base_url)}/{name}")).get(name)
    return {True: "yes", False: "no"}[told] if isinstance(told, bool) else ""


async def routes(terms: Terms) -> Step:
    """Look for routes that steer the engine; open to a network they are a finding.

    vLLM's development mode asks no key for them, even where one is set. A litellm proxy has none, and
    stands still for seconds while it writes its list of routes: it is not asked.
    """
    if terms.spec.kind is EndpointKind.LITELLM:
        return open_routes((), "")
    page = await look(terms, f"{root_of(terms.spec.base_url)}/openapi.json")
    listed = _object(page).get("paths")
    found = [name for name in STEERING if isinstance(listed, Mapping) and name in listed]
    if not found and await _flag(terms, "is_sleeping"):
        found = ["/is_sleeping"]
    return replace(open_routes(found, page.peer), duration_ms=page.timings.total_ms)


def open_routes(found: Sequence[str], peer: str) -> Step:
    """Return the step of these routes, reached at `peer` ("address:port"): a finding beyond loopback."""
    say = {"routes": ", ".join(found[:MAX_ROUTES]), "count": str(len(found)), "peer": peer}
    step = Step(Rung.CHANNEL, "routes", Status.OK, say={name: text for name, text in say.items() if text})
    if not found or _is_loopback(peer):
        return step
    reason = Reason.DEVELOPMENT_ROUTES_OPEN
    return replace(step, status=Status.DEGRADED, reason=reason, candidates=(reason,))


async def window(terms: Terms) -> Step:
    """Compare the server's window with the lengths that training will ask for: prompt and response must
    fit together, or the run breaks at its first long prompt."""
    spec = terms.spec
    got = await look(terms, models_url(spec.base_url), with_key=True)
    entries = _object(got).get("data")
    named = [one for one in entries if isinstance(one, Mapping)] if isinstance(entries, list) else []
    own = next((one for one in named if one.get("id") == spec.model), {})
    room = own.get("max_model_len")
    wanted = (spec.prompt_length or 0) + (spec.response_length or 0)
    listed = (
        ("yes" if own else "no") if isinstance(entries, list) else ""
    )  # a list that never came tells nothing
    say = {"listed": listed, "max_model_len": str(room or ""), "needed": str(wanted or "")}
    step = Step(
        Rung.CHANNEL,
        "window",
        Status.OK,
        say={name: text for name, text in say.items() if text},
        evidence=lane_evidence(spec, got, {}, {}),
        duration_ms=got.timings.total_ms,
    )
    if not isinstance(room, int) or isinstance(room, bool) or wanted <= room:
        return step
    reason = Reason.CONTEXT_LENGTH_EXCEEDED
    return replace(step, status=Status.DOWN, reason=reason, candidates=(reason,))


def _object(got: Exchange) -> Mapping[str, object]:
    body = read_json(got)
    return body if isinstance(body, Mapping) else {}


def _is_loopback(peer: str) -> bool:
    """Whether the far end, as it was dialled, is this machine; an unread one is taken for it."""
    host = peer.rpartition(":")[0].strip("[]")
    try:
        address = ip_address(host)
    except ValueError:
        return True
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
