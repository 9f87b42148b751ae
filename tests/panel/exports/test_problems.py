"""What a bundle warns of: each code where it applies, and not where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checks.outcome import Status
from checks.spec import EndpointKind, LaneKind
from panel.exports.bundle import BundleLane, Generation
from panel.exports.problems import Problem, ProblemCode, problems
from tests.panel.exports.make_bundle import AGENT, GATEWAY, PROOF, REPLAY, ROLLOUT, make_bundle


def codes(lane: BundleLane, generation: Generation = "0.x") -> set[ProblemCode]:
    return {problem.code for problem in problems(make_bundle(lane, generation=generation))}


def test_a_sound_bundle_has_no_problems() -> None:
    assert problems(make_bundle(AGENT, REPLAY, ROLLOUT)) == ()


def test_a_sound_bundle_of_the_new_generation_has_none_either() -> None:
    assert problems(make_bundle(GATEWAY, ROLLOUT, generation="1.x")) == ()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.8.8.8"])
def test_a_loopback_address_means_another_machine_to_the_reader(host: str) -> None:
    assert codes(replace(AGENT, base_url=f"http://{host}:8000/v1")) == {ProblemCode.LOOPBACK_ADDRESS}


def test_a_lane_without_a_model_is_told() -> None:
    assert codes(replace(AGENT, model="")) == {ProblemCode.EMPTY_MODEL}


def test_a_lane_without_the_key_it_needs_is_told() -> None:
    assert codes(replace(AGENT, key_name="", key=None)) == {ProblemCode.LANE_WITHOUT_KEY}


def test_a_key_that_is_only_not_included_is_no_problem() -> None:
    assert problems(make_bundle(replace(AGENT, key=None), with_keys=False)) == ()


@pytest.mark.parametrize("status", [Status.DOWN, Status.NOT_TESTABLE, Status.NOT_REACHED])
def test_a_lane_whose_last_run_did_not_pass_is_not_proven(status: Status) -> None:
    assert codes(replace(AGENT, proof=replace(PROOF, status=status))) == {ProblemCode.LANE_NOT_PROVEN}


def test_a_lane_that_never_ran_is_not_proven() -> None:
    assert codes(replace(AGENT, proof=None)) == {ProblemCode.LANE_NOT_PROVEN}


def test_a_slow_lane_is_proven() -> None:
    assert codes(replace(AGENT, proof=replace(PROOF, status=Status.DEGRADED))) == set()


@pytest.mark.parametrize("kind", [EndpointKind.OPENAI, EndpointKind.AZURE, EndpointKind.LITELLM])
def test_a_hosted_channel_cannot_be_trained(kind: EndpointKind) -> None:
    hosted = replace(ROLLOUT, base_url="https://relay.example/v1", endpoint_kind=kind)
    assert codes(hosted) == {ProblemCode.HOSTED_ROLLOUT}


@pytest.mark.parametrize("kind", [EndpointKind.VLLM, EndpointKind.SGLANG])
def test_a_server_of_ones_own_may_have_a_public_name(kind: EndpointKind) -> None:
    assert codes(replace(ROLLOUT, base_url="https://gpu.example/v1", endpoint_kind=kind)) == set()


def test_a_gateway_passes_no_key_to_a_rollout_that_needs_one() -> None:
    keyed = replace(ROLLOUT, needs_key=True, key_name="v1")
    assert codes(keyed, "1.x") == {ProblemCode.GATEWAY_PASSES_NO_KEY}
    assert codes(keyed, "0.x") == set()


def test_a_gateway_appends_to_an_upstream_that_must_end_in_its_version() -> None:
    bare = replace(ROLLOUT, base_url="http://gpu-a12:8000")
    assert codes(bare, "1.x") == {ProblemCode.UPSTREAM_WITHOUT_VERSION}
    assert codes(bare, "0.x") == set()


def test_an_agent_of_the_new_generation_that_passes_by_the_gateway_is_told() -> None:
    assert codes(AGENT, "1.x") == {ProblemCode.PAST_THE_GATEWAY}


def test_a_problem_names_its_lane() -> None:
    bundle = make_bundle(AGENT, replace(REPLAY, model=""))
    assert problems(bundle) == (Problem(ProblemCode.EMPTY_MODEL, LaneKind.REPLAY),)


def codes_between(*lanes: BundleLane, generation: Generation = "0.x") -> set[ProblemCode]:
    return {problem.code for problem in problems(make_bundle(*lanes, generation=generation))}


def test_two_keys_on_one_host_are_told() -> None:
    replay = replace(AGENT, kind=LaneKind.REPLAY, endpoint_name="Relay, old", key_name="v1")
    assert codes_between(AGENT, replay) == {ProblemCode.SAME_HOST_DIFFERENT_KEYS}


def test_one_key_on_one_host_is_no_conflict() -> None:
    assert codes_between(AGENT, replace(AGENT, kind=LaneKind.REPLAY)) == set()


@pytest.mark.parametrize("spelling", ["DeepSeek-v3.2", "openai/deepseek-v3.2"])
def test_one_model_in_two_spellings_on_one_host_is_told(spelling: str) -> None:
    assert codes_between(AGENT, replace(AGENT, kind=LaneKind.REPLAY, model=spelling)) == {
        ProblemCode.MIXED_IDS
    }


def test_two_models_on_one_host_are_no_conflict() -> None:
    assert codes_between(AGENT, replace(AGENT, kind=LaneKind.REPLAY, model="deepseek-r2")) == set()


def test_a_gateway_without_a_key_is_open_to_whoever_reaches_it() -> None:
    gateway = replace(GATEWAY, needs_key=False, key_name="", key=None)
    assert ProblemCode.GATEWAY_OPEN in codes_between(gateway, ROLLOUT, generation="1.x")


def test_a_gateway_and_a_trainer_that_name_the_model_differently_are_told() -> None:
    gateway = replace(GATEWAY, model="qwen3-8b")
    assert codes_between(gateway, ROLLOUT, generation="1.x") == {ProblemCode.MODEL_NAMES_UNEQUAL}


def test_auto_is_what_the_gateway_replaces() -> None:
    assert codes_between(replace(GATEWAY, model="auto"), ROLLOUT, generation="1.x") == set()
