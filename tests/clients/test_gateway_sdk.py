"""Real client libraries through the real gateway: rung 3 makes a rollout, asks at its address, removes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checks import Masked, Reason, Rung, Status, run
from checks.outcome import Step
from checks.simulator import serve
from checks.spec import ClientSpec
from tests.clients.agl import MODEL, Gateway

pytestmark = pytest.mark.clients

BUNDLE = "export AGL_BASE_URL='http://127.0.0.1:9'\n"


def ask_client(gateway: Gateway, python: Path, **changes: Any) -> Step:
    """The one step of rung 3, with nothing left behind."""
    clients = (ClientSpec("openai", python=str(python)),)
    outcome = run(gateway.spec(rungs=(Rung.SDK,), bundle=Masked(BUNDLE), clients=clients, **changes))
    assert gateway.rollouts() == []
    (step,) = outcome.steps
    return step


def test_a_client_is_asked_through_a_rollout_of_its_own(gateway: Gateway, openai_python: Path) -> None:
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        step = ask_client(gateway, openai_python)
        assert [seen.path for seen in server.requests] == ["/v1/chat/completions"]
    assert (step.name, step.status) == ("sdk_openai", Status.OK), step
    assert "/mode/val/openai/v1" in step.say["base_url"]


@pytest.mark.parametrize(
    ("key", "registered", "reason"),
    [
        ("sk-upstream-0123456789", True, Reason.GATEWAY_DROPS_KEY),
        (None, False, Reason.MODEL_NO_CHANNEL),
    ],
)
def test_what_is_behind_the_gateway_is_not_taken_for_the_gateway(
    gateway: Gateway, openai_python: Path, key: str | None, registered: bool, reason: Reason
) -> None:
    with serve("vllm", models=(MODEL,), key=key) as server:
        gateway.serve_from(server.base_url, model=MODEL if registered else "another")
        assert ask_client(gateway, openai_python).reason is reason


def test_a_wrong_gateway_key_is_found_before_a_client_is_started(
    gateway: Gateway, openai_python: Path
) -> None:
    step = ask_client(gateway, openai_python, key=Masked("agl-wrong-0123456789"))
    assert (step.name, step.reason) == ("sdk", Reason.AUTH_INVALID_KEY)
