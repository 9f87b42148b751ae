"""Unseals keys, each at most once, for the origin that it was sealed for."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from checks import Masked, Reason
from panel import vault
from panel.models import Endpoint, Host, KeyVersion, Lane, Team

logger = logging.getLogger(__name__)


class Refusal(Exception):
    """This lane cannot be asked, for a reason of ours."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class Keys:
    """The keys in use at the lanes' endpoints, each unsealed at most once."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        endpoints = {lane.effective_endpoint.pk for lane in lanes if lane.effective_endpoint is not None}
        rows = KeyVersion.objects.filter(endpoint__in=endpoints, state=KeyVersion.State.ACTIVE)
        self._versions = {row.endpoint_id: row for row in rows}
        self._opened: dict[int, Masked | None] = {}

    def usable(self, endpoint: Endpoint) -> KeyVersion | None:
        """Return the key in use, if sealed for where the endpoint points now; None if none is needed."""
        version = self._versions.get(endpoint.pk)
        if version is not None and version.origin == endpoint.origin:
            return version
        if endpoint.needs_key:
            raise Refusal(Reason.KEY_MISSING)
        return None

    def unseal(self, version: KeyVersion, endpoint: Endpoint, team: Team) -> Masked:
        """Return the key itself."""
        if version.pk not in self._opened:
            self._opened[version.pk] = open_key(version, endpoint, team)
        key = self._opened[version.pk]
        if key is None:
            raise Refusal(Reason.ENGINE_FAULT)
        return key


def open_key(version: KeyVersion, endpoint: Endpoint, team: Team) -> Masked | None:
    """Return the key; None when its seal does not open."""
    context = vault.key_context(endpoint.code, version.number, version.origin)
    try:
        return vault.unseal(version.sealed, team=team, context=context)
    except vault.SealBroken:
        logger.exception("The key of endpoint %s, version %s, does not open.", endpoint.code, version.number)
        return None


def open_ssh_key(host: Host, team: Team) -> Masked | None:
    """Return the private key that logs in to the host; None when it has none, or its seal does not open."""
    if not host.sealed_key:
        return None
    context = vault.ssh_context(host.code, host.key_number)
    try:
        return vault.unseal(host.sealed_key, team=team, context=context)
    except vault.SealBroken:
        logger.exception("The private key of host %s, version %s, does not open.", host.code, host.key_number)
        return None
