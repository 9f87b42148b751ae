"""What leads do to the keys of a host: the pair that logs in, and the host key that is believed."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import transaction
from django.utils.translation import gettext as _

from checks.hosts.fingerprint import fingerprint_of
from checks.spec import Masked
from panel import ledger, schedule, tasks, vault
from panel.actions import Refused, within_limits
from panel.actions.audit import record
from panel.actions.host_grammar import pasted_pair
from panel.models import Host, Membership


@transaction.atomic
def make_key(*, actor: Membership, host: Host) -> str:
    """Make an ed25519 pair and seal it in place of the one before; return its public line."""
    from checks.hosts.keypairs import make_key_pair

    within_limits(actor, "key")
    pair = make_key_pair()
    return _seal(actor, host, pair.private, pair.public, made_here=True)


@transaction.atomic
def paste_key(*, actor: Membership, host: Host, private: Masked, passphrase: Masked | None = None) -> str:
    """Seal a private key that somebody made elsewhere; return its public line. The passphrase opens it now
    and is not kept. Raises Refused for what is no usable key."""
    within_limits(actor, "key")
    pair = pasted_pair(private, passphrase)
    return _seal(actor, host, pair.private, pair.public, made_here=False)


@transaction.atomic
def ask_host_key(*, actor: Membership, host: Host) -> None:
    """Have the machine asked for its host key; it arrives as `offered_key`."""
    within_limits(actor, "reading")
    _record(actor, "ask", host)
    pk, zone = host.pk, host.zone
    transaction.on_commit(lambda: tasks.ask_host_key.apply_async(args=(pk,), queue=zone), robust=True)


@transaction.atomic
def accept_host_key(*, actor: Membership, host: Host, fingerprint: str) -> None:
    """Believe the host key that the machine offered, if it is the one that the lead saw; read the host."""
    locked = Host.objects.select_for_update().get(pk=host.pk)
    offered = fingerprint_of(locked.offered_key)
    if not offered or offered != fingerprint.strip():
        raise Refused(_("The host shows another key by now. Compare the fingerprints again."))
    now = datetime.now(UTC)
    host.host_key, host.host_key_at, host.host_key_by = locked.offered_key, now, actor.user
    host.offered_key, host.offered_at = "", None
    host.save(update_fields=["host_key", "host_key_at", "host_key_by", "offered_key", "offered_at"])
    _record(actor, "accept", host, fingerprint=offered)
    _begin_readings(actor, host, now)


@transaction.atomic
def forget_host_key(*, actor: Membership, host: Host) -> None:
    """Believe no host key: nobody logs in until a lead accepts one."""
    before = fingerprint_of(host.host_key)
    ledger.forget_host_key(host)
    _record(actor, "forget", host, fingerprint=before)


def _seal(actor: Membership, host: Host, private: Masked, public_line: str, *, made_here: bool) -> str:
    locked = Host.objects.select_for_update().get(pk=host.pk)
    now, number = datetime.now(UTC), locked.key_number + 1
    place = vault.ssh_context(host.code, number)
    host.sealed_key = vault.seal(private, team=actor.team, context=place)
    host.public_key, host.key_number = public_line, number
    host.key_sealed_at, host.key_sealed_by = now, actor.user
    host.save(
        update_fields=[
            "sealed_key",
            "public_key",
            "key_number",
            "key_sealed_at",
            "key_sealed_by",
            "changed_at",
        ]
    )
    record(
        team=actor.team, actor=actor.user, verb="add", noun="ssh_key", code=host.code,
        label=f"{host.name} v{number}", fingerprint=fingerprint_of(public_line), made_here=made_here,
    )  # fmt: skip
    _begin_readings(actor, host, now)
    return public_line


def _begin_readings(actor: Membership, host: Host, now: datetime) -> None:
    """Read the host as soon as it can be logged in to, and from then on as often as it says."""
    if not (host.sealed_key and host.host_key):
        return
    if host.next_reading_at is None:
        host.next_reading_at = schedule.next_reading(host, now)
        host.save(update_fields=["next_reading_at"])
    reading = ledger.open_reading(host, now=now, user=actor.user)
    transaction.on_commit(lambda: tasks.send_readings([reading]), robust=True)


def _record(actor: Membership, verb: str, host: Host, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="host_key", code=host.code, label=host.name, **data
    )  # fmt: skip
