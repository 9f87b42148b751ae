"""The overview: what each lane is at a moment, what is wrong, at a price that does not grow."""

from __future__ import annotations

from datetime import timedelta

import pytest

from panel import history, ledger
from panel.history import Finding, LaneNow, Overview
from panel.models import Check, LaneHour, Profile, Run, Team
from tests import make
from tests.panel.time.outcomes import live, started

pytestmark = pytest.mark.django_db
NOON = make.NOON
SOON = NOON + timedelta(minutes=2)


def lane_of(check: Check, now=SOON) -> LaneNow:
    """The lane of the check as the overview shows it."""
    page = history.overview(check.lane.profile.team, now)
    return next(cell.now for row in page.rows for cell in row.cells if cell.now.lane_id == check.lane_id)


def findings_of(team: Team, now=SOON) -> tuple[Finding, ...]:
    return history.overview(team, now).findings


def checks_at_one_endpoint(team: Team, count: int = 2) -> list[Check]:
    shared = make.endpoint(team)
    profiles = [make.profile(team, lanes=("agent",), endpoint=shared) for _ in range(count)]
    return list(Check.objects.filter(lane__profile__in=profiles, lane__kind="agent"))


def test_a_profile_has_three_cells_in_the_order_of_the_lanes() -> None:
    profile = make.profile(lanes=("agent", "rollout"))
    (row,) = history.overview(profile.team, NOON).rows
    assert (row.name, row.version, row.generation) == (profile.name, 1, "1.x")
    assert [(cell.now.kind, cell.now.in_use) for cell in row.cells] == [
        ("agent", True), ("replay", False), ("rollout", True),
    ]  # fmt: skip


def test_a_lane_never_looked_at_is_unknown_with_hollow_pips() -> None:
    lane = lane_of(make.check())
    assert (lane.state, lane.since, lane.evidence_at) == ("unknown", None, None)
    assert lane.pips == ("none",) * 5


def test_a_passing_lane_says_what_it_uses_and_how_fast_it_is() -> None:
    check = make.check()
    live(check, "oo")
    lane = lane_of(check)
    assert (lane.state, lane.status, lane.model, lane.latency_ms) == ("ok", "ok", "qwen3-8b", 90)
    assert lane.p95_ms == pytest.approx(90, rel=0.1)
    assert lane.pips == ("pass", "pass", "none", "none", "none")
    assert lane.endpoint_name == check.lane.profile.endpoint.name


@pytest.mark.parametrize(
    ("letters", "state", "failures", "pip"),
    [
        ("od", "ok", 1, "fail"),
        ("odd", "down", 2, "fail"),
        ("on", "not_testable", 0, "nt"),
        ("g", "degraded", 0, "warn"),
    ],
)
def test_the_marks_beside_a_state(letters: str, state: str, failures: int, pip: str) -> None:
    check = make.check()
    live(check, letters)
    lane = lane_of(check)
    assert (lane.state, lane.failures, lane.failures_needed, lane.pips[1]) == (state, failures, 2, pip)


def test_a_down_lane_whose_newest_run_passed_is_recovering() -> None:
    check = make.check(up_k=2, up_n=2)
    live(check, "ddo")
    assert (lane_of(check).state, lane_of(check).recovering) == ("down", True)


def test_evidence_older_than_two_intervals_makes_a_lane_unknown() -> None:
    check = make.check(interval_s=60)
    (run,) = live(check, "o")
    turns = run.finished_at + timedelta(seconds=120)
    assert lane_of(check, turns).state == "ok"
    late = lane_of(check, turns + timedelta(seconds=1))
    assert (late.state, late.since, late.status) == ("unknown", turns, "ok")


def test_a_paused_lane_is_paused_however_old_its_evidence() -> None:
    check = make.check(paused_at=NOON)
    live(check, "dd")
    lane = lane_of(check, NOON + timedelta(days=9))
    assert (lane.state, lane.since) == ("paused", NOON)


def test_a_run_under_way_is_marked() -> None:
    check = make.check()
    make.run(check, NOON)
    assert lane_of(check).running
    assert lane_of(check).pips[0] == "run"


def test_the_strip_has_48_bars_with_the_worst_confirmed_state_of_each() -> None:
    check = make.check(interval_s=1800)
    live(check, "oddo", every=timedelta(minutes=30))
    now = NOON + timedelta(minutes=95)
    row = history.overview(check.lane.profile.team, now).rows[0]
    strip = row.cells[0].strip
    assert (len(strip.states), strip.bar, strip.first) == (48, timedelta(minutes=30), 44)
    assert strip.states[44:] == ("ok", "ok", "down", "ok")
    assert strip.start + 44 * strip.bar == NOON


