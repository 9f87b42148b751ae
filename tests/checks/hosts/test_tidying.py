"""After a dry run whose worker died: what it left ends, nobody else's does; what cannot be asked says so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from checks import EndpointKind, Masked, Reason, Status
from checks.probes.tidying import clean_up
from checks.simulator import serve
from checks.spec import HostSpec, LaneSpec
from tests.checks.local import LOOPBACK
from tests.checks.simulated import plainly
from tests.ssh import Sshd

RUN = "run-canary"
KEY = "agl-test-key-0123456789"


def lane(host: HostSpec | None) -> LaneSpec:
    return LaneSpec(RUN, "http://127.0.0.1:9/v1", "m", host=host)


@contextmanager
def left_behind(run: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that bears a run's mark and would go on for a minute."""
    process = subprocess.Popen(["sleep", "60"], env=os.environ | {"PREFLIGHT_RUN": run})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_what_bears_the_run_s_mark_is_ended_and_told(sshd: Sshd) -> None:
    with left_behind(RUN) as process:
        (step,) = clean_up(lane(sshd.spec()))
        assert process.wait(timeout=20) != 0
    assert (step.name, step.status, step.say["count"]) == ("tidied_host", Status.OK, "1")
    assert step.place == "host:gpu-1"


def test_another_run_s_process_goes_on(sshd: Sshd) -> None:
    with left_behind("run-other") as process:
        (step,) = clean_up(lane(sshd.spec()))
        assert process.poll() is None
    assert step.say["count"] == "0"


def test_a_host_that_lets_nobody_in_is_not_called_tidy(sshd: Sshd) -> None:
    (step,) = clean_up(lane(sshd.spec(host_keys=())))
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.HOST_KEY_UNKNOWN)


def test_without_host_and_gateway_there_is_nothing_to_tidy() -> None:
    assert clean_up(lane(None)) == ()


def test_its_rollouts_leave_the_gateway_and_others_stay() -> None:
    with serve("agl-gateway", key=KEY) as server:
        rollouts = [{"rollout_id": f"preflight-{RUN}-train"}, {"rollout_id": "theirs"}]
        plainly.post(f"{server.origin}/api/rollouts", headers={"x-api-key": KEY}, json=rollouts)
        gateway = LaneSpec(
            RUN, server.origin, "m", Masked(KEY), kind=EndpointKind.GATEWAY, egress=LOOPBACK, place="panel"
        )
        first, again = clean_up(gateway), clean_up(gateway)
    assert [step.say["count"] for step in (*first, *again)] == ["1", "0"]
