"""Places compared, and what a run's page is given of hosts: from the steps that runs kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from checks import Evidence, Outcome, Reason, Rung, Status, Step, Told
from panel import history, ledger
from panel.models import Check, Run
from tests import make
from tests.panel.time.outcomes import ANSWER, started

pytestmark = pytest.mark.django_db
NOON = make.NOON
LATER = NOON + timedelta(minutes=1)
THERE = Evidence(
    url=ANSWER.url,
    status=502,
    peer="10.0.0.1:3128",
    context={"by_variable": "HTTPS_PROXY", "env": {"HTTPS_PROXY": "http://10.0.0.1:3128"}},
)


def step(place: str, evidence: Evidence, reason: Reason | None = None) -> Step:
    status = Status.DOWN if reason else Status.OK
    return Step(Rung.CHANNEL, "chat", status, reason, evidence=evidence, place=place)


def climbed(check: Check, *steps: Step, at: Any = NOON) -> Run:
    """A failed run with these steps."""
    (run,) = started([make.run(check, at)], at)
    outcome = Outcome(run.code, Status.DOWN, Rung.CHANNEL, Reason.PROXY_UNREACHABLE, steps, at, 40.0)
    ledger.close_many([(run, outcome)], at + timedelta(seconds=1))
    return run


def compared(check: Check) -> history.Comparison:
    return history.compare(check.lane.profile, "agent", NOON + timedelta(hours=1))


def differing(view: history.Comparison) -> list[str]:
    return [hop.name for hop in view.hops if hop.differs]


def test_the_host_stands_first_and_the_proxy_is_named_as_what_differs() -> None:
    check = make.check()
    climbed(check, step("panel", ANSWER), step("host:gpu-a", THERE, Reason.PROXY_UNREACHABLE))
    view = compared(check)
    assert [(place.name, place.is_host, place.status) for place in view.places] == [
        ("host:gpu-a", True, "down"),
        ("panel", False, "ok"),
    ]
    assert differing(view) == ["proxy", "peer", "http_status", "status", "reason"]
    proxy = next(hop for hop in view.hops if hop.name == "proxy")
    assert proxy.cells == ("HTTPS_PROXY=http://10.0.0.1:3128", "")


def test_what_one_place_did_not_measure_differs_from_nothing() -> None:
    check = make.check()
    climbed(check, step("panel", ANSWER), step("host:gpu-a", Evidence(status=200)))
    assert differing(compared(check)) == []


def test_each_place_is_seen_by_its_newest_run() -> None:
    check = make.check()
    old = climbed(check, step("host:gpu-a", THERE))
    new = climbed(check, step("panel", ANSWER, Reason.PROXY_UNREACHABLE), at=LATER)
    assert [place.run_code for place in compared(check).places] == [old.code, new.code]


def test_a_step_without_a_place_was_asked_from_the_run_s_own(django_assert_num_queries) -> None:
    check = make.check()
    climbed(check, step("", ANSWER, Reason.PROXY_UNREACHABLE))
    with django_assert_num_queries(1):
        view = history.compare(check.lane.profile, "agent", LATER)
    assert [place.name for place in view.places] == ["panel"]


def test_a_lane_that_never_ran_has_no_places() -> None:
    assert compared(make.check()).places == ()


def test_a_run_says_where_its_rungs_were_climbed() -> None:
    run = climbed(make.check(), step("panel", ANSWER), step("host:gpu-a", THERE, Reason.PROXY_UNREACHABLE))
    view = history.run_view(run)
    assert view.rungs[1].places == ("panel", "host:gpu-a")
    assert [each.place for each in view.steps] == ["panel", "host:gpu-a"]


def test_the_output_of_a_command_is_read_piece_after_piece() -> None:
    mine = ledger.start_deep(make.run(make.check(), NOON, top_rung=5).pk, NOON)
    notes = ledger.Notebook(mine, 100)
    for text in ("one\n", "two\n"):
        notes.note([Told(mine.code, output=text)], NOON)
    assert [piece.text for piece in history.run_output(mine)] == ["one\n", "two\n"]
    assert [piece.text for piece in history.run_output(mine, after=1)] == ["two\n"]
    assert history.run_view(mine).output_pieces == 2


def test_an_interrupted_dry_run_says_what_becomes_of_what_it_left() -> None:
    mine = ledger.start_deep(make.run(make.check(), NOON, top_rung=5).pk, NOON)
    assert history.run_view(mine).leftover is None
    due = NOON + timedelta(minutes=30)
    ledger.miss_overdue(due)
    assert history.run_view(mine).leftover == history.LeftoverView(0, due, None)


@pytest.mark.parametrize(("plain_after", "pips"), [(False, "pass"), (True, "pass")])
def test_a_plain_pass_keeps_the_pips_of_the_last_deep_one(plain_after: bool, pips: str) -> None:
    check = make.check(top_rung=3)
    mine = ledger.start_deep(make.run(check, NOON, top_rung=3).pk, NOON)
    steps = (step("", ANSWER), Step(Rung.SDK, "sdk_openai", Status.OK))
    ledger.close_many([(mine, Outcome(mine.code, Status.OK, Rung.SDK, None, steps, NOON, 9.0))], LATER)
    if plain_after:
        (plain,) = started([make.run(check, LATER)], LATER)
        outcome = Outcome(plain.code, Status.OK, Rung.CHANNEL, None, steps[:1], LATER, 9.0)
        ledger.close_many([(plain, outcome)], LATER)
    cells = history.overview(check.lane.profile.team, LATER).rows[0].cells
    assert cells[0].now.pips == ("pass", "pass", pips, "none", "none")
