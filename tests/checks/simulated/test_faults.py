"""From the socket to the verdict: every fault of the simulator, met by the engine's own probes."""

from __future__ import annotations

import json
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from checks import (
    EgressPolicy,
    EndpointKind,
    Evidence,
    LaneSpec,
    Masked,
    Outcome,
    Reason,
    Rung,
    Status,
    classify,
    run,
    run_many,
)
from checks.simulator import FAULTS, Server, serve
from tests.checks.simulated import plainly
from tests.checks.simulated.certificates import context_with
from tests.checks.simulated.questions import ASKED

KEY = "sk-test-simulated-0001"
MODEL = "qwen3-8b"
LOOPBACK = EgressPolicy(allowed=(ip_network("127.0.0.0/8"),))
KEYS = {"azure": "0123456789abcdef0123456789abcdef"}
"""The keys of families that have a form of their own."""
KINDS = {kind.value: kind for kind in EndpointKind}
PATIENCE = {"deaf", "accept_and_hang", "hang", "asleep", "wedged", "crawling", "drip", "slow"}
"""Faults that cost seconds: they are met all at once."""
SHORT, LONG = 2.0, 8.0


def families(number: int, able: list[str]) -> list[str]:
    """All that can do a fault; of one that nearly all can do, every third, begun with another each time."""
    return able if len(able) < 10 else able[number % 3 :: 3]


CASES = [
    (name, family)
    for number, (name, fault) in enumerate(FAULTS.items())
    if not fault.asks and name not in PATIENCE
    for family in families(number, list(fault.effects))
]
ASKING = [(name, family) for name, fault in FAULTS.items() if fault.asks for family in fault.effects]


def lane(server: Server, name: str, ca_file: str | None = None) -> LaneSpec:
    """The lane of that server, as a person would have stored it."""
    return LaneSpec(
        id=name,
        base_url=server.base_url,
        model=MODEL,
        key=Masked(FAULTS[name].key or KEYS.get(server.family, KEY)),
        kind=KINDS.get(server.family, EndpointKind.OPENAI),
        deadline=SHORT if name in PATIENCE - {"slow"} else LONG,
        egress=LOOPBACK,
        ca_file=ca_file,
    )


def climb(name: str, family: str, folder: Path) -> Outcome:
    """Two rungs against that family, misbehaving in that way."""
    certificate = FAULTS[name].certificate
    made = context_with(certificate, folder) if certificate else None
    with serve(family, key=KEYS.get(family, KEY), fault=name, tls=made.server if made else None) as server:
        return run(lane(server, name, made.ca_file if made else None))


@pytest.mark.parametrize(("name", "family"), CASES)
def test_the_verdict_names_what_the_server_does(name: str, family: str, tmp_path: Path) -> None:
    outcome = climb(name, family, tmp_path)
    fault = FAULTS[name]
    named = "" if outcome.reason is None else str(outcome.reason)
    assert named == ("" if fault.alive else fault.expects)
    assert (outcome.status is Status.OK) is (fault.alive or not fault.expects)


@pytest.fixture(scope="module")
def waited_for() -> dict[str, Outcome]:
    """The outcomes of the faults that cost seconds, by fault."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(serve("vllm", key=KEY, fault=name)) for name in PATIENCE}
        return {
            outcome.spec_id: outcome for outcome in run_many([lane(servers[name], name) for name in PATIENCE])
        }


@pytest.mark.parametrize("name", sorted(PATIENCE))
def test_the_verdict_names_a_silence_within_the_deadline(waited_for: dict[str, Outcome], name: str) -> None:
    outcome = waited_for[name]
    assert ("" if outcome.reason is None else str(outcome.reason)) == FAULTS[name].expects
    assert outcome.duration_ms < LONG * 1000


@pytest.mark.parametrize(("name", "family"), [(name, family) for name, family in CASES if FAULTS[name].alive])
def test_an_odd_answer_that_is_alive_is_named_all_the_same(name: str, family: str, tmp_path: Path) -> None:
    chat = climb(name, family, tmp_path).steps[-1]
    assert chat.evidence is not None
    assert str(classify(chat.evidence).reason) == FAULTS[name].expects


def asked(server: Server, question: dict[str, Any]) -> Evidence:
    """The evidence of one chat that asks what the two rungs do not ask."""
    params = {"model": MODEL, "messages": [{"role": "user", "content": "Say hello."}]} | question
    content = json.dumps(params).encode() if question else b"model=qwen3-8b"
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    url = f"{server.base_url}/chat/completions"
    answer = plainly.post(url, headers=headers, content=content)
    return Evidence(
        url=url,
        model=MODEL,
        params=params,
        server=server.family,
        status=answer.status_code,
        headers=dict(answer.headers),
        body=answer.text,
        context={"authorization_header_sent": True},
    )


@pytest.mark.parametrize(
    ("name", "family"), [(name, family) for name, family in ASKING if name != "stream_cut"]
)
def test_what_shows_only_when_asked_is_named_too(name: str, family: str) -> None:
    with serve(family, key=KEY, fault=name) as server:
        evidence = asked(server, ASKED[FAULTS[name].asks])
    assert str(classify(evidence).reason) == FAULTS[name].expects


@pytest.mark.parametrize(
    "family",
    [
        "vllm",
        "sglang",
        "openai",
        "vendor",
        "deepseek",
        "one-api",
        "new-api",
        "litellm-proxy",
        "ollama",
        "lmstudio",
        "azure",
        "agl-gateway",
    ],
)
def test_every_healthy_family_is_green(family: str) -> None:
    with serve(family, key=KEYS.get(family, KEY)) as server:
        outcome = run(lane(server, "slow"))
    assert (outcome.status, outcome.reason, outcome.rung) == (Status.OK, None, Rung.CHANNEL)


@pytest.mark.parametrize(
    "family",
    ["vllm", "sglang", "openai", "vendor", "deepseek", "one-api", "new-api", "litellm-proxy", "agl-gateway"],
)
def test_a_wrong_key_is_named_auth_invalid_key(family: str) -> None:
    with serve(family, key="sk-test-the-right-one") as server:
        assert run(lane(server, "slow")).reason is Reason.AUTH_INVALID_KEY


@pytest.mark.parametrize("family", ["vllm", "openai", "vendor", "deepseek", "litellm-proxy", "ollama"])
def test_an_unknown_model_is_named_model_not_found(family: str) -> None:
    with serve(family, key=KEY, models=("another",)) as server:
        assert run(lane(server, "slow")).reason is Reason.MODEL_NOT_FOUND


def test_a_model_that_takes_only_the_new_name_of_the_length_is_green() -> None:
    with serve("openai", key=KEY, fault="length_renamed") as server:
        outcome = run(lane(server, "length_renamed"))
    assert (outcome.status, outcome.token_parameter) == (Status.OK, "max_completion_tokens")


def test_a_redirect_to_the_metadata_address_is_not_followed() -> None:
    with serve("openai", key=KEY, fault="redirect_metadata") as server:
        outcome = run(lane(server, "redirect_metadata"))
        paths = {seen.path for seen in server.requests}
    assert outcome.reason is Reason.REDIRECT_BROKEN
    assert not any("meta-data" in path for path in paths)


def test_no_outcome_shows_the_key(tmp_path: Path) -> None:
    for name in ("key_refused", "key_in_quotes", "html_page", "reset"):
        assert KEY not in repr(climb(name, "openai", tmp_path))
