"""From rows to a question: the right key or none, what may be spent, refusals that name their reason."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from checks import LaneSpec, Masked, Rung, Status
from panel import briefing
from panel.models import Check, KeyVersion, LaneState, Run
from tests import make
from tests.panel.time.outcomes import live, started

pytestmark = pytest.mark.django_db
NOON = make.NOON
CANARY = "sk-canary-0123456789abcdef"


def a_run(check: Check) -> Run:
    (run,) = started([make.run(check)], NOON)
    return run


def spec_for(check: Check) -> LaneSpec:
    (spec,), refused = briefing.brief([a_run(check)])
    assert refused == []
    return spec


def refusal_for(check: Check) -> tuple[str, str]:
    """The status and reason of a run that was not asked."""
    specs, (outcome,) = briefing.brief([a_run(check)])
    assert specs == []
    return str(outcome.status), str(outcome.reason)


def on_endpoint(**fields) -> Check:
    check = make.check()
    profile = check.lane.profile
    profile.endpoint = make.endpoint(profile.team, **fields)
    profile.save()
    return check


def test_a_spec_says_what_the_lane_says() -> None:
    check = on_endpoint(key=CANARY, base_url="https://relay.example/v1", kind="vllm")
    check.lane.latency_limit_ms = 800
    check.lane.save()
    spec = spec_for(check)
    assert (spec.base_url, spec.model, spec.kind, spec.lane) == (
        "https://relay.example/v1", "qwen3-8b", "vllm", "agent",
    )  # fmt: skip
    assert (spec.key, spec.latency_limit_ms) == (Masked(CANARY), 800)
    assert spec.rungs == (Rung.NETWORK, Rung.CHANNEL)


def test_the_lengths_of_training_are_asked_about() -> None:
    check = make.check(kind="rollout")
    check.lane.prompt_length, check.lane.response_length = 4096, 2048
    check.lane.save()
    spec = spec_for(check)
    assert (spec.prompt_length, spec.response_length) == (4096, 2048)


def test_a_lane_s_own_endpoint_and_model_win_over_the_profile_s() -> None:
    check = on_endpoint()
    lane = check.lane
    lane.endpoint = make.endpoint(lane.profile.team, base_url="http://127.0.0.1:9/v1", key="sk-test-own")
    lane.model = "own-model"
    lane.save()
    spec = spec_for(check)
    assert (spec.base_url, spec.model, spec.key) == (
        "http://127.0.0.1:9/v1",
        "own-model",
        Masked("sk-test-own"),
    )


def test_the_run_notes_which_profile_version_and_key_it_goes_with() -> None:
    check = on_endpoint(key=None)
    make.key_version(check.lane.profile.endpoint, "sk-test-old", number=1, state="retired")
    make.key_version(check.lane.profile.endpoint, "sk-test-new", number=2)
    run = a_run(check)
    (spec,), _ = briefing.brief([run])
    assert (run.key_number, run.profile_version, spec.key) == (2, 1, Masked("sk-test-new"))


def test_an_endpoint_without_need_for_a_key_is_asked_without_one() -> None:
    assert spec_for(on_endpoint(key=None, needs_key=False)).key is None


@pytest.mark.parametrize("state", ["retired", "dropped", "destroyed"])
def test_a_key_out_of_use_is_not_used(state: str) -> None:
    check = on_endpoint()
    KeyVersion.objects.update(state=state)
    assert refusal_for(check) == ("not_testable", "key_missing")


def test_a_key_sealed_for_another_origin_is_never_sent() -> None:
    check = on_endpoint(key=CANARY)
    endpoint = check.lane.profile.endpoint
    endpoint.base_url, endpoint.origin = "https://thief.example/v1", "https://thief.example"
    endpoint.save()
    assert refusal_for(check) == ("not_testable", "key_missing")


def test_a_lane_without_a_model_is_not_asked() -> None:
    check = on_endpoint()
    type(check.lane.profile).objects.update(model="")
    assert refusal_for(check) == ("not_testable", "model_missing")


def test_a_key_swapped_between_rows_does_not_open_and_the_log_holds_no_key(caplog) -> None:
    check = on_endpoint(key=CANARY)
    other = make.key_version(make.endpoint(check.lane.profile.team, key=None), "sk-test-other")
    KeyVersion.objects.filter(endpoint=check.lane.profile.endpoint).update(sealed=other.sealed)
    with caplog.at_level(logging.ERROR):
        assert refusal_for(check) == ("not_testable", "engine_fault")
    assert check.lane.profile.endpoint.code in caplog.text
    assert "sk-" not in caplog.text


def test_what_was_spent_today_is_taken_off_the_budget() -> None:
    check = on_endpoint()
    check.tokens_a_day = 100
    check.save()
    live(check, "ooo", start=NOON - timedelta(minutes=5))
    assert spec_for(check).token_budget == 100 - 3 * 12


def test_yesterday_s_tokens_are_not_today_s() -> None:
    check = on_endpoint()
    LaneState.objects.update(tokens_day=(NOON - timedelta(days=1)).date(), tokens_spent=500_000)
    assert spec_for(check).token_budget == check.tokens_a_day


def test_a_spent_budget_is_nothing_and_never_less() -> None:
    check = on_endpoint()
    LaneState.objects.update(tokens_day=NOON.date(), tokens_spent=500_000)
    assert spec_for(check).token_budget == 0


def test_the_parameter_a_model_was_seen_to_take_is_passed_on() -> None:
    check = on_endpoint()
    assert spec_for(check).token_parameter is None
    live(check, "o", start=NOON + timedelta(minutes=1))
    (spec,), _ = briefing.brief(started([make.run(check, NOON + timedelta(minutes=2))], NOON))
    assert spec.token_parameter == "max_completion_tokens"


def test_the_instance_says_which_networks_are_allowed(settings) -> None:
    assert spec_for(on_endpoint()).egress.allowed == tuple(settings.EGRESS_ALLOWED)


def test_one_refusal_does_not_stop_the_batch() -> None:
    runs = [a_run(on_endpoint()), a_run(on_endpoint(key=None))]
    specs, refused = briefing.brief(runs)
    assert [spec.id for spec in specs] == [runs[0].code]
    assert [(outcome.spec_id, outcome.status) for outcome in refused] == [(runs[1].code, Status.NOT_TESTABLE)]


@pytest.mark.parametrize("lanes", [1, 25])
def test_a_brief_costs_the_same_queries_for_one_lane_and_for_many(lanes, django_assert_num_queries) -> None:
    runs = [a_run(on_endpoint()) for _ in range(lanes)]
    with django_assert_num_queries(5):
        briefing.brief(runs)
