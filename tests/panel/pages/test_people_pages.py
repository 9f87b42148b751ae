"""Members, invitations, one's own settings, and the way in and out."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from panel.models import Membership, Role, User
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "violet hammock under rain"


@pytest.fixture
def lead() -> Membership:
    return make.member(role=Role.LEAD)


def test_somebody_with_an_account_is_added_at_once(browse, lead: Membership) -> None:
    somebody = make.user("priya@team.example")
    said = {"email": "Priya@team.example", "role": "20"}
    browse(lead).post(reverse("members", args=[lead.team.slug]), said)
    assert Membership.objects.get(user=somebody).role == Role.ENGINEER


def test_somebody_without_one_gets_a_link_that_is_shown_once_and_works_once(browse, lead: Membership) -> None:
    client, where = browse(lead), reverse("members", args=[lead.team.slug])
    text = client.post(where, {"email": "new@team.example", "role": "10"}).text
    link = re.search(r"http://testserver(/invite/[\w-]+/)", text)
    assert link
    assert link[1] not in client.get(where).text
    said = {"name": "Nia", "password": PASSWORD}
    assert Client().post(link[1], said, follow=True).redirect_chain[-1][0] == reverse(
        "overview", args=[lead.team.slug]
    )
    assert Client().get(link[1]).status_code == 404


def test_an_invitation_is_accepted_by_who_is_signed_in(browse, lead: Membership) -> None:
    text = (
        browse(lead)
        .post(reverse("members", args=[lead.team.slug]), {"email": "late@team.example", "role": "10"})
        .text
    )
    link = re.search(r"http://testserver(/invite/[\w-]+/)", text)
    assert link
    late = make.member(user=make.user("late@team.example"))
    browse(late).post(link[1])
    assert Membership.objects.filter(user=late.user, team=lead.team).exists()


def test_a_lead_names_nobody_an_owner(browse, lead: Membership) -> None:
    somebody = make.user("priya@team.example")
    said = {"email": somebody.email, "role": str(int(Role.OWNER))}
    browse(lead).post(reverse("members", args=[lead.team.slug]), said)
    assert not Membership.objects.filter(user=somebody).exists()


def test_the_last_owner_stays_and_the_page_says_why(browse) -> None:
    owner = make.member(role=Role.OWNER)
    where = reverse("member_remove", args=[owner.team.slug, owner.code])
    text = browse(owner).post(where, follow=True).text
    assert "A team keeps at least one owner." in text


def test_a_role_is_changed_and_a_colleague_removed(browse, lead: Membership) -> None:
    viewer = make.member(lead.team)
    browse(lead).post(reverse("member_edit", args=[lead.team.slug, viewer.code]), {"role": "20"})
    viewer.refresh_from_db()
    assert viewer.role == Role.ENGINEER
    browse(lead).post(reverse("member_remove", args=[lead.team.slug, viewer.code]))
    assert not Membership.objects.filter(pk=viewer.pk).exists()


def test_signing_in_leads_back_to_where_one_wanted_to_go(lead: Membership) -> None:
    client, wanted = Client(), reverse("keys", args=[lead.team.slug])
    login = client.get(wanted).headers["Location"]
    assert login == f"{reverse('account_login')}?next={wanted}"
    said = {"login": lead.user.email, "password": "correct horse battery", "next": wanted}
    assert client.post(reverse("account_login"), said).headers["Location"] == wanted


def test_a_wrong_password_is_said_above_the_form_and_keeps_the_address(lead: Membership) -> None:
    said = {"login": lead.user.email, "password": "wrong"}
    text = Client().post(reverse("account_login"), said).text
    assert 'role="alert"' in text
    assert f'value="{lead.user.email}"' in text


def test_too_many_attempts_meet_a_page_of_ours(lead: Membership) -> None:
    client, said = Client(), {"login": lead.user.email, "password": "wrong"}
    answers = [client.post(reverse("account_login"), said) for _ in range(40)]
    assert all(answer.status_code in (200, 429) for answer in answers)
    assert "Too many" in answers[-1].text


def test_signing_up_is_closed() -> None:
    answer = Client().post(reverse("account_signup"), {"email": "a@b.example", "password1": PASSWORD})
    assert "Accounts come by invitation" in answer.text
    assert not User.objects.exists()


def test_signing_out_takes_a_post(browse, lead: Membership) -> None:
    client = browse(lead)
    client.get(reverse("account_logout"))
    assert client.get(reverse("me")).status_code == 200
    client.post(reverse("account_logout"))
    assert client.get(reverse("me")).status_code == 302


def test_the_choice_of_theme_is_drawn_by_the_server(browse, lead: Membership) -> None:
    client = browse(lead)
    said = {"name": "Lin Yue", "language": "", "zone": "", "theme": "dark", "shortcuts": "on"}
    client.post(reverse("me"), said)
    text = client.get(reverse("keys", args=[lead.team.slug])).text
    assert '<html lang="en" data-theme="dark">' in text
    assert "<body data-keys>" in text


@pytest.mark.parametrize("forged", ['dark" onload="x', "blue"])
def test_a_forged_theme_is_ignored(browse, lead: Membership, forged: str) -> None:
    client = browse(lead)
    client.cookies["pf_theme"] = forged
    assert "data-theme" not in client.get(reverse("me")).text


def test_ones_own_language_and_zone_win_over_the_browsers(browse, lead: Membership) -> None:
    client = browse(lead)
    said = {"name": "林月", "language": "zh-hans", "zone": "Asia/Shanghai", "theme": ""}
    client.post(reverse("me"), said)
    text = client.get(reverse("activity", args=[lead.team.slug]), headers={"Accept-Language": "en"}).text
    assert 'lang="zh-Hans"' in text
    assert "Asia/Shanghai，UTC+8" in text


def test_the_language_is_switched_before_signing_in() -> None:
    client = Client()
    client.post(reverse("set_language"), {"language": "zh-hans", "next": reverse("account_login")})
    assert "登录" in client.get(reverse("account_login")).text


def test_with_several_teams_one_chooses(browse, lead: Membership) -> None:
    make.member(make.team("borealis", name="Borealis"), user=lead.user)
    text = browse(lead).get(reverse("home")).text
    assert "Borealis" in text
    assert "Choose a team" in text


def test_a_further_team_is_made_by_its_first_owner(browse, lead: Membership) -> None:
    browse(lead).post(reverse("home"), {"name": "Side Project"})
    assert Membership.objects.get(team__name="Side Project").role == Role.OWNER


def test_an_owner_renames_the_team_and_its_address_stays(browse) -> None:
    owner = make.member(role=Role.OWNER)
    where = reverse("settings", args=[owner.team.slug])
    assert "Atlas II" in browse(owner).post(where, {"name": "Atlas II"}, follow=True).text


def test_a_changed_password_needs_the_present_one(browse, lead: Membership) -> None:
    client, where = browse(lead), reverse("account_change_password")
    said = {"oldpassword": "wrong", "password1": PASSWORD, "password2": PASSWORD}
    client.post(where, said)
    lead.user.refresh_from_db()
    assert lead.user.check_password("correct horse battery")
    client.post(where, said | {"oldpassword": "correct horse battery"})
    lead.user.refresh_from_db()
    assert lead.user.check_password(PASSWORD)
