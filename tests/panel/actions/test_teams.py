"""What people do to teams: the first owner, invitations, roles."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from panel.actions import Refused, teams
from panel.models import AuditEvent, Invitation, Membership, Role, User
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
OWNER = {"team_name": "Atlas Agents", "name": "Lin Yue", "email": "Lin@atlas.example", "password": PASSWORD}


def a_setup_link() -> str:
    token = teams.make_setup_link(now=datetime.now(UTC))
    assert token is not None
    return token


def test_the_setup_link_makes_the_first_owner_and_team() -> None:
    member = teams.set_up(token=a_setup_link(), **OWNER)
    assert (member.role, member.team.slug, member.user.email) == (
        Role.OWNER,
        "atlas-agents",
        "lin@atlas.example",
    )


def test_the_setup_link_works_once() -> None:
    token = a_setup_link()
    teams.set_up(token=token, **OWNER)
    with pytest.raises(Refused):
        teams.set_up(token=token, **OWNER | {"email": "other@atlas.example"})
    assert User.objects.count() == 1


def test_there_is_no_setup_link_once_there_is_an_owner() -> None:
    make.member()
    assert teams.make_setup_link(now=datetime.now(UTC)) is None


def test_a_newer_setup_link_ends_the_older_one() -> None:
    old = a_setup_link()
    a_setup_link()
    assert teams.invitation(old) is None


def test_a_setup_link_ends_after_a_week() -> None:
    token = a_setup_link()
    Invitation.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert teams.invitation(token) is None


def test_a_weak_password_makes_nobody_and_keeps_the_link() -> None:
    token = a_setup_link()
    with pytest.raises(Refused) as refusal:
        teams.set_up(token=token, **OWNER | {"password": "short"})
    assert refusal.value.field == "password"
    assert teams.invitation(token) is not None
    assert not User.objects.exists()


def test_only_the_hash_of_an_invitation_is_stored() -> None:
    token = teams.invite(actor=make.member(role=Role.LEAD), email="new@atlas.example", role=Role.ENGINEER)
    assert token not in str(Invitation.objects.values().get())


def test_an_invited_person_joins_with_the_role_of_the_invitation() -> None:
    actor = make.member(role=Role.LEAD)
    token = teams.invite(actor=actor, email="new@atlas.example", role=Role.ENGINEER)
    member = teams.accept(token=token, name="Chen Bo", password=PASSWORD)
    assert (member.team, member.role) == (actor.team, Role.ENGINEER)


def test_an_invitation_cannot_be_taken_by_somebody_else() -> None:
    token = teams.invite(actor=make.member(role=Role.LEAD), email="new@atlas.example", role=Role.ENGINEER)
    stranger = make.member().user
    with pytest.raises(Refused):
        teams.accept(token=token, user=stranger)
    assert teams.invitation(token) is not None


def test_a_person_with_an_account_is_added_by_address() -> None:
    actor, other = make.member(role=Role.LEAD), make.member()
    member = teams.add_member(actor=actor, email=other.user.email.upper(), role=Role.VIEWER)
    assert member.team == actor.team


def test_an_address_without_an_account_is_refused_on_its_field() -> None:
    with pytest.raises(Refused) as refusal:
        teams.add_member(actor=make.member(role=Role.LEAD), email="nobody@atlas.example", role=Role.VIEWER)
    assert refusal.value.field == "email"


@pytest.mark.parametrize("deed", ["invite", "add_member"])
def test_a_lead_makes_no_owner(deed: str) -> None:
    with pytest.raises(Refused):
        getattr(teams, deed)(
            actor=make.member(role=Role.LEAD), email=make.member().user.email, role=Role.OWNER
        )


def test_an_engineer_grants_nothing() -> None:
    with pytest.raises(Refused):
        teams.invite(actor=make.member(role=Role.ENGINEER), email="x@atlas.example", role=Role.VIEWER)


def test_a_lead_cannot_touch_an_owner() -> None:
    owner = make.member(role=Role.OWNER)
    lead = make.member(role=Role.LEAD, team=owner.team)
    with pytest.raises(Refused):
        teams.change_role(actor=lead, colleague=owner, role=Role.VIEWER)


def test_the_last_owner_is_not_made_less() -> None:
    owner = make.member(role=Role.OWNER)
    with pytest.raises(Refused):
        teams.change_role(actor=owner, colleague=owner, role=Role.LEAD)


def test_the_last_owner_is_not_removed() -> None:
    owner = make.member(role=Role.OWNER)
    with pytest.raises(Refused):
        teams.remove(actor=owner, colleague=owner)
    assert Membership.objects.filter(team=owner.team, role=Role.OWNER).exists()


def test_a_second_owner_lets_the_first_one_go() -> None:
    owner = make.member(role=Role.OWNER)
    second = make.member(role=Role.OWNER, team=owner.team)
    teams.remove(actor=second, colleague=owner)
    assert not Membership.objects.filter(pk=owner.pk).exists()


def test_a_role_change_is_audited_with_both_roles() -> None:
    owner = make.member(role=Role.OWNER)
    colleague = make.member(role=Role.VIEWER, team=owner.team)
    teams.change_role(actor=owner, colleague=colleague, role=Role.LEAD)
    event = AuditEvent.objects.get(verb="change", noun="member")
    assert (event.data["role_before"], event.data["role"]) == (Role.VIEWER, Role.LEAD)


def test_a_chinese_team_name_gets_a_neutral_address() -> None:
    user = make.member().user
    assert teams.create(user=user, name="灵雀").team.slug == "team"
    assert teams.create(user=user, name="灵雀").team.slug == "team-2"
