"""What people do to teams: found them, invite, add, promote, remove."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from panel import vault
from panel.actions import Refused
from panel.actions.audit import record
from panel.models import Invitation, Membership, Role, Team, User

INVITATION_LIVES = timedelta(days=7)


class NoAccount(Refused):
    """Somebody who was to be added has no account here; an invitation would make one."""


def make_setup_link(*, now: datetime) -> str | None:
    """Return the token of a fresh set-up link, or None when there is an owner already.

    Older set-up links end, so that the last one printed is the one that works.
    """
    with transaction.atomic():
        if User.objects.exists():
            return None
        Invitation.objects.filter(team=None).delete()
        return _make_invitation(team=None, email="", role=Role.OWNER, made_by=None, now=now)


def invitation(token: str) -> Invitation | None:
    """Return the open invitation that this token belongs to; None when used, ended or unknown."""
    now = datetime.now(UTC)
    found = Invitation.objects.select_related("team").filter(token_hash=_hash(token)).first()
    return found if found and found.used_at is None and found.expires_at > now else None


@transaction.atomic
def set_up(*, token: str, team_name: str, name: str, email: str, password: str) -> Membership:
    """Make the first owner and the first team; the link works once."""
    _use(token, setup=True)
    if User.objects.exists():
        raise Refused(_("There is an owner already. Sign in instead."))
    user = make_account(name=name, email=email, password=password)
    return create(user=user, name=team_name)


@transaction.atomic
def create(*, user: User, name: str) -> Membership:
    """Make a team whose owner is this person."""
    slug = _free_slug(name)
    team = Team.objects.create(name=name.strip(), slug=slug, sealed_data_key=vault.fresh_data_key(slug))
    member = Membership.objects.create(team=team, user=user, role=Role.OWNER)
    record(team=team, actor=user, verb="create", noun="team", code=team.slug, label=team.name)
    return member


@transaction.atomic
def rename(*, actor: Membership, name: str) -> None:
    """Call the team by another name; its address stays, so that links go on working."""
    before, actor.team.name = actor.team.name, name.strip()
    actor.team.save(update_fields=["name"])
    record(
        team=actor.team, actor=actor.user, verb="change", noun="team", code=actor.team.slug,
        label=actor.team.name, name_before=before,
    )  # fmt: skip


@transaction.atomic
def keep(*, actor: Membership, runs_days: int, hours_days: int) -> None:
    """Keep runs and hours for so many days; what is older goes with the next prunings."""
    team, before = actor.team, {"runs_days": actor.team.runs_days, "hours_days": actor.team.hours_days}
    team.runs_days, team.hours_days = runs_days, hours_days
    team.save(update_fields=["runs_days", "hours_days"])
    record(
        team=team, actor=actor.user, verb="change", noun="team", code=team.slug, label=team.name,
        runs_days=runs_days, hours_days=hours_days, before=before,
    )  # fmt: skip


@transaction.atomic
def invite(*, actor: Membership, email: str, role: Role) -> str:
    """Return the one-time token of an invitation for somebody without an account."""
    _may_grant(actor, role)
    email = email.strip().lower()
    if Membership.objects.filter(team=actor.team, user__email=email).exists():
        raise Refused(_("%(email)s is in this team already.") % {"email": email}, "email")
    now = datetime.now(UTC)
    token = _make_invitation(team=actor.team, email=email, role=role, made_by=actor.user, now=now)
    record(team=actor.team, actor=actor.user, verb="invite", noun="member", label=email, role=int(role))
    return token


@transaction.atomic
def accept(*, token: str, name: str = "", password: str = "", user: User | None = None) -> Membership:
    """Join the team of an invitation: as the signed-in person, else with a new account."""
    used = _use(token, setup=False)
    if user is None:
        if User.objects.filter(email=used.email).exists():
            raise Refused(_("%(email)s has an account. Sign in first.") % {"email": used.email})
        user = make_account(name=name, email=used.email, password=password)
    elif user.email != used.email:
        raise Refused(_("This invitation is for %(email)s.") % {"email": used.email})
    member, fresh = Membership.objects.get_or_create(team=used.team, user=user, defaults={"role": used.role})
    if not fresh:
        raise Refused(_("You are in this team already."))
    record(team=used.team, actor=user, verb="join", noun="member", code=member.code, label=str(user))
    return member


@transaction.atomic
def add_member(*, actor: Membership, email: str, role: Role) -> Membership:
    """Add somebody who has an account."""
    _may_grant(actor, role)
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        raise NoAccount(_("Nobody with this address has an account here. Invite them."), "email")
    member, fresh = Membership.objects.get_or_create(team=actor.team, user=user, defaults={"role": role})
    if not fresh:
        raise Refused(_("%(name)s is in this team already.") % {"name": user}, "email")
    record(
        team=actor.team, actor=actor.user, verb="add", noun="member", code=member.code, label=str(user),
        role=int(role),
    )  # fmt: skip
    return member


@transaction.atomic
def change_role(*, actor: Membership, colleague: Membership, role: Role) -> None:
    """Give a colleague another role; the last owner stays one."""
    _may_touch(actor, colleague)
    _may_grant(actor, role)
    if role < Role.OWNER:
        _keep_an_owner(colleague)
    before, colleague.role = colleague.role, role
    colleague.save(update_fields=["role"])
    record(
        team=actor.team, actor=actor.user, verb="change", noun="member", code=colleague.code,
        label=str(colleague.user), role_before=int(before), role=int(role),
    )  # fmt: skip


@transaction.atomic
def remove(*, actor: Membership, colleague: Membership) -> None:
    """Take a colleague out of the team; the last owner stays."""
    _may_touch(actor, colleague)
    _keep_an_owner(colleague)
    record(
        team=actor.team, actor=actor.user, verb="remove", noun="member", code=colleague.code,
        label=str(colleague.user),
    )  # fmt: skip
    colleague.delete()


def _may_grant(actor: Membership, role: Role) -> None:
    """Leads name leads and below; owners name anybody."""
    if actor.role < Role.LEAD or role > actor.role:
        raise Refused(_("Only an owner can make an owner."), "role")


def _may_touch(actor: Membership, colleague: Membership) -> None:
    if colleague.team_id != actor.team_id or colleague.role > actor.role:
        raise Refused(_("Only an owner can change an owner."))


def _keep_an_owner(leaving: Membership) -> None:
    owners = Membership.objects.select_for_update().filter(team=leaving.team_id, role=Role.OWNER)
    if leaving.role == Role.OWNER and list(owners) == [leaving]:
        raise Refused(_("A team keeps at least one owner. Make somebody else an owner first."), "role")


def make_account(*, name: str, email: str, password: str) -> User:
    """Make a person who can sign in and is in no team yet; Refused when the password is too easy."""
    user = User(email=email.strip().lower(), name=name.strip())
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Refused(" ".join(error.messages), "password") from error
    user = User.objects.create_user(user.email, password, name=user.name)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def _make_invitation(
    *, team: Team | None, email: str, role: Role, made_by: User | None, now: datetime
) -> str:
    token = secrets.token_urlsafe(32)
    Invitation.objects.create(
        team=team, email=email, role=role, made_by=made_by, token_hash=_hash(token),
        expires_at=now + INVITATION_LIVES,
    )  # fmt: skip
    return token


def _use(token: str, *, setup: bool) -> Invitation:
    """Mark the invitation used; of two that come at once, one wins and the other is refused."""
    now = datetime.now(UTC)
    found = Invitation.objects.select_related("team").filter(
        token_hash=_hash(token), team__isnull=setup, used_at=None, expires_at__gt=now
    )
    row = found.first()
    if row is None or not found.filter(pk=row.pk).update(used_at=now):
        raise Refused(_("This link was used or has ended. Ask for a new one."))
    return row


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _free_slug(name: str) -> str:
    """Return an address for the team; a name without Latin letters gets a neutral one."""
    base = slugify(name)[:32] or "team"
    taken = set(Team.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    candidates = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
    return next(slug for slug in candidates if slug not in taken)
