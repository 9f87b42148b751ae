"""A lane's page and a run's: ranges, percentiles, what happened, the ladder with and without its steps."""

from __future__ import annotations

from datetime import timedelta

import pytest

from checks import Reason
from panel import history, ledger
from panel.history import LanePage, RunView
from panel.models import Check, Run, RunSteps
from panel.templatetags.rungs import rung_say
from tests import make
from tests.panel.time.outcomes import failed, live, passed, started

pytestmark = pytest.mark.django_db
NOON = make.NOON
SOON = NOON + timedelta(minutes=5)


def page_of(check: Check, over: str = "24h", now=SOON) -> LanePage:
    return history.lane_page(check.lane.profile, check.lane.kind, over, now)


def view_of(run: Run) -> RunView:
    return history.run_view(Run.objects.get(pk=run.pk))


def close(check: Check, make_outcome, at, **noted) -> Run:
    """Run the check once with this outcome; `noted` are columns as the briefing would fill them."""
    (run,) = started([make.run(check, at)], at)
    for name, value in noted.items():
        setattr(run, name, value)
    ledger.close_many([(run, make_outcome(run, at))], at + timedelta(seconds=1))
    return run


@pytest.mark.parametrize(
    ("over", "bars", "bar"),
    [("24h", 48, timedelta(minutes=30)), ("7d", 84, timedelta(hours=2)), ("30d", 90, timedelta(hours=8))],
)
def test_a_range_is_so_many_bars_up_to_now(over: str, bars: int, bar: timedelta) -> None:
    check = make.check(interval_s=3600)
    for back in (bar * (bars - 2), bar * 3, timedelta(0)):
        live(check, "o", start=NOON - back)
    page = page_of(check, over)
    ((kind, strip),) = page.strips
    assert (kind, len(strip.states), strip.bar) == (check.lane.kind, bars, bar)
    assert strip.start + bar * bars > SOON >= strip.start + bar * (bars - 1)
    assert sum(state == "ok" for state in strip.states) == 3
    assert len(page.chart) == bars <= 96


def test_what_lies_before_the_range_is_not_in_it() -> None:
    check = make.check()
    live(check, "d", start=NOON - timedelta(hours=25))
    live(check, "o")
    assert page_of(check).strips[0][1].availability == 1.0
    assert page_of(check, "7d").strips[0][1].availability == 0.5


def test_the_chart_has_percentiles_within_their_error_and_gaps_where_nothing_answered() -> None:
    check = make.check()
    for second, latency in enumerate((100, 100, 100, 900)):
        at = NOON + timedelta(seconds=second)
        close(check, lambda run, at, ms=latency: passed(run, at, latency_ms=ms), at)
    *before, last = page_of(check).chart
    assert (last.p50, last.p95) == (pytest.approx(100, rel=0.1), pytest.approx(900, rel=0.1))
    assert {(point.p50, point.state) for point in before} == {(None, "")}


def test_percentiles_of_a_range_are_merged_from_all_its_hours() -> None:
    check = make.check()
    for hours, latency in ((20, 2000.0), (10, 100.0), (0, 100.0)):
        at = NOON - timedelta(hours=hours)
        close(check, lambda run, at, ms=latency: passed(run, at, latency_ms=ms), at)
    assert page_of(check).now.p95_ms == pytest.approx(2000, rel=0.1)


def test_what_happened_is_newest_first_with_how_long_it_lasted() -> None:
    check = make.check()
    runs = live(check, "oddo")
    happened = page_of(check).transitions
    assert [(each.before, each.after, each.run_code) for each in happened] == [
        ("down", "ok", runs[3].code), ("ok", "down", runs[2].code), ("unknown", "ok", runs[0].code),
    ]  # fmt: skip
    assert happened[0].lasted is None
    assert happened[1].lasted == runs[3].finished_at - runs[2].finished_at
    assert (happened[1].reason, happened[1].rung, happened[1].kind) == (
        "auth_invalid_key",
        2,
        check.lane.kind,
    )


