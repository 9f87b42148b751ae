"""The team's own command: its output, its end, what it leaves, and what is made of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checks import Reason, Status
from checks.outcome import Told
from tests.checks.hosts.commands import alive, run_command, spec_for

SWALLOWED = (
    "echo \"openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key'}}\""
)
STUBBORN = "trap '' TERM HUP; (setsid sh -c \"trap '' TERM; echo \\$\\$ > {pid}; sleep 60\" &); sleep 60"


def test_output_arrives_while_the_command_still_runs():
    times: list[tuple[float, str]] = []

    def note(told: Told) -> None:
        times.append((time.monotonic(), told.output))

    run_command(spec_for("sh", "-c", "echo first; sleep 2; echo second"), heard=note)
    said = [text.strip() for _, text in times if text]
    assert said == ["first", "second"]
    assert times[1][0] - times[0][0] > 1


def test_the_command_finds_the_bundle_in_its_environment_and_nowhere_else(tmp_path: Path):
    told: list[str] = []
    spec = spec_for("sh", "-c", "echo $OPENAI_BASE_URL ${#OPENAI_API_KEY}; tr '\\0' ' ' </proc/$PPID/cmdline")
    steps = run_command(spec, heard=lambda event: told.append(event.output))
    assert steps["command"].status is Status.OK
    assert "http://127.0.0.1:9/v1 19" in "".join(told)
    assert "sk-test-bundle" not in "".join(told)


def test_a_failure_that_was_printed_counts_although_the_command_ends_with_zero():
    step = run_command(spec_for("sh", "-c", f"{SWALLOWED}; exit 0"))["command"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.AUTH_INVALID_KEY)
    assert step.say["exit"] == "0"


def test_an_error_that_a_retry_got_over_only_degrades():
    line = "echo 'openai.InternalServerError: Error code: 503 - Service temporarily unavailable'; echo done"
    step = run_command(spec_for("sh", "-c", line))["command"]
    assert step.status is Status.DEGRADED


def test_an_exit_code_without_a_known_cause_is_a_failed_command():
    step = run_command(spec_for("sh", "-c", "echo no such dataset; exit 3"))["command"]
    assert (step.status, step.reason, step.say["exit"]) == (Status.DOWN, Reason.COMMAND_FAILED, "3")
    assert step.evidence is not None
    assert "no such dataset" in step.evidence.body


def test_a_command_that_does_not_exist_is_a_failed_command():
    step = run_command(spec_for("no-such-program-here"))["command"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.COMMAND_FAILED)


def test_a_command_that_forks_and_ignores_sigterm_ends_at_its_deadline_with_all_it_started(tmp_path: Path):
    line = STUBBORN.format(pid=tmp_path / "pid")
    steps = run_command(spec_for("sh", "-c", line, command_deadline=5.0))
    assert (steps["command"].status, steps["command"].reason) == (Status.DOWN, Reason.COMMAND_OVERRAN)
    assert steps["leftovers"].reason is Reason.PROCESSES_LEFT
    assert not alive(int((tmp_path / "pid").read_text()))


def test_what_a_finished_command_left_running_is_told_and_ended(tmp_path: Path):
    line = f"(setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 60' &) ; sleep 1"
    steps = run_command(spec_for("bash", "-c", line))
    assert steps["command"].status is Status.OK
    assert (steps["leftovers"].status, steps["leftovers"].say["count"]) == (Status.DEGRADED, "1")
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_process_that_cleared_its_environment_is_found_all_the_same(tmp_path: Path):
    line = f"(env -i setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 60' &) ; sleep 1"
    steps = run_command(spec_for("bash", "-c", line))
    assert steps["leftovers"].say["count"] == "1"
    assert not alive(int((tmp_path / "pid").read_text()))


def test_output_beyond_the_cap_is_counted_and_dropped():
    told: list[str] = []
    spec = spec_for("sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo end", output_cap=10_000)
    step = run_command(spec, heard=lambda event: told.append(event.output))["command"]
    assert len("".join(told)) == 10_000
    assert step.say["bytes"] == "3000004"


@pytest.fixture
def gpus(tmp_path: Path) -> Path:
    """A folder with an nvidia-smi that says what the file "used" says."""
    (tmp_path / "used").write_text("0, 10\n1, 20\n")
    script = tmp_path / "nvidia-smi"
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/used\n")
    script.chmod(0o755)
    return tmp_path


def test_gpu_memory_is_read_before_during_and_after(gpus: Path):
    line = f"echo '0, 900' > {gpus}/used; sleep 6; echo '0, 12' > {gpus}/used"
    steps = run_command(spec_for("sh", "-c", line, gpus=(0,)), path=gpus)
    assert steps["gpu_memory"].status is Status.OK
    assert steps["gpu_memory"].say["gpu0"] == "10 → 900 → 12 MiB"


def test_gpu_memory_that_is_not_given_back_is_told(gpus: Path):
    steps = run_command(spec_for("sh", "-c", f"echo '0, 5000' > {gpus}/used", gpus=(0,)), path=gpus)
    step = steps["gpu_memory"]
    assert (step.status, step.reason, step.say["held_mib"]) == (
        Status.DEGRADED, Reason.GPU_MEMORY_LEFT, "4990",
    )  # fmt: skip


def test_the_command_sees_only_the_gpus_of_its_recipe():
    told: list[str] = []
    run_command(
        spec_for("sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]", gpus=(2, 3)),
        heard=lambda event: told.append(event.output),
    )
    assert "".join(told).strip() == "[2,3]"
