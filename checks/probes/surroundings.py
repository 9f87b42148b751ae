"""The host's surroundings against the bundle: stale `.env` files, variables set otherwise, proxies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import wraps
from secrets import token_hex
from typing import Any, Final

from checks.addresses import host_of
from checks.dialects import READERS, Unreadable
from checks.hostnames import is_private
from checks.hosts import GroundLost
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask, Found, Probe, lost_step
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.telling import names_a_secret

PROGRAM: Final = "surroundings"
SECONDS: Final = 15.0
MAX_SHOWN: Final = 300
MARK_DIGITS: Final = 12
# What the bundle sets and no client mistakes for a base URL, a model or a key.
_BESIDE: Final = frozenset(
    {"NO_PROXY", "no_proxy", "OPENAI_AGENTS_DISABLE_TRACING", "LITELLM_LOCAL_MODEL_COST_MAP"}
)


def in_surroundings(probe: Probe) -> Probe:
    """Return `probe` with a look at the host's surroundings before it, where the lane has a host."""

    @wraps(probe)
    async def look_first(ask: Ask) -> Found:
        seen = await surroundings(ask)
        found = await probe(ask)
        return replace(found, steps=(*seen, *found.steps))

    return look_first


async def surroundings(ask: Ask) -> tuple[Step, ...]:
    """Compare what the team's process on the host would find with the bundle.

    Steps "environment" and "proxies" inform; "env_file" is there only where a file disagrees: what loads that
    file instead of the bundle asks something else than what was checked, so another key or address breaks the
    rung, and another model degrades it. Empty without a host and without a bundle.
    """
    spec = ask.spec
    wanted = bundle_values(spec)
    if spec.host is None or not wanted:
        return ()
    salt = token_hex(16)
    try:
        ground = await ask.host()
        told = await ground.run(
            PROGRAM,
            _request(spec, wanted, salt),
            run=f"{spec.id}-{token_hex(6)}",
            seconds=ask.seconds(SECONDS),
        )
    except GroundLost as lost:
        return (lost_step(Rung.SDK, "environment", lost, ask.host_place),)
    expected = {name: _described(name, value, salt) for name, value in wanted.items()}
    return tuple(_steps(spec, told, expected, ask.host_place))


def bundle_values(spec: LaneSpec) -> dict[str, str]:
    """Return the bundle's variables that lead a client: base URLs, models, keys. Empty without a bundle."""
    try:
        entries = READERS["sh"](spec.bundle.reveal()) if spec.bundle else ()
    except Unreadable:
        return {}
    return {entry.name: entry.text() for entry in entries if entry.name not in _BESIDE and entry.text()}


def _request(spec: LaneSpec, wanted: Mapping[str, str], salt: str) -> dict[str, object]:
    recipe, host = spec.recipe, spec.host
    entries = READERS["sh"](spec.bundle.reveal()) if spec.bundle else ()
    return {
        "names": list(wanted),
        "secret": [name for name in wanted if names_a_secret(name)],
        "salt": salt,
        "url": spec.base_url,
        "no_proxy": next((entry.text() for entry in entries if entry.name.upper() == "NO_PROXY"), ""),
        "activate": (recipe and recipe.activate) or (host.activate if host else ""),
        "workdir": (recipe and recipe.workdir) or (host.workdir if host else ""),
    }


def _described(name: str, value: str, salt: str) -> str:
    """What the program tells of this value, where it finds the same."""
    if not names_a_secret(name):
        return value[:MAX_SHOWN].rstrip("/")
    return hashlib.sha256((salt + value).encode()).hexdigest()[:MARK_DIGITS]


def _steps(
    spec: LaneSpec, told: Mapping[str, Any], expected: Mapping[str, str], place: str
) -> Iterator[Step]:
    for name, entries in _mapping(told.get("files")).items():
        differing = _differing(_mapping(entries), expected)
        if differing:
            say = {"file": name[:MAX_SHOWN], **_shown(differing, _mapping(entries))}
            yield Step(Rung.SDK, "env_file", _weight(differing), Reason.ENV_FILE_STALE, say=say, place=place)
    found = _mapping(told.get("environment"))
    shadowing = _differing(found, expected)
    status, reason = (Status.DEGRADED, Reason.ENV_SHADOWED) if shadowing else (Status.OK, None)
    yield Step(Rung.SDK, "environment", status, reason, say=_shown(shadowing, found), place=place)
    yield _proxies(spec, told, place)


def _differing(found: Mapping[str, Any], expected: Mapping[str, str]) -> list[str]:
    return [name for name in expected if name in found and _told(found[name]) != expected[name]]


def _weight(differing: list[str]) -> Status:
    """Another key or another address is another endpoint; another model alone may be meant."""
    elsewhere = any(names_a_secret(name) or "BASE" in name for name in differing)
    return Status.DOWN if elsewhere else Status.DEGRADED


def _told(entry: Any) -> str:
    known = _mapping(entry)
    return str(known.get("mark") or known.get("value", ""))[:MAX_SHOWN].rstrip("/")


def _shown(names: list[str], found: Mapping[str, Any]) -> dict[str, str]:
    """The variables that differ, and the values of those that are no keys."""
    values = [f"{name}={_told(found[name])}" for name in names if not names_a_secret(name)]
    shown = {"names": ", ".join(names), "values": ", ".join(values)}
    return {name: text[:MAX_SHOWN] for name, text in shown.items() if text}


def _proxies(spec: LaneSpec, told: Mapping[str, Any], place: str) -> Step:
    """A proxy between the host and a server of one's own is in the way, but where the bundle avoids it."""
    used, left = (_pair(told.get(name)) for name in ("proxy", "proxy_with_bundle"))
    steering = {str(name): str(value) for name, value in _mapping(told.get("steering")).items()}
    say = {"set": ", ".join(sorted(steering))[:MAX_SHOWN]} if steering else {}
    if used:
        say |= {"variable": used[0], "proxy": used[1], "bundle_avoids_it": "no" if left else "yes"}
    in_the_way = bool(used) and is_private(host_of(spec.base_url))
    status, reason = (
        (Status.DEGRADED, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK) if in_the_way else (Status.OK, None)
    )
    return Step(Rung.SDK, "proxies", status, reason, say=say, place=place)


def _pair(value: object) -> tuple[str, str] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    return str(value[0])[:MAX_SHOWN], str(value[1])[:MAX_SHOWN]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
