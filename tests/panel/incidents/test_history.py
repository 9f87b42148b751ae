"""What pages are given of incidents."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from panel import history, incidents, ledger
from panel.actions import incidents as deeds
from panel.models import Check, Incident, Role, Run
from tests import make
from tests.panel.incidents.lives import KEY, a_round, lanes, live, many_lanes, open_ones
from tests.panel.time.outcomes import failed, started

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def team():
    return make.team()


@pytest.mark.parametrize("count", [1, 200])
def test_a_page_costs_the_same_queries_for_one_lane_and_for_many(
    team, count: int, django_assert_num_queries
) -> None:
    now = live(many_lanes(team, count), 0, KEY)
    (incident,) = open_ones(team)
    with django_assert_num_queries(8):
        page = history.incident_page(incident, now)
    assert (page.row.lanes, page.lanes_total, len(page.spans)) == (count, count, min(count, 24))


def test_the_list_costs_three_queries_and_has_the_open_ones_first(team, django_assert_num_queries) -> None:
    make.incident(team, reason="rate_limited", closed_at=make.NOON)
    for hours in range(30):
        make.incident(team, make.NOON - HOUR * hours)
    with django_assert_num_queries(3):
        page = history.incidents_page(team, make.NOON)
    assert (page.open, page.total, page.pages, len(page.rows)) == (30, 31, 2, 25)
    assert history.incidents_page(team, make.NOON, page=9).rows[-1].reason == "rate_limited"


def test_the_list_is_filtered_by_state_and_by_who_has_it(team) -> None:
    member = make.member(team, Role.ENGINEER)
    taken, closed = make.incident(team), make.incident(team, closed_at=make.NOON)
    deeds.take(actor=member, incident=taken)

    def numbers(**filters: object) -> list[int]:
        rows = history.incidents_page(team, make.NOON, **filters).rows  # type: ignore[arg-type]
        return [row.number for row in rows]

    assert numbers(shown="open") == numbers(whose=member.user) == [taken.number]
    assert numbers(shown="closed") == numbers(untaken=True) == [closed.number]


def test_incidents_that_ended_long_ago_are_not_listed_and_open_ones_are(team) -> None:
    long_ago = make.NOON - timedelta(days=100)
    make.incident(team, long_ago, closed_at=long_ago)
    old = make.incident(team, long_ago)
    assert [row.number for row in history.incidents_page(team, make.NOON).rows] == [old.number]


def test_one_team_sees_nothing_of_another(team) -> None:
    make.incident(make.team())
    assert history.incidents_page(team, make.NOON) == history.IncidentList((), 0, 0, 1, 1)
    assert history.open_incidents(team).count == 0


def test_runs_that_failed_are_counted_while_their_lane_was_in_it(team) -> None:
    checks = lanes(team, 2)
    for minute, reason in enumerate((None, KEY, KEY, None, KEY)):
        now = live(checks, minute, reason)
    first, second = Incident.objects.order_by("number")
    assert history.incident_page(first, now).failed_runs == 4
    assert history.incident_page(second, now).failed_runs == 2


def test_spans_tell_what_a_lane_was_before_during_and_after(team) -> None:
    checks = lanes(team, 1)
    for minute, reason in ((0, None), (60, KEY), (90, None)):
        live(checks, minute, reason)
    page = history.incident_page(Incident.objects.get(), make.NOON + 3 * HOUR)
    (row,) = page.spans
    assert [spell.state for spell in row.spells] == ["ok", "down", "ok"]
    assert (row.spells[0].begins, row.spells[-1].ends) == (page.begins, page.ends)
    lasted = row.spells[1].ends - row.spells[1].begins
    assert round(lasted / HOUR, 2) == 0.5


def test_a_lane_climbed_from_two_places_has_a_row_for_each(team) -> None:
    (check,) = lanes(team, 1, interval_s=3600)
    make.recipe(check.lane.profile, make.host(team, name="gpu-a12"), where="both")
    a_round([check], -60)
    at = make.NOON + timedelta(minutes=30)
    (run,) = started([Run.objects.create(check_order=check, slot=at, key_number=1)], at)
    outcome = failed(run, at)
    steps = (outcome.steps[0], replace(outcome.steps[1], place="host:gpu-a12"))
    ledger.close_many([(run, replace(outcome, steps=steps))], at)
    incidents.follow(at)
    page = history.incident_page(Incident.objects.get(), at + HOUR / 2)
    seen = {row.place: [spell.state for spell in row.spells] for row in page.spans}
    assert seen == {"host:gpu-a12": ["ok", "down"], "panel": ["ok"]}


def test_the_overview_names_the_incident_and_who_has_it(team) -> None:
    checks = lanes(team, 30)
    now = live(checks, 0, KEY)
    member = make.member(team, Role.ENGINEER)
    deeds.take(actor=member, incident=open_ones(team)[0])
    (finding,) = history.overview(team, now).findings
    assert finding.incident is not None
    assert (finding.incident.number, finding.incident.taken_by) == (1, str(member.user))
    assert (len(finding.lanes), finding.since) == (30, open_ones(team)[0].opened_at)


def test_a_failure_that_is_not_confirmed_stands_with_the_incident_of_its_cause(team) -> None:
    endpoint = make.endpoint(team)
    known, slow_to_tell = lanes(team, 2, endpoint)
    Check.objects.filter(pk=slow_to_tell.pk).update(down_k=2, down_n=2)
    live([known], 0, KEY)
    now = live([Check.objects.get(pk=slow_to_tell.pk)], 1, KEY)
    (finding,) = history.overview(team, now).findings
    assert (len(finding.lanes), finding.confirmed) == (2, True)


def test_a_page_that_refreshes_itself_is_drawn_again_when_somebody_takes_the_incident(team) -> None:
    now = live(lanes(team, 1), 0, KEY)
    seen = history.newest_change(team, now)
    deeds.take(actor=make.member(team, Role.ENGINEER), incident=open_ones(team)[0])
    assert history.newest_change(team, now) != seen


def test_a_flapping_lane_says_so(team) -> None:
    checks = lanes(team, 1)
    for minute, reason in enumerate((None, KEY, None, KEY, None)):
        now = live(checks, minute, reason)
    (row,) = history.overview(team, now).rows
    assert row.cells[0].now.flapping