def test_availability_counts_runs_and_leaves_out_what_told_nothing() -> None:
    check = make.check()
    live(check, "ogdn")
    LaneHour.objects.update(missed=1)
    strip = history.overview(check.lane.profile.team, SOON).rows[0].cells[0].strip
    assert strip.availability == pytest.approx(2 / 3)
    assert strip.evidence == pytest.approx(3 / 5)


@pytest.mark.parametrize("letters", ["", "n"])
def test_nothing_observed_is_neither_0_nor_100_percent(letters: str) -> None:
    check = make.check()
    live(check, letters)
    assert history.overview(check.lane.profile.team, SOON).rows[0].cells[0].strip.availability is None


def test_counts_have_every_state_and_only_lanes_in_use() -> None:
    team = make.team()
    live(make.check(team), "o")
    live(make.check(team), "dd")
    page = history.overview(team, SOON)
    assert (page.lanes_total, page.causes_down) == (2, 1)
    assert page.counts == {
        "down": 1, "degraded": 0, "unknown": 0, "not_testable": 0, "maintenance": 0, "paused": 0, "ok": 1,
    }  # fmt: skip


def test_one_cause_at_one_endpoint_is_one_finding_over_its_lanes() -> None:
    team = make.team()
    for check in checks_at_one_endpoint(team):
        live(check, "dd")
    (finding,) = findings_of(team)
    assert (finding.state, finding.reason, finding.rung, finding.confirmed) == (
        "down",
        "auth_invalid_key",
        2,
        True,
    )
    assert len(finding.lanes) == 2


def test_the_same_reason_at_another_endpoint_is_another_finding() -> None:
    team = make.team()
    for check in (make.check(team), make.check(team)):
        live(check, "dd")
    assert [finding.reason for finding in findings_of(team)] == ["auth_invalid_key"] * 2


def test_a_first_failure_is_a_finding_that_is_not_confirmed() -> None:
    check = make.check()
    live(check, "od")
    (finding,) = findings_of(check.lane.profile.team)
    assert (finding.state, finding.confirmed) == ("ok", False)


def test_findings_are_ordered_by_state_then_age() -> None:
    team = make.team()
    for letters, start in (("n", 0), ("dd", 30), ("dd", 0), ("od", 0)):
        live(make.check(team), letters, start=NOON + timedelta(seconds=start))
    found = findings_of(team)
    assert [finding.state for finding in found] == ["down", "down", "not_testable", "ok"]
    assert found[0].since < found[1].since


def test_stale_lanes_are_found_as_missed_whatever_they_said_last() -> None:
    check = make.check(interval_s=60)
    live(check, "dd")
    (finding,) = findings_of(check.lane.profile.team, NOON + timedelta(hours=1))
    assert (finding.state, finding.reason, finding.rung) == ("unknown", "run_missed", None)


@pytest.mark.parametrize(("beat", "silent"), [(None, True), (29, False), (31, True)])
def test_the_sweep_is_silent_half_a_minute_after_its_last_beat(beat: int | None, silent: bool) -> None:
    if beat is not None:
        ledger.beat("tick", NOON - timedelta(seconds=beat))
    assert history.sweep(NOON).silent is silent


def test_another_team_s_lanes_are_not_seen() -> None:
    live(make.check(), "dd")
    page = history.overview(make.team(), SOON)
    assert (page.rows, page.findings, page.lanes_total) == ((), (), 0)


def test_the_word_for_newest_change_changes_with_everything_a_page_shows() -> None:
    check = make.check(interval_s=60)
    team, seen = check.lane.profile.team, []

    def look(now=SOON) -> None:
        seen.append(history.newest_change(team, now))

    look()
    (run,) = started([make.run(check)], NOON)
    look()
    Run.objects.filter(pk=run.pk).update(state="done")
    live(check, "o", start=NOON + timedelta(minutes=1))
    look()
    look(SOON + timedelta(minutes=5))
    Profile.objects.update(version=2)
    look()
    assert len(set(seen)) == len(seen)


def test_the_word_for_newest_change_stays_while_nothing_happens() -> None:
    check = make.check()
    live(check, "o")
    team = check.lane.profile.team
    ledger.beat("tick", SOON)
    assert history.newest_change(team, SOON) == history.newest_change(team, SOON + timedelta(seconds=5))


@pytest.mark.parametrize("profiles", [1, 25])
def test_the_overview_costs_the_same_queries_for_one_profile_and_for_many(
    profiles: int, django_assert_num_queries
) -> None:
    team = make.team()
    for _ in range(profiles):
        live(make.check(team), "od")
    with django_assert_num_queries(6):
        cold: Overview = history.overview(team, SOON)
    with django_assert_num_queries(5):
        assert history.overview(team, SOON) == cold
    with django_assert_num_queries(4):
        history.newest_change(team, SOON)
