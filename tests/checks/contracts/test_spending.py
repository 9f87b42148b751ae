"""What a contract may cost: nothing is asked that is not paid for, and free questions still are."""

from __future__ import annotations

import pytest

from checks import LaneKind, Reason, Status
from checks.outcome import SUPPORTING_STEPS
from checks.probes.contracts import CONTRACTS
from tests.checks.conftest import Serve
from tests.checks.contracts.lanes import STREAM, TOOLS, asked, contract, step, telling
from tests.checks.local import Behaviour, answering, completion


def costing(tokens: int) -> Behaviour:
    usage = {"prompt_tokens": 9, "completion_tokens": tokens - 9, "total_tokens": tokens}
    return answering(200, completion(usage=usage))


def test_what_cannot_be_paid_is_not_testable_and_not_sent(serve: Serve) -> None:
    server = serve(telling(tools=TOOLS, stream=STREAM))
    outcome = contract(server, LaneKind.AGENT, token_budget=270)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
    assert asked(server) == ["chat"]
    assert {one.status for one in outcome.steps[1:]} == {Status.NOT_TESTABLE}


def test_each_answer_is_charged_before_the_next_question(serve: Serve) -> None:
    server = serve(telling(tools=TOOLS, tool_result=costing(1300), stream=STREAM))
    outcome = contract(server, LaneKind.AGENT, token_budget=1400)
    assert asked(server) == ["chat", "tools", "tool_result"]
    assert step(outcome, "stream").reason is Reason.BUDGET_SPENT
    assert outcome.tokens == 12 + 12 + 1300


def test_free_questions_are_asked_with_an_empty_purse(serve: Serve) -> None:
    server = serve(telling(version=answering(200, {"version": "0.32.0"})))
    outcome = contract(server, LaneKind.ROLLOUT, token_budget=260)
    assert step(outcome, "engine").say["version"] == "0.32.0"
    assert step(outcome, "token_ids").reason is Reason.BUDGET_SPENT
    assert outcome.status is Status.NOT_TESTABLE


def test_what_only_informs_does_not_decide_for_want_of_money(serve: Serve) -> None:
    outcome = contract(serve(telling(parameters=costing(200))), LaneKind.REPLAY, token_budget=530)
    assert step(outcome, "sampling").reason is Reason.BUDGET_SPENT
    assert outcome.status is Status.OK


@pytest.mark.parametrize("lane", list(LaneKind))
def test_each_clause_bears_the_name_of_its_step(serve: Serve, lane: LaneKind) -> None:
    outcome = contract(serve(telling(tools=TOOLS, stream=STREAM)), lane)
    assert [one.name for one in outcome.steps[1:]] == [clause.__name__ for clause in CONTRACTS[lane]]


def test_what_supports_is_asked_by_the_channel_or_some_lane() -> None:
    names = {clause.__name__ for clauses in CONTRACTS.values() for clause in clauses}
    names |= {"models", "candidates", "wedge", "negative"}  # of the channel
    assert names | {"host", "environment", "proxies"} >= SUPPORTING_STEPS  # and of a host
