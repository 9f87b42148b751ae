"""The probes by rung: each a function that asks one thing, once."""

from __future__ import annotations

from typing import Final

from checks.outcome import Rung
from checks.probes.agent import agent
from checks.probes.asking import Ask, Found, Probe
from checks.probes.client import client
from checks.probes.contracts import PROMISES
from checks.probes.dry_run import dry_run
from checks.probes.gateway import channel_by_kind
from checks.probes.network import network
from checks.probes.places import from_places
from checks.probes.surroundings import in_surroundings

PROBES: Final[dict[Rung, Probe]] = {
    Rung.NETWORK: from_places(Rung.NETWORK, "resolve", network),
    Rung.CHANNEL: from_places(Rung.CHANNEL, "chat", channel_by_kind),
    Rung.SDK: in_surroundings(client),
    Rung.AGENT: agent,
    Rung.ROLLOUT: dry_run,
}

__all__ = ["PROBES", "PROMISES", "Ask", "Found", "Probe"]
