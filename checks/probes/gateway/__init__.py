"""An Agent-Lightning 1.x gateway: its state, temporary rollouts on it, and a dry run through it."""

from __future__ import annotations

from checks.probes.gateway.controller import controller_run
from checks.probes.gateway.door import Door
from checks.probes.gateway.dry_run import gateway_dry_run
from checks.probes.gateway.rollouts import (
    GatewayRollout,
    Purpose,
    RolloutRefused,
    remove_all,
    rollout_id,
)
from checks.probes.gateway.state import channel_by_kind, gateway_channel

__all__ = [
    "Door",
    "GatewayRollout",
    "Purpose",
    "RolloutRefused",
    "channel_by_kind",
    "controller_run",
    "gateway_channel",
    "gateway_dry_run",
    "remove_all",
    "rollout_id",
]