def test_the_page_shows_all_lanes_and_the_run_its_state_stands_on() -> None:
    check = make.check()
    _, newest = live(check, "od")
    page = page_of(check)
    assert [lane.kind for lane in page.lanes] == ["agent", "replay", "rollout"]
    assert page.run.code == newest.code == page.now.last_run_code


def test_before_the_first_outcome_the_page_shows_the_run_under_way() -> None:
    check = make.check()
    assert page_of(check).run is None
    run = make.run(check)
    assert (page_of(check).run.code, page_of(check).run.state) == (run.code, "queued")


def test_a_range_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        page_of(make.check(), "1y")


def test_a_failed_run_is_a_ladder_with_its_evidence_on_the_broken_rung() -> None:
    view = view_of(live(make.check(), "d")[0])
    network, channel, sdk, *_ = view.rungs
    assert (view.status, view.rung, view.reason) == ("down", 2, "auth_invalid_key")
    assert view.candidates == ("auth_invalid_key", "auth_key_malformed")
    assert (network.status, network.say) == ("ok", {"address": "192.0.2.7"})
    assert (channel.status, channel.evidence.status, channel.evidence.headers) == (
        "down", 401, (("server", "relay"),),
    )  # fmt: skip
    assert (sdk.status, sdk.evidence) == ("", None)


def test_a_passed_run_shows_the_phases_of_the_wire_in_order() -> None:
    channel = view_of(live(make.check(), "o")[0]).rungs[1]
    assert [name for name, _ in channel.phases] == ["dns", "connect", "tls", "wait", "transfer"]


def test_rungs_say_when_they_last_passed() -> None:
    check = make.check()
    first, broken = live(check, "od")
    channel = view_of(broken).rungs[1]
    assert channel.last_passed_at == first.finished_at


def test_what_had_nothing_to_ask_does_not_decide_a_rung_that_passed() -> None:
    (run,) = live(make.check(), "o")
    kept = RunSteps.objects.get(run=run)
    kept.steps += [
        {"rung": 3, "name": "sdk_openai", "status": "ok"},
        {"rung": 3, "name": "sdk_langchain", "status": "not_testable"},
        {"rung": 4, "name": "agent", "status": "not_testable"},
    ]
    kept.save()
    _, _, sdk, agent, _ = view_of(run).rungs
    assert (sdk.status, agent.status) == ("ok", "not_testable")
    assert rung_say(agent, "done") == "Has nothing to ask here"


def test_a_run_whose_steps_were_pruned_still_says_which_rung_broke() -> None:
    (run,) = live(make.check(), "d")
    RunSteps.objects.all().delete()
    view = view_of(run)
    assert (view.steps_kept, view.steps) == (False, ())
    assert [rung.status for rung in view.rungs] == ["ok", "down", "", "", ""]
    assert view.rungs[1].reason == "auth_invalid_key"


def test_rungs_above_a_broken_one_were_not_reached() -> None:
    (run,) = live(make.check(top_rung=5), "d")
    assert [rung.status for rung in view_of(run).rungs][2:] == ["not_reached"] * 3


def test_a_failure_names_what_changed_since_the_last_pass() -> None:
    check = make.check()
    good = close(check, passed, NOON, profile_version=7, key_number=1)
    bad = close(check, failed, NOON + timedelta(minutes=1), profile_version=8, key_number=2)
    changed = view_of(bad).changed
    assert (changed.profile, changed.key, changed.passed_run_code) == ((7, 8), (1, 2), good.code)
    assert view_of(good).changed is None


def test_nothing_is_said_to_have_changed_when_nothing_did() -> None:
    check = make.check()
    close(check, passed, NOON, key_number=1)
    bad = close(check, lambda run, at: failed(run, at, Reason.QUOTA_EXHAUSTED), SOON, key_number=1)
    assert view_of(bad).changed is None


@pytest.mark.parametrize("runs", [1, 25])
def test_a_lane_s_page_costs_the_same_queries_for_one_run_and_for_many(
    runs: int, django_assert_num_queries
) -> None:
    check = make.check()
    live(check, "d" * runs)
    page_of(check)
    with django_assert_num_queries(8):
        page_of(check)
