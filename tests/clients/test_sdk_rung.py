"""The third rung through the real client libraries, from the worker: green, and each break by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from checks import LaneKind, Masked, Outcome, Reason, Status, Step, run
from checks.simulator import serve
from checks.spec import ClientSpec, EgressPolicy
from tests.clients.sdk import KEY, bundle, lane, variables

pytestmark = pytest.mark.clients
Python = Callable[[str], Path]

LIBRARIES = ("openai", "openai==2.15.0", "langchain-openai", "langchain-openai==0.3.35", "litellm")
NEWEST = ("openai", "langchain-openai", "litellm")


def only(outcome: Outcome) -> Step:
    """The one step there is."""
    (step,) = outcome.steps
    return step


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_good_bundle_is_green_and_says_what_the_client_made_of_it(
    library: str, library_python: Python
) -> None:
    name, _, version = library.partition("==")
    with serve("vllm", key=KEY) as server:
        step = only(run(lane(server, name, library_python(library))))
        assert step.say["base_url"].rstrip("/") == server.base_url
    assert (step.status, step.reason) == (Status.OK, None)
    assert (step.say["key_tail"], step.say["retries"], step.say["status"]) == (KEY[-4:], "0", "200")
    assert step.say["version"].startswith(version)
    assert step.tokens > 0
    assert len([seen for seen in server.requests if seen.path.endswith("/chat/completions")]) == 1


@pytest.mark.parametrize(
    ("family", "fault", "reason"),
    [
        ("vllm", "key_refused", Reason.AUTH_INVALID_KEY),
        ("vllm", "html_page", Reason.BASE_URL_HTML_PAGE),
        ("vllm", "no_version", Reason.BASE_URL_MISSING_V1),
        ("openai", "rate_limited", Reason.RATE_LIMITED),
    ],
)
@pytest.mark.parametrize("library", NEWEST)
def test_what_the_server_answers_is_judged_and_not_the_class_that_was_raised(
    library: str, family: str, fault: str, reason: Reason, library_python: Python
) -> None:
    with serve(family, key=KEY, fault=fault) as server:
        step = only(run(lane(server, library, library_python(library))))
    assert (step.status, step.reason) == (Status.DOWN, reason)
    assert step.evidence is not None
    assert step.evidence.failure is not None
    assert step.evidence.failure.chain


@pytest.mark.parametrize("library", NEWEST[:2])
def test_a_client_that_finds_no_address_sends_the_key_nowhere(library: str, library_python: Python) -> None:
    with serve("vllm", key=KEY) as server:
        bare = bundle(variables(server, OPENAI_BASE_URL="", OPENAI_API_BASE=""))
        step = only(run(lane(server, library, library_python(library), bundle=bare)))
    assert (step.status, step.reason) == (Status.DOWN, Reason.BASE_URL_NOT_APPLIED)
    assert step.say["base_url"] == "https://api.openai.com/v1"


def test_an_address_set_to_nothing_is_malformed(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        text = f"export OPENAI_BASE_URL=''\nexport OPENAI_API_KEY='{KEY}'\n"
        step = only(run(lane(server, "openai", openai_python, bundle=Masked(text))))
    assert (step.status, step.reason) == (Status.DOWN, Reason.BASE_URL_MALFORMED)


def test_no_key_in_the_bundle_is_named(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        spec = lane(server, "openai", openai_python, bundle=bundle(variables(server, OPENAI_API_KEY="")))
        assert only(run(spec)).reason is Reason.ENV_KEY_UNSET


def test_a_line_break_behind_the_key_is_named_although_the_client_says_connection_error(
    openai_python: Path,
) -> None:
    with serve("vllm", key=KEY) as server:
        broken = Masked(bundle(variables(server)).reveal().replace(KEY, KEY + "\n"))
        step = only(run(lane(server, "openai", openai_python, bundle=broken)))
    assert step.reason is Reason.AUTH_KEY_MALFORMED
    assert "Connection error." in step.say["error"]


def test_a_server_that_hangs_ends_the_question_in_time(openai_python: Path) -> None:
    with serve("vllm", key=KEY, fault="hang") as server:
        outcome = run(lane(server, "openai", openai_python, deadline=10.0))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.REQUEST_TIMEOUT)
    assert outcome.duration_ms < 15_000


def test_a_replay_lane_reads_its_own_variables(library_python: Python) -> None:
    with serve("vllm", key="sk-test-agent-0002") as other, serve("vllm", key=KEY) as server:
        own = {"PREFLIGHT_REPLAY_BASE_URL": server.base_url, "PREFLIGHT_REPLAY_API_KEY": KEY}
        spec = lane(server, "litellm", library_python("litellm"))
        step = only(run(replace(spec, bundle=bundle({**variables(other), **own}))))
        assert (step.status, step.say["base_url"]) == (Status.OK, server.base_url)
    assert not [seen for seen in other.requests if seen.path.endswith("/chat/completions")]


def test_a_rollout_lane_is_given_its_values(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        spec = lane(server, "openai", openai_python, lane=LaneKind.ROLLOUT, bundle=Masked("# nothing\n"))
        assert only(run(spec)).status is Status.OK


def test_a_denied_address_is_not_dialled_by_the_client_either(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        step = only(run(lane(server, "openai", openai_python, egress=EgressPolicy())))
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.EGRESS_DENIED)
    assert not server.requests


def test_a_redirect_is_not_followed_to_an_address_that_was_not_judged(openai_python: Path) -> None:
    with serve("vllm", key=KEY, fault="redirect_metadata") as server:
        step = only(run(lane(server, "openai", openai_python, deadline=20.0)))
    assert step.status is not Status.OK
    assert step.evidence is not None
    assert "Preflight does not dial" in str(step.evidence.failure)


@pytest.mark.parametrize("library", NEWEST)
def test_no_key_is_in_anything_that_is_told(library: str, library_python: Python) -> None:
    canary = "sk-canary-7f3a9b2c4d5e6f708192"
    with serve("vllm", key=KEY) as server:
        values = bundle(variables(server, OPENAI_API_KEY=canary))
        spec = lane(server, library, library_python(library), key=Masked(canary), bundle=values)
        outcome = run(spec)
    assert outcome.reason is Reason.AUTH_INVALID_KEY
    assert canary not in str(asdict(outcome))


def test_two_clients_of_a_lane_are_two_steps(library_python: Python) -> None:
    clients = tuple(ClientSpec(name, "", str(library_python(name))) for name in NEWEST[:2])
    with serve("vllm", key=KEY) as server:
        outcome = run(lane(server, "openai", "", clients=clients))
    assert [(step.name, step.status) for step in outcome.steps] == [
        ("sdk_openai", Status.OK),
        ("sdk_langchain", Status.OK),
    ]
