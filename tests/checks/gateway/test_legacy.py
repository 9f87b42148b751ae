"""The dry run of 0.x: what is refused before it begins. The real one is in tests/clients/test_legacy.py."""

from __future__ import annotations

import ast
import asyncio
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from checks import LaneSpec, Masked, Reason, Status
from checks.hosts import Ground, LocalGround
from checks.outcome import Step
from checks.probes.asking import Ask
from checks.probes.grounds import Grounds
from checks.probes.legacy import legacy_run
from checks.spec import HostSpec, LaneKind, Recipe

PACKAGES = {"agentlightning": "0.3.0", "litellm": "1.103.0", "opentelemetry-sdk": "1.42.1"}


@asynccontextmanager
async def host_here(spec: HostSpec, seconds: float) -> AsyncIterator[Ground]:
    yield LocalGround(name=spec.name)


def legacy(folder: Path, **recipe: Any) -> dict[str, Step]:
    known = {"generation": "0.x", "python": sys.executable, "workdir": str(folder), **recipe}
    spec = LaneSpec(
        f"r{secrets.token_hex(4)}",
        "http://127.0.0.1:9/v1",
        "m",
        Masked("sk-canary-0123456789"),
        LaneKind.ROLLOUT,
        host=HostSpec("h1", "gpu-1", "127.0.0.1", "nobody"),
        recipe=Recipe(**known),
    )
    ask = Ask(spec, monotonic() + 60, datetime.now(UTC), grounds=Grounds(spec, host_here))
    return {step.name: step for step in asyncio.run(legacy_run(ask))}


def installed(folder: Path, **versions: str) -> str:
    """A line after which Python finds packages of these versions, empty as they are."""
    for name, version in {**PACKAGES, **versions}.items():
        described = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return f"export PYTHONPATH={folder}"


def test_a_python_without_agent_lightning_is_refused_with_the_pins(tmp_path: Path) -> None:
    step = legacy(tmp_path)["legacy"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.LIGHTNING_VERSION_UNFIT)
    assert step.say["found"] == "agentlightning none"
    assert "litellm[proxy]<1.104" in step.say["wanted"]


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        ({"litellm": "1.108.7"}, "litellm 1.108.7"),
        ({"opentelemetry-sdk": "1.45.2"}, "opentelemetry-sdk 1.45.2"),
        ({"agentlightning": "1.0.2"}, "agentlightning 1.0.2"),
    ],
)
def test_a_mix_that_is_known_to_break_is_refused(
    tmp_path: Path, versions: dict[str, str], found: str
) -> None:
    step = legacy(tmp_path, activate=installed(tmp_path, **versions))["legacy"]
    assert (step.reason, step.say["found"]) == (Reason.LIGHTNING_VERSION_UNFIT, found)


def test_a_mix_that_works_gets_past_the_gate(tmp_path: Path) -> None:
    step = legacy(tmp_path, activate=installed(tmp_path), agent="mine:Agent")["legacy"]
    assert (step.reason, step.say["agentlightning"]) == (Reason.AGENT_IMPORT_FAILED, "0.3.0")


@pytest.mark.parametrize("recipe", [{"activate": "false"}, {"python": "/no/such/python"}])
def test_an_environment_that_cannot_be_entered_is_named(tmp_path: Path, recipe: dict[str, str]) -> None:
    steps = legacy(tmp_path, **recipe)
    assert steps["legacy"].reason is Reason.HOST_PYTHON_MISSING
    assert steps["legacy_triplets"].status is Status.NOT_REACHED


def test_a_recipe_of_the_newer_generation_has_nothing_to_run(tmp_path: Path) -> None:
    assert legacy(tmp_path, generation="1.x") == {}


@pytest.mark.parametrize("program", ["controller", "legacy", "legacy_child"])
def test_a_program_can_be_read_by_an_old_python(program: str) -> None:
    source = (resources.files("checks.hosts.programs") / f"{program}.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 8))
