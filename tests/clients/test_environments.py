"""The locks of the throwaway environments: exact, hashed, and free of places."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from checks.simulator import serve
from tests.clients.environments import HERE

LOCKS = sorted([*HERE.glob("*.lock"), *(HERE.parents[1] / "checks" / "clients").glob("*.lock")])

KEY = "sk-test-simulated-0001"
ASK = """
from openai import OpenAI
answer = OpenAI(max_retries=0).chat.completions.create(
    model="qwen3-8b", messages=[{"role": "user", "content": "Say hello."}]
)
print(answer.choices[0].message.content)
"""


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_a_lock_names_no_index_and_no_place(lock: Path) -> None:
    assert not re.search(
        r"https?://|file:|--(?:extra-)?index-url|--find-links|^/", lock.read_text(), re.MULTILINE
    )


@pytest.mark.parametrize("lock", LOCKS, ids=str)
def test_every_package_of_a_lock_is_exact_and_hashed(lock: Path) -> None:
    entries = re.split(r"^(?=[a-z0-9])", lock.read_text(), flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


@pytest.mark.clients
def test_the_openai_sdk_answers_from_its_variables_alone(openai_python: Path) -> None:
    with serve("openai", key=KEY) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        asked = [str(openai_python), "-c", ASK]
        ended = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "All of it works.\n"), ended.stderr
