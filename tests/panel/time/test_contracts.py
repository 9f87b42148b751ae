"""Lane contracts and purses over time: asked rarely, asked always while broken, paid from two purses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from checks import Status
from panel import briefing, ledger
from panel.models import Check, Run
from tests import make
from tests.panel.time.outcomes import failed, live, passed, started, state_of

pytestmark = pytest.mark.django_db
NOON = make.NOON


def asks_in_full(check: Check, after: timedelta, **fields) -> bool:
    (run,) = started([make.run(check, NOON + after, **fields)], NOON + after)
    ((spec,), _) = briefing.brief([run])
    assert spec.contract is spec.negative
    return spec.contract


def after_contract(check: Check, status: Status) -> None:
    """Close a run at noon whose contract ended like that."""
    (run,) = started([make.run(check)], NOON)
    outcome = passed(run, NOON) if status is Status.OK else failed(run, NOON)
    ledger.close_many([(run, replace(outcome, contract=status))], NOON + timedelta(seconds=1))


def test_the_first_run_asks_for_the_contract() -> None:
    assert asks_in_full(make.check(), timedelta())


def test_a_kept_contract_is_asked_again_after_an_hour_and_not_before() -> None:
    check = make.check()
    after_contract(check, Status.OK)
    assert not asks_in_full(check, timedelta(minutes=5))
    assert asks_in_full(check, timedelta(minutes=61))


def test_a_rollout_lane_is_asked_every_quarter_of_an_hour() -> None:
    check = make.check(kind="rollout")
    after_contract(check, Status.OK)
    assert not asks_in_full(check, timedelta(minutes=10))
    assert asks_in_full(check, timedelta(minutes=16))


def test_a_person_always_gets_the_whole_climb() -> None:
    check = make.check()
    after_contract(check, Status.OK)
    assert asks_in_full(check, timedelta(minutes=5), trigger=Run.Trigger.PERSON)


@pytest.mark.parametrize("status", [Status.DOWN, Status.DEGRADED])
def test_a_broken_contract_is_asked_at_every_run(status: Status) -> None:
    check = make.check()
    after_contract(check, status)
    assert asks_in_full(check, timedelta(minutes=5))


def test_a_run_that_did_not_ask_leaves_the_contract_as_it_was() -> None:
    check = make.check()
    after_contract(check, Status.DOWN)
    live(check, "o", start=NOON + timedelta(minutes=5))
    assert state_of(check).contract_broken
    assert state_of(check).contract_at < NOON + timedelta(minutes=1)


def a_capped_pair(cap: int) -> tuple[Check, Check]:
    """Two lanes of two profiles on one endpoint that may spend so much a day."""
    first = make.check()
    profile = first.lane.profile
    profile.endpoint.tokens_a_day = cap
    profile.endpoint.save()
    second = make.profile(profile.team, endpoint=profile.endpoint).lanes.get(kind="agent").check_order
    return first, second


def budget_of(check: Check, after: timedelta) -> int | None:
    (run,) = started([make.run(check, NOON + after)], NOON + after)
    ((spec,), _) = briefing.brief([run])
    return spec.token_budget


def test_what_one_lane_spends_the_other_lane_of_the_endpoint_cannot() -> None:
    first, second = a_capped_pair(1000)
    live(first, "oo")
    assert budget_of(second, timedelta(minutes=10)) == 1000 - 24


def test_the_next_day_has_a_full_purse() -> None:
    first, second = a_capped_pair(1000)
    live(first, "oo")
    assert budget_of(second, timedelta(days=1)) == 1000


def test_a_spent_endpoint_leaves_nothing_and_never_less() -> None:
    first, second = a_capped_pair(10)
    live(first, "oo")
    assert budget_of(second, timedelta(minutes=10)) == 0
