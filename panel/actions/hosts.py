"""What people do to GPU hosts: name them, change them, have them read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from panel import ledger, schedule, tasks
from panel.actions import Refused, host_grammar, within_limits
from panel.actions.audit import record
from panel.actions.host_keys import accept_host_key, ask_host_key, forget_host_key, make_key, paste_key
from panel.models import Host, HostReading, Membership

__all__ = [
    "HostDraft",
    "accept_host_key",
    "ask_host_key",
    "change",
    "create",
    "delete",
    "forget_host_key",
    "make_key",
    "paste_key",
    "pause_readings",
    "read_now",
    "resume_readings",
]
DEFAULT_INTERVAL_S = 3600


@dataclass(frozen=True, slots=True)
class HostDraft:
    """What a form says of a host. An empty `zone` is the panel's own; `interval_s` is how often its facts
    are read."""

    name: str
    address: str
    user: str
    port: int = 22
    jump: Host | None = None
    zone: str = ""
    python: str = "python3"
    workdir: str = ""
    activate: str = ""
    interval_s: int = DEFAULT_INTERVAL_S


@transaction.atomic
def create(*, actor: Membership, draft: HostDraft) -> Host:
    """Make a host. Nobody logs in before it has a key pair and a lead accepted its host key."""
    host = Host(team=actor.team)
    _fill(actor, host, draft)
    _record(actor, "create", host, **_where(host))
    return host


@transaction.atomic
def change(*, actor: Membership, host: Host, draft: HostDraft) -> bool:
    """Change a host. Returns True when it is reached elsewhere now, so that its accepted host key was
    forgotten: a key belongs to the machine and user that it was accepted for."""
    before = _where(host)
    had_key = bool(host.host_key)
    _fill(actor, host, draft)
    moved = _where(host) != before
    if moved:
        ledger.forget_host_key(host)
    elif host.next_reading_at is not None:
        host.next_reading_at = schedule.next_reading(host, datetime.now(UTC))
        host.save(update_fields=["next_reading_at"])
    _record(actor, "change", host, **_where(host), before=before, host_key_forgotten=moved and had_key)
    return moved and had_key


@transaction.atomic
def delete(*, actor: Membership, host: Host) -> None:
    """Delete a host that no profile and no other host uses."""
    _record(actor, "delete", host, **_where(host))
    try:
        with transaction.atomic():
            host.delete()
    except ProtectedError as error:
        raise Refused(
            _("A profile runs on %(name)s, or another host is reached through it. Change that first.")
            % {"name": host.name}
        ) from error


@transaction.atomic
def read_now(*, actor: Membership, host: Host) -> HostReading:
    """Have the host's facts read now; a reading that is under way is returned instead of a second one."""
    within_limits(actor, "reading")
    if not host.sealed_key:
        raise Refused(_("%(name)s has no key pair yet. A lead can make one.") % {"name": host.name})
    reading = ledger.open_reading(host, now=datetime.now(UTC), user=actor.user)
    _record(actor, "read", host, reading=reading.code)
    transaction.on_commit(lambda: tasks.send_readings([reading]), robust=True)
    return reading


@transaction.atomic
def pause_readings(*, actor: Membership, host: Host) -> None:
    """Stop the scheduled readings until somebody resumes them."""
    if Host.objects.filter(pk=host.pk).exclude(next_reading_at=None).update(next_reading_at=None):
        _record(actor, "pause", host)


@transaction.atomic
def resume_readings(*, actor: Membership, host: Host) -> None:
    """Let the scheduled readings go on."""
    if not (host.sealed_key and host.host_key):
        raise Refused(
            _("%(name)s is read once it has a key pair and an accepted host key.") % {"name": host.name}
        )
    following = schedule.next_reading(host, datetime.now(UTC))
    if Host.objects.filter(pk=host.pk, next_reading_at=None).update(next_reading_at=following):
        _record(actor, "resume", host)


def _fill(actor: Membership, host: Host, draft: HostDraft) -> None:
    _judge_jump(actor, host, draft.jump)
    host.name, host.port, host.jump = draft.name.strip(), draft.port, draft.jump
    host.address, host.user = host_grammar.address(draft.address), host_grammar.user(draft.user)
    host.zone = draft.zone.strip() or settings.ZONE
    host.python, host.workdir = host_grammar.python(draft.python), host_grammar.folder(draft.workdir)
    host.activate, host.interval_s = draft.activate.strip(), draft.interval_s
    try:
        with transaction.atomic():
            host.save()
    except IntegrityError as error:
        raise Refused(_("The team has a host named %(name)s.") % {"name": host.name}, "name") from error


def _judge_jump(actor: Membership, host: Host, jump: Host | None) -> None:
    """A host of another team never becomes a jump, whatever a form sent, and no way leads in a circle."""
    if jump is not None and jump.team_id != actor.team_id:
        raise Refused(_("There is no such host in this team."), "jump")
    passed: Host | None = jump
    while passed is not None:
        if passed.pk == host.pk:
            raise Refused(_("%(name)s is reached through this host itself.") % {"name": jump}, "jump")
        passed = passed.jump


def _where(host: Host) -> dict[str, object]:
    return {"address": host.address, "port": host.port, "user": host.user}


def _record(actor: Membership, verb: str, host: Host, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="host", code=host.code, label=host.name, **data
    )  # fmt: skip
