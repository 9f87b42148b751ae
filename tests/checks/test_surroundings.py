"""What the team's process on the host would find: stale files, variables set otherwise, proxies."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from checks import LaneSpec, Masked, Reason, Status, Step
from checks.probes import Ask
from checks.probes.grounds import Grounds
from checks.probes.surroundings import surroundings
from tests.checks.hosts.places import PLACE, closed, host_of_tests, with_environment
from tests.checks.local import KEY

BUNDLE = f"""# a bundle
export OPENAI_BASE_URL='http://10.1.2.3:8000/v1'
export OPENAI_API_KEY='{KEY}'
export OPENAI_MODEL='tiny-chat'
export NO_PROXY="10.1.2.3,${{NO_PROXY-}}"
"""
OLD_KEY = "sk-the-key-before-this-one"


def seen(folder: Path, *, opener: Any = None, **environment: str) -> dict[str, Step]:
    """Look around in a working folder, under an environment."""
    host = host_of_tests(workdir=str(folder))
    spec = LaneSpec("a", "http://10.1.2.3:8000/v1", "tiny-chat", bundle=Masked(BUNDLE), host=host)
    grounds = Grounds(spec, opener or with_environment(HOME=str(folder), **environment))
    ask = Ask(spec, monotonic() + 30, datetime.now(UTC), grounds=grounds)

    async def look() -> tuple[Step, ...]:
        try:
            return await surroundings(ask)
        finally:
            await grounds.close()

    return {step.name: step for step in asyncio.run(look())}


def test_surroundings_that_say_nothing_else_are_fine(tmp_path: Path) -> None:
    steps = seen(tmp_path)
    assert {name: step.status for name, step in steps.items()} == {
        "environment": Status.OK,
        "proxies": Status.OK,
    }
    assert {step.place for step in steps.values()} == {PLACE}


def test_a_file_that_agrees_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        f'export OPENAI_API_KEY={KEY} # mine\nOPENAI_BASE_URL = "http://10.1.2.3:8000/v1/"\nOTHER=1\n'
    )
    assert "env_file" not in seen(tmp_path)


@pytest.mark.parametrize(
    ("line", "name", "status"),
    [
        (f"OPENAI_API_KEY={OLD_KEY}", "OPENAI_API_KEY", Status.DOWN),
        ("OPENAI_BASE_URL='http://10.1.2.3:9000/v1'", "OPENAI_BASE_URL", Status.DOWN),
        ("OPENAI_MODEL=other", "OPENAI_MODEL", Status.DEGRADED),
    ],
)
def test_a_stale_file_is_named_with_what_differs(
    tmp_path: Path, line: str, name: str, status: Status
) -> None:
    (tmp_path / ".env").write_text(line + "\n")
    step = seen(tmp_path)["env_file"]
    assert (step.status, step.reason) == (status, Reason.ENV_FILE_STALE)
    assert (step.say["file"], step.say["names"]) == (".env", name)
    assert OLD_KEY not in repr(step)


def test_a_login_environment_with_another_key_shadows_the_bundle(tmp_path: Path) -> None:
    step = seen(tmp_path, OPENAI_API_KEY=OLD_KEY)["environment"]
    assert (step.status, step.reason) == (Status.DEGRADED, Reason.ENV_SHADOWED)
    assert step.say == {"names": "OPENAI_API_KEY"}


def test_what_a_start_file_sets_is_seen(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("echo welcome\nexport OPENAI_MODEL=other\n")
    assert seen(tmp_path)["environment"].say["values"] == "OPENAI_MODEL=other"


def test_a_proxy_before_a_private_server_is_told_without_its_password(tmp_path: Path) -> None:
    step = seen(tmp_path, http_proxy="http://me:secret-word@proxy.example:3128")["proxies"]
    assert (step.status, step.reason) == (Status.DEGRADED, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK)
    assert step.say["proxy"] == "http://proxy.example:3128"
    assert step.say["bundle_avoids_it"] == "yes"


def test_a_proxy_that_is_told_to_keep_out_is_fine(tmp_path: Path) -> None:
    step = seen(tmp_path, HTTP_PROXY="http://proxy.example:3128", NO_PROXY="10.1.2.3")["proxies"]
    assert (step.status, step.say) == (Status.OK, {"set": "HTTP_PROXY, NO_PROXY"})


def test_a_lost_host_is_told_and_decides_nothing(tmp_path: Path) -> None:
    steps = seen(tmp_path, opener=closed)
    assert steps["environment"].reason is Reason.HOST_LOGIN_REFUSED
