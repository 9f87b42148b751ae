"""Every route of a team, every role, and everybody who has no business there.

The table is closed: a route that is missing from it fails, so nobody adds one without saying who may.
"""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from panel import urls
from panel.models import Membership, Role, Team
from tests import make
from tests.panel.notices import told

pytestmark = pytest.mark.django_db
V, E, L = Role.VIEWER, Role.ENGINEER, Role.LEAD

# route: (lowest role to read, lowest role to write, whose code its address names); None = no such method
ROUTES: dict[str, tuple[Role | None, Role | None, str]] = {
    "overview": (V, None, ""),
    "profiles": (V, None, ""),
    "profile_new": (L, L, ""),
    "profile": (V, None, "profile"),
    "profile_edit": (L, L, "profile"),
    "profile_delete": (L, L, "profile"),
    "run_now": (None, E, "profile"),
    "lane_pause": (L, L, "profile"),
    "maintenance": (V, L, "profile"),
    "profile_export": (E, E, "profile"),
    "versions": (V, None, "profile"),
    "history_export": (V, None, ""),
    "run": (V, None, "run"),
    "run_output": (V, None, "run"),
    "recipe": (L, L, "profile"),
    "dry_run": (E, E, "profile"),
    "compare": (V, None, "profile"),
    "hosts": (V, None, ""),
    "host_new": (L, L, ""),
    "host": (V, None, "host"),
    "host_edit": (L, L, "host"),
    "host_delete": (L, L, "host"),
    "host_key": (L, L, "host"),
    "host_ask": (None, L, "host"),
    "host_accept": (None, L, "host"),
    "host_forget": (None, L, "host"),
    "host_read": (None, E, "host"),
    "host_pause": (None, L, "host"),
    "incidents": (V, None, ""),
    "incident": (V, None, "incident"),
    "incident_take": (None, E, "incident"),
    "incident_hand": (None, E, "incident"),
    "incident_note": (None, E, "incident"),
    "incident_mute": (None, E, "incident"),
    "endpoints": (V, None, ""),
    "endpoint_new": (L, L, ""),
    "calls": (None, L, ""),
    "endpoint": (V, None, "endpoint"),
    "endpoint_edit": (L, L, "endpoint"),
    "balance_ask": (None, E, "endpoint"),
    "base_url_apply": (None, L, "endpoint"),
    "endpoint_delete": (L, L, "endpoint"),
    "key_add": (L, L, "endpoint"),
    "key_destroy": (L, L, "endpoint"),
    "keys": (V, None, ""),
    "reports": (V, None, ""),
    "report_preview": (V, None, ""),
    "report_schedules": (V, L, ""),
    "report_schedule": (L, L, "report_schedule"),
    "report_schedule_delete": (None, L, "report_schedule"),
    "report": (V, None, "report"),
    "report_csv": (V, None, "report"),
    "report_json": (V, None, "report"),
    "report_markdown": (V, None, "report"),
    "activity": (V, None, ""),
    "members": (V, L, ""),
    "member_edit": (L, L, "colleague"),
    "member_remove": (None, L, "colleague"),
    "settings": (V, Role.OWNER, ""),
    "channels": (L, None, ""),
    "channel_new": (L, L, ""),
    "channel": (L, None, "channel"),
    "channel_edit": (L, L, "channel"),
    "channel_delete": (L, L, "channel"),
    "channel_test": (None, L, "channel"),
    "route_new": (L, L, ""),
    "route_edit": (L, L, "route"),
    "route_delete": (None, L, "route"),
    "notice_again": (None, L, "notice"),
    "notice_drop": (None, L, "notice"),
}
CELLS = [(name, "get") for name, (read, _, _) in ROUTES.items() if read] + [
    (name, "post") for name, (_, write, _) in ROUTES.items() if write
]
WITH_OBJECT = [(name, method) for name, method in CELLS if ROUTES[name][2]]


def a_team_with_everything() -> dict[str, str]:
    """Return the codes of one object of each kind, and the team's address."""
    owner = make.member(role=Role.OWNER)
    profile = make.profile(owner.team)
    lane = profile.lanes.get(kind="agent")
    return {
        "team": owner.team.slug,
        "profile": profile.code,
        "endpoint": profile.endpoint.code,
        "run": make.run(lane.check_order).code,
        "host": make.host(owner.team).code,
        "incident": str(make.incident(owner.team).number),
        "report": make.report(owner.team).code,
        "report_schedule": make.report_schedule(owner.team).code,
        "colleague": make.member(team=owner.team).code,
        **codes_of_notices(owner.team),
        "lane": "agent",
    }


def codes_of_notices(team: Team) -> dict[str, str]:
    """A channel with a route and a notice that was given up."""
    row = told.channel(team, "slack", secret="https://hooks.example/x")
    return {
        "channel": row.code,
        "route": told.route(row).code,
        "notice": told.queued(row, state="dead", failure="unclear").code,
    }


def ask(client: Client, name: str, method: str, team: str, code: str = "", run: str = "") -> int:
    address = reverse(name, kwargs={"team": team} | ({"code": code} if ROUTES[name][2] else {}))
    data = {"lane": "agent"} if name == "lane_pause" else {"run": run} if name == "base_url_apply" else {}
    return getattr(client, method)(address, data).status_code


def test_the_table_names_every_route_of_a_team() -> None:
    assert {route.name for route in urls.of_team} == set(ROUTES)


@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.name.lower())
@pytest.mark.parametrize(("name", "method"), CELLS)
def test_a_member_may_what_the_table_says_and_no_more(name: str, method: str, role: Role) -> None:
    codes = a_team_with_everything()
    person = make.member(team=Team.objects.get(slug=codes["team"]), role=role)
    client = Client()
    client.force_login(person.user)
    lowest = ROUTES[name][0 if method == "get" else 1]
    status = ask(client, name, method, codes["team"], codes.get(ROUTES[name][2], ""), codes["run"])
    assert (status == 403) is (role < lowest)
    assert status < 500
    assert status != 404


@pytest.mark.parametrize(("name", "method"), CELLS)
def test_a_stranger_finds_nothing(name: str, method: str) -> None:
    codes = a_team_with_everything()
    client = Client()
    client.force_login(make.member(role=Role.OWNER).user)
    assert ask(client, name, method, codes["team"], codes.get(ROUTES[name][2], "")) == 404
    assert ask(client, name, method, "no-such-team", codes.get(ROUTES[name][2], "")) == 404


@pytest.mark.parametrize(("name", "method"), CELLS)
def test_nobody_in_particular_is_sent_to_sign_in(name: str, method: str) -> None:
    codes = a_team_with_everything()
    assert ask(Client(), name, method, codes["team"], codes.get(ROUTES[name][2], "")) == 302


@pytest.mark.parametrize(("name", "method"), WITH_OBJECT)
def test_an_owner_does_not_reach_another_teams_object_through_the_own_team(name: str, method: str) -> None:
    foreign = a_team_with_everything()
    owner = make.member(role=Role.OWNER)
    client = Client()
    client.force_login(owner.user)
    assert ask(client, name, method, owner.team.slug, foreign[ROUTES[name][2]]) == 404
    assert ask(client, name, method, owner.team.slug, "zzzzzzzz") == 404


@pytest.mark.parametrize("name", [name for name, row in ROUTES.items() if row[0] is None])
def test_what_only_writes_cannot_be_read(name: str) -> None:
    codes = a_team_with_everything()
    client = Client()
    client.force_login(Membership.objects.filter(team__slug=codes["team"], role=Role.OWNER).get().user)
    assert ask(client, name, "get", codes["team"], codes.get(ROUTES[name][2], "")) == 405
