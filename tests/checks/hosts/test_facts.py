"""A host is read by a program sent to it: on this machine and over real SSH, with old Pythons, in part."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from checks import Status
from checks.hosts import Heard, LocalGround, ssh_ground
from checks.hosts.facts import HostFacts, facts_from, from_json, read_facts, to_json
from checks.hosts.findings import findings
from checks.hosts.gpus import MIB, Driver
from checks.hosts.ground import source_of
from checks.hosts.reading import look_at
from checks.reason import Reason
from tests.checks.hosts.smi import DATA, nvidia_script, script
from tests.parts import require
from tests.ssh import Sshd

KEY = "sk-proj-do-not-show-this-key-0123456789"
VERSIONS = ("python3.8", "python3.9", "python3.13")
LISTENING = """
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(60)
"""


def facts_here(folder: Path, seconds: float = 20.0, python: str = sys.executable, **asked: Any) -> HostFacts:
    """Read this machine as a host whose home is `folder`, with the tools that stand in folder/bin first."""
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    extra = (("PATH", path), ("HOME", str(folder)), *asked.pop("extra", ()))
    ground = LocalGround(python=python, extra=extra)
    return asyncio.run(read_facts(ground, run="facts-test", seconds=seconds, **asked))


def pythons() -> list[str]:
    """Return our own Python, and of the oldest and newest minor versions those that are installed."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(":") if "shims" not in folder]
    folders += sorted(Path.home().glob(".pyenv/versions/3.*/bin"))
    found = {name: folder / name for folder in folders for name in VERSIONS if (folder / name).exists()}
    return [sys.executable, *map(str, found.values())]


@contextmanager
def running(*argv: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_host_is_read_in_all_its_parts(tmp_path: Path):
    facts = facts_here(tmp_path, workdir=str(tmp_path))
    assert facts.failed == ()
    assert facts.system.hostname == socket.gethostname()
    assert facts.memory.total > facts.memory.available > 0
    assert {disk.role for disk in facts.disks} >= {"root", "workdir", "models", "temporary"}
    assert 0 < facts.system.boot_time < time.time()


def test_facts_survive_their_row(tmp_path: Path):
    facts = facts_here(tmp_path)
    assert from_json(json.loads(json.dumps(to_json(facts)))) == facts


def test_gpus_come_with_the_process_that_holds_them(tmp_path: Path):
    secret = ("-c", "import time; time.sleep(60)", KEY)
    with running(sys.executable, *secret) as process:
        apps = tmp_path / "apps.csv"
        apps.write_text(f"GPU-5f1e9a34-7c1d-2d4b-8e3f-0a1b2c3d4e5f, {process.pid}, 18220, python\n")
        nvidia_script(tmp_path / "bin", DATA / "nvidia_one.csv", apps)
        facts = facts_here(tmp_path)
    (holder,) = facts.gpus.holders
    assert (holder.pid, holder.gpu, holder.used, holder.alive) == (process.pid, 0, 18220 * MIB, True)
    assert holder.name.startswith("python")
    assert KEY not in json.dumps(to_json(facts))


def test_memory_of_a_process_that_is_gone_is_found(tmp_path: Path):
    nvidia_script(tmp_path / "bin", DATA / "nvidia_eight.csv", DATA / "nvidia_eight_apps.csv")
    facts = facts_here(tmp_path)
    require(facts.system.sees_all and not facts.system.container, "the machine's own process numbers")
    assert Reason.GPU_MEMORY_HELD in [finding.reason for finding in findings(facts)]


def test_a_zombie_that_holds_memory_is_not_alive(tmp_path: Path):
    with running("true") as zombie:
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        apps = tmp_path / "apps.csv"
        apps.write_text(f"GPU-5f1e9a34-7c1d-2d4b-8e3f-0a1b2c3d4e5f, {zombie.pid}, 18220, [Not Found]\n")
        nvidia_script(tmp_path / "bin", DATA / "nvidia_one.csv", apps)
        facts = facts_here(tmp_path)
    assert [holder.alive for holder in facts.gpus.holders] == [False]


def test_a_process_that_ended_while_we_looked_holds_nothing(tmp_path: Path):
    once = tmp_path / "once"
    once.write_text("GPU-5f1e9a34-7c1d-2d4b-8e3f-0a1b2c3d4e5f, 5000001, 18220, python\n")
    cases = f"*query-gpu*) cat {DATA / 'nvidia_one.csv'};; *query-compute*) cat {once}; : > {once};;"
    script(tmp_path / "bin", "nvidia-smi", f'case "$*" in {cases} esac')
    assert facts_here(tmp_path).gpus.holders == ()


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("bash", "-s", KEY), "bash"),
        (("sh", "-c", f"read x; : {KEY}", KEY), "sh"),
        (("python3", "-X", KEY, "-m", "http.server"), "python3"),
        (("python3", "-u", "-m", "http.server", KEY), "python3 http.server"),
        (("/opt/agl/bin/python3.12", "-u", "/w/train.py", f"key={KEY}"), "python3.12 train.py"),
        (("ray::WorkerDict.actor_rollout_generate", KEY), "ray::WorkerDict.actor_rollout_generate"),
    ],
)
def test_a_process_is_named_without_its_arguments(argv: tuple[str, ...], name: str):
    spaces: dict[str, Any] = {}
    exec(source_of("facts").rpartition("serve(main)")[0], spaces)  # noqa: S102 - as a host does
    spaces["arguments_of"] = lambda pid: list(argv)
    assert spaces["name_of"](1) == name


