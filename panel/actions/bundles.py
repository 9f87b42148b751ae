"""What people take away: a bundle leaves only with its audit event and its place in the list of holders."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from checks.dialects import Unwritable
from checks.spec import Masked
from panel import vault
from panel.actions import Refused, within_limits
from panel.actions.audit import record
from panel.exports.bundle import Bundle
from panel.exports.formats import FORMATS, masked_preview
from panel.exports.problems import Problem, ProblemCode, problems
from panel.exports.rows import bare_lanes_of, bundle_of, lanes_of
from panel.models import Download, KeyVersion, Membership, Profile, Role

FLAVOURS: tuple[str, ...] = tuple(FORMATS)
# What matters to the reader of a file alone: on the profile's page the ladder says it already.
_OF_FILES = (ProblemCode.LANE_NOT_PROVEN, ProblemCode.LOOPBACK_ADDRESS)


@dataclass(frozen=True, slots=True)
class BundleView:
    """A bundle as a page shows it: keys masked, with what a reader should be warned of."""

    file_name: str
    text: str
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A bundle as it leaves."""

    file_name: str
    content_type: str
    text: str


def may_take_keys(actor: Membership, profile: Profile) -> bool:
    """Leads always; engineers where the profile says so."""
    return actor.may(Role.LEAD) or (actor.may(Role.ENGINEER) and profile.engineers_take_keys)


def preview(
    *, actor: Membership, profile: Profile, flavour: str, lanes: Collection[str], with_keys: bool
) -> BundleView:
    """Show the exact text, each key as its last four. Nothing leaves, so nothing is recorded."""
    bundle = _bundle(actor, profile, lanes, with_keys)
    try:
        text = masked_preview(bundle, flavour)
    except Unwritable as error:
        raise _cannot_carry(error) from error
    return BundleView(FORMATS[flavour].file_name(bundle), text, problems(bundle))


@transaction.atomic
def export(
    *, actor: Membership, profile: Profile, flavour: str, lanes: Collection[str], with_keys: bool
) -> Attachment:
    """Let the bundle leave, and remember who holds which key versions.

    Raises Refused for keys that this person may not take, and for a value that the flavour cannot carry.
    """
    if with_keys and not may_take_keys(actor, profile):
        raise Refused(_("A lead can take this bundle with keys."), "with_keys")
    within_limits(actor, "export")
    bundle = _bundle(actor, profile, lanes, with_keys)
    try:
        text = FORMATS[flavour].render(bundle)
    except Unwritable as error:
        raise _cannot_carry(error) from error
    keys = [f"{lane.endpoint_name} {lane.key_name}" for lane in bundle.lanes if lane.key is not None]
    Download.objects.create(
        user=actor.user, profile_version=profile.versions.get(number=profile.version), flavour=flavour,
        with_keys=with_keys, key_versions=sorted(set(keys)),
    )  # fmt: skip
    record(
        team=actor.team, actor=actor.user, verb="export", noun="bundle", code=profile.code,
        label=f"{profile.name} v{profile.version}", flavour=flavour, with_keys=with_keys,
        keys=sorted(set(keys)),
    )  # fmt: skip
    return Attachment(FORMATS[flavour].file_name(bundle), FORMATS[flavour].content_type, text)


def problems_of(*, actor: Membership, profile: Profile) -> tuple[Problem, ...]:
    """Return what is wrong with the profile's lanes in use or between them. No key is unsealed, nothing
    leaves, and nothing is recorded: one query for a profile that `access.profile_for` fetched."""
    found = problems(bundle_of(profile, bare_lanes_of(profile), team=actor.team.name, with_keys=False))
    return tuple(problem for problem in found if problem.code not in _OF_FILES)


def _bundle(actor: Membership, profile: Profile, kinds: Collection[str], with_keys: bool) -> Bundle:
    lanes = lanes_of(profile, kinds, (lambda key: _unsealed(actor, key)) if with_keys else _left_out)
    if not lanes:
        raise Refused(_("Choose at least one lane that has an endpoint."), "lanes")
    return bundle_of(profile, lanes, team=actor.team.name, with_keys=with_keys)


def _left_out(_key: KeyVersion) -> None:
    """No key is unsealed for a bundle without keys."""


def _unsealed(actor: Membership, key: KeyVersion) -> Masked:
    """A key leaves only towards the origin that it was sealed for."""
    if key.origin != key.endpoint.origin:
        raise Refused(_("The key of %(name)s belongs to another address. Add its key again.") % {
            "name": key.endpoint.name
        })  # fmt: skip
    place = vault.key_context(key.endpoint.code, key.number, key.origin)
    try:
        return vault.unseal(key.sealed, team=actor.team, context=place)
    except vault.SealBroken as error:
        raise Refused(_("The key of %(name)s does not open. Add it again.") % {
            "name": key.endpoint.name
        }) from error  # fmt: skip


def _cannot_carry(error: Unwritable) -> Refused:
    return Refused(
        _("%(variable)s holds a value that this format cannot carry. These can: %(formats)s.")
        % {"variable": error.variable, "formats": ", ".join(error.carried_by)},
        "flavour",
    )
