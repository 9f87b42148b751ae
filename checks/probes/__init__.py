"""The probes by rung: each a function that asks one thing, once."""

from __future__ import annotations

from typing import Final

from checks.outcome import Rung
from checks.probes.asking import Ask, Found, Probe
from checks.probes.client import client
from checks.probes.contracts import PROMISES, channel_under_contract
from checks.probes.network import network

PROBES: Final[dict[Rung, Probe]] = {
    Rung.NETWORK: network,
    Rung.CHANNEL: channel_under_contract,
    Rung.SDK: client,
}

__all__ = ["PROBES", "PROMISES", "Ask", "Found", "Probe"]
