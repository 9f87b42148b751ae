"""What people do to channels, to the routes that lead there, and to notices that were given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from checks.keys import describe
from checks.spec import Masked
from panel import notices, tasks, vault
from panel.actions import Refused, within_limits
from panel.actions.audit import record
from panel.models import Channel, Membership, Notice, Route

MOST_CHANNELS, MOST_ROUTES = 50, 200


@dataclass(frozen=True, slots=True)
class ChannelDraft:
    """What a form says of a channel. `secret` and `sign` are None where they stay as they are; `origin` is
    where the secrets may be sent to, empty for mail, and `host` what a page shows of it."""

    name: str
    language: str = "en"
    enabled: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    secret: Masked | None = None
    sign: Masked | None = None
    origin: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class RouteDraft:
    """What a form says of a route (`panel.models.Route`)."""

    channel: Channel
    environments: Sequence[str] = ()
    states: Sequence[str] = ()
    after_min: int = 0
    quiet_from: time | None = None
    quiet_to: time | None = None
    quiet_all: bool = False
    zone: str = "UTC"


@transaction.atomic
def create(*, actor: Membership, kind: str, draft: ChannelDraft) -> Channel:
    """Make a channel, and a route that brings it everything. Raises Refused for a name that is taken."""
    if Channel.objects.filter(team=actor.team).count() >= MOST_CHANNELS:
        raise Refused(_("A team has at most %(n)d channels. Change one of them.") % {"n": MOST_CHANNELS})
    row = Channel(team=actor.team, kind=kind, origin=draft.origin)
    _say(row, draft)
    _seal(row, {"secret": draft.secret, "sign": draft.sign}, draft.host)
    _save_named(row)
    Route.objects.create(team=actor.team, channel=row)
    _record(actor, "create", "channel", row.code, row.name, kind=kind, host=draft.host)
    return row


@transaction.atomic
def change(*, actor: Membership, channel: Channel, draft: ChannelDraft) -> bool:
    """Change a channel. Returns True when another server made it drop the secret that was bound to the old
    one. Raises Refused when that secret is one it cannot do without."""
    row = Channel.objects.select_for_update().get(pk=channel.pk)
    given = {"secret": draft.secret, "sign": draft.sign}
    moved = row.origin != draft.origin
    kept = {} if moved else _unsealed(row, [part for part, value in given.items() if value is None])
    dropped = moved and any(row_has(row, part) and given[part] is None for part in given)
    if moved:
        _insist(row, given)
    if moved or any(given.values()):
        row.origin = draft.origin
        _seal(row, given | kept, draft.host)
    _say(row, draft)
    _save_named(row)
    _record(actor, "change", "channel", row.code, row.name, host=draft.host, secret_given=any(given.values()))
    return dropped


@transaction.atomic
def delete(*, actor: Membership, channel: Channel) -> None:
    """Delete a channel with its secrets, routes and notices."""
    _record(actor, "delete", "channel", channel.code, channel.name)
    channel.delete()


@transaction.atomic
def test(*, actor: Membership, channel: Channel) -> None:
    """Send a test message. Raises Refused when that is asked very often, or the channel is out of use."""
    within_limits(actor, "notice")
    if not channel.enabled:
        raise Refused(_("%(name)s is out of use. Put it to use first.") % {"name": channel.name})
    notices.plan_test(channel, datetime.now(UTC), actor.user_id)
    _record(actor, "test", "channel", channel.code, channel.name)
    transaction.on_commit(tasks.ring_for_notices, robust=True)


@transaction.atomic
def save_route(*, actor: Membership, draft: RouteDraft, route: Route | None = None) -> Route:
    """Make a route or change one."""
    if route is None and Route.objects.filter(team=actor.team).count() >= MOST_ROUTES:
        raise Refused(_("A team has at most %(n)d routes. Change one of them.") % {"n": MOST_ROUTES})
    row = route or Route(team=actor.team)
    row.channel, row.after_min, row.zone = draft.channel, draft.after_min, draft.zone
    row.environments, row.states = list(draft.environments), list(draft.states)
    row.quiet_from, row.quiet_to, row.quiet_all = draft.quiet_from, draft.quiet_to, draft.quiet_all
    row.save()
    _record(
        actor, "change" if route else "create", "route", row.code, draft.channel.name,
        environments=row.environments, states=row.states, after_min=row.after_min,
    )  # fmt: skip
    return row


@transaction.atomic
def delete_route(*, actor: Membership, route: Route) -> None:
    """Delete a route; what was planned by it is still sent."""
    _record(actor, "delete", "route", route.code, route.channel.name)
    route.delete()


@transaction.atomic
def send_again(*, actor: Membership, notice: Notice) -> None:
    """Send a notice that was given up once more. Raises Refused when it is not given up (any more)."""
    within_limits(actor, "notice")
    if not notices.send_again(notice, datetime.now(UTC)):
        raise Refused(_("This message is not among those that were given up."))
    _record(actor, "send", "notice", notice.code, notice.channel.name)
    transaction.on_commit(tasks.ring_for_notices, robust=True)


@transaction.atomic
def give_up(*, actor: Membership, notice: Notice) -> None:
    """Take a notice off the list of those that were given up."""
    if not notices.give_up(notice):
        raise Refused(_("This message is not among those that were given up."))
    _record(actor, "drop", "notice", notice.code, notice.channel.name)


def row_has(row: Channel, part: str) -> bool:
    """Tell whether the channel has this secret, "secret" or "sign"."""
    return bool(getattr(row, f"sealed_{part}"))


def _say(row: Channel, draft: ChannelDraft) -> None:
    row.name, row.language, row.enabled = draft.name.strip(), draft.language, draft.enabled
    row.settings = dict(draft.settings)


def _insist(row: Channel, given: Mapping[str, Masked | None]) -> None:
    """Another server must be told the secret that its kind cannot do without: never the old one's."""
    if row.kind == Channel.Kind.TELEGRAM and given["secret"] is None:
        raise Refused(_("This is another server. Paste the token for it."), "token")
    if row.kind == Channel.Kind.WEBHOOK and given["sign"] is None:
        raise Refused(_("This is another server. Give its signing secret too."), "sign")


def _unsealed(row: Channel, parts: Sequence[str]) -> dict[str, Masked | None]:
    """Return what the channel has sealed of these parts; what does not open is let go."""
    found: dict[str, Masked | None] = {}
    for part in parts:
        if not row_has(row, part):
            continue
        context = vault.channel_context(row.code, part, row.secret_number, row.origin)
        try:
            found[part] = vault.unseal(getattr(row, f"sealed_{part}"), team=row.team, context=context)
        except vault.SealBroken:
            found[part] = None
    return found


def _seal(row: Channel, secrets: Mapping[str, Masked | None], host: str) -> None:
    """Seal all of the channel's secrets anew, under the next number, for its origin."""
    row.secret_number += 1
    for part, value in secrets.items():
        context = vault.channel_context(row.code, part, row.secret_number, row.origin)
        sealed = vault.seal(value, team=row.team, context=context) if value else ""
        setattr(row, f"sealed_{part}", sealed)
    secret = secrets.get("secret")
    ending = describe(secret).last_four if secret else ""
    row.shown = f"{host} …{ending}"[:120] if ending else host[:120]


def _save_named(row: Channel) -> None:
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise Refused(_("The team has a channel named %(name)s.") % {"name": row.name}, "name") from error


def _record(actor: Membership, verb: str, noun: str, code: str, label: str, **data: object) -> None:
    record(team=actor.team, actor=actor.user, verb=verb, noun=noun, code=code, label=label, **data)