def test_a_tool_that_hangs_costs_only_its_own_part(tmp_path: Path):
    script(tmp_path / "bin", "nvidia-smi", "trap '' TERM; sleep 600; sleep 600")
    facts = facts_here(tmp_path, seconds=12.0)
    assert facts.gpus.state is Driver.HUNG
    assert facts.memory.total > 0


def test_a_tool_that_floods_is_cut(tmp_path: Path):
    script(tmp_path / "bin", "rocm-smi", "yes '{\"card0\":'")
    assert facts_here(tmp_path).gpus.state is Driver.BROKEN


def test_a_listening_port_has_its_owner_and_name(tmp_path: Path):
    (tmp_path / "server.py").write_text(LISTENING)
    argv = (sys.executable, str(tmp_path / "server.py"), f"--key={KEY}")
    with running(*argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        facts = facts_here(tmp_path)
    (found,) = [item for item in facts.ports if item.port == port]
    assert (found.address, found.pid, found.user) == ("127.0.0.1", process.pid, facts.system.user)
    assert found.name.endswith(" server.py")


@pytest.mark.parametrize(("key", "traits"), [("key=", ("gateway_no_key",)), (f"key={KEY}", ())])
def test_a_gateway_without_a_key_is_seen_by_its_arguments(tmp_path: Path, key: str, traits: tuple[str, ...]):
    server = tmp_path / "agl-server"
    server.write_text(LISTENING)
    with running(sys.executable, str(server), key, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        facts = facts_here(tmp_path)
    assert [item.traits for item in facts.ports if item.port == port] == [traits]
    assert KEY not in json.dumps(to_json(facts))


def test_the_login_environment_is_told_without_its_secrets(tmp_path: Path):
    (tmp_path / ".bash_profile").write_text(
        f"echo Welcome\nexport OPENAI_API_KEY={KEY} HTTPS_PROXY=http://ann:hunter2@proxy.example:3128\n"
        f"export OPENAI_BASE_URL=https://relay.example/v1?key={KEY} NO_PROXY=localhost\n"
    )
    facts = facts_here(tmp_path, extra=(("CURL_CA_BUNDLE", "/etc/ca.pem"),))
    told = {item.name: (item.value, item.where) for item in facts.environment}
    assert told["OPENAI_API_KEY"] == ("sk-proj-", "login")
    assert told["HTTPS_PROXY"] == ("http://[masked]@proxy.example:3128", "login")
    assert told["OPENAI_BASE_URL"] == ("https://relay.example/v1", "login")
    assert told["CURL_CA_BUNDLE"] == ("/etc/ca.pem", "both")
    assert not [word for word in (KEY, "hunter2") if word in json.dumps(to_json(facts))]


def test_the_teams_python_is_asked_after_its_activation(tmp_path: Path):
    script(tmp_path / "env", "python3", f'exec {sys.executable} "$@"')
    facts = facts_here(tmp_path, activate=f"export PATH={tmp_path / 'env'}:$PATH PYTHONPATH={fake(tmp_path)}")
    assert facts.team.packages == {**facts.team.packages, "verl": "0.9.1", "agentlightning": "1.0.2"}
    reasons = [finding.reason for finding in findings(facts, generation="1.x")]
    assert Reason.VERSIONS_CLASH in reasons


def fake(folder: Path) -> Path:
    """Make a folder where verl and agentlightning look installed."""
    for name, version in {"verl": "0.9.1", "agentlightning": "1.0.2"}.items():
        place = folder / "site" / f"{name}-{version}.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder / "site"


def test_a_python_that_is_not_there_is_a_complaint_and_no_crash(tmp_path: Path):
    facts = asyncio.run(read_facts(LocalGround(), python="/nowhere/python", run="facts-test", seconds=20.0))
    assert facts.team.version == ""
    assert "/nowhere/python" in facts.team.complaint


def test_conda_environments_are_read_without_running_them(tmp_path: Path):
    env = tmp_path / "miniconda3" / "envs" / "agl"
    (env / "conda-meta").mkdir(parents=True)
    (env / "conda-meta" / "python-3.12.4-h955ad1f_1.json").write_text("{}")
    (env / "lib" / "python3.12" / "site-packages" / "vllm-0.12.0+cu129.dist-info").mkdir(parents=True)
    (found,) = [item for item in facts_here(tmp_path).conda if item.path == str(env)]
    assert (found.name, found.version, dict(found.packages)) == ("agl", "3.12.4", {"vllm": "0.12.0+cu129"})


@dataclass(frozen=True)
class ShiftedGround:
    """This machine, with another clock."""

    seconds: float
    name: str = "shifted"

    async def run(
        self,
        program: str,
        request: Mapping[str, Any],
        *,
        run: str,
        seconds: float,
        heard: Heard | None = None,
    ) -> Any:
        def shifted(event: Mapping[str, Any]) -> None:
            assert heard is not None
            heard({**event, "utc": event["utc"] + self.seconds} if event["event"] == "time" else event)

        return await LocalGround().run(program, request, run=run, seconds=seconds, heard=shifted)


@pytest.mark.parametrize("seconds", [-120.0, 0.0, 30.0])
def test_the_skew_of_a_clock_is_known_within_half_the_round_trip(seconds: float):
    facts = asyncio.run(read_facts(ShiftedGround(seconds), run="facts-test", seconds=20.0))
    assert facts.clock_skew is not None
    assert abs(facts.clock_skew - seconds) <= facts.skew_error + 0.01


def test_hostile_answers_are_cut_to_shape():
    told = {
        "system": {"hostname": "h" * 9000, "kernel": ["x"], "boot_time": "now", "user": "a\0\x1b[2Jb"},
        "memory": {"total": 10**400, "available": True},
        "ports": [{"port": 1, "name": f"x {KEY}"}, "port", *({"port": 2} for _ in range(2000))],
        "team": {"packages": {"verl": 9, "vllm": "1"}},
        "disks": {"role": "root"},
        "conda": None,
    }
    facts = facts_from(told)
    assert (len(facts.system.hostname), facts.system.kernel, facts.system.boot_time) == (500, "", 0)
    assert facts.system.user.isprintable()
    assert (facts.memory.total, facts.memory.available) == (0, 0)
    assert len(facts.ports) <= 512
    assert KEY not in facts.ports[0].name
    assert (facts.team.packages, facts.disks, facts.conda) == ({"vllm": "1"}, (), ())


@pytest.mark.parametrize("answer", [None, [], "facts", 7, {"gpus": "x", "processes": 3, "failed": [1, {}]}])
def test_an_answer_of_another_shape_is_empty_facts(answer: object):
    assert replace(facts_from(answer), failed=()) == HostFacts()


@pytest.mark.parametrize("program", ["facts", "model"])
def test_the_programs_are_text_for_an_old_python(program: str):
    ast.parse(source_of(program), feature_version=(3, 8))


@pytest.mark.parametrize("python", pythons())
def test_old_and_new_pythons_run_the_program(python: str, tmp_path: Path):
    facts = facts_here(tmp_path, python=python)
    assert facts.failed == ()
    assert facts.python.version


def test_a_host_is_read_over_ssh(sshd: Sshd):
    async def go() -> HostFacts:
        spec = sshd.spec()
        async with ssh_ground(spec, seconds=20.0) as ground:
            return await read_facts(ground, python=spec.python, run="facts-over-ssh", seconds=30.0)

    facts = asyncio.run(go())
    assert facts.failed == ()
    assert facts.team.version
    assert facts.clock_skew is not None
    assert abs(facts.clock_skew) <= facts.skew_error + 0.01


def test_a_host_over_ssh_whose_clock_is_off_by_ninety_seconds_is_down(sshd: Sshd, tmp_path: Path):
    late = tmp_path / "python"
    shift = "import time; real = time.time; time.time = lambda: real() - 90"
    late.write_text(f'#!/bin/sh\nexec {sys.executable} -I -B -c "{shift}\n$4"\n')
    late.chmod(0o755)
    seen = look_at(sshd.spec(python=str(late)), run="read-with-a-slow-clock")
    assert (seen.status, seen.reason) == (Status.DOWN, Reason.HOST_CLOCK_SKEW)
    assert 85 < abs(float(seen.say["seconds"])) < 95
