"""What stands out on a host is found from its facts, worst first, and nothing is found on a sound one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from checks.hosts.facts import Disk, HostFacts, Listener, PythonFacts, SystemFacts, Variable
from checks.hosts.findings import GIB, Finding, findings, worst
from checks.hosts.gpus import Driver, Gpu, GpuFacts, Holder
from checks.outcome import Status
from checks.reason import Reason

SOUND = HostFacts(
    system=SystemFacts(user="ann", sees_all=True),
    gpus=GpuFacts(Driver.OK, gpus=(Gpu(0, "GPU-0", "H100", "nvidia", 80 * GIB, 0, 80 * GIB),)),
    disks=(Disk("root", "/", "1", 900 * GIB, 400 * GIB, True),),
    team=PythonFacts("python", "", "3.12.3", {"agentlightning": "1.0.2"}),
    clock_skew=0.2,
    skew_error=0.1,
)


def only(facts: HostFacts, **options: Any) -> Finding:
    (finding,) = findings(facts, generation="1.x", **options)
    return finding


def listening(port: int, **columns: Any) -> HostFacts:
    listener = Listener(**{"address": "0.0.0.0", "port": port, "user": "ann", **columns})
    return replace(SOUND, ports=(listener,))


def test_a_sound_host_has_no_finding():
    assert findings(SOUND, generation="1.x") == ()
    assert worst(()) is Status.OK


@pytest.mark.parametrize(
    ("skew", "error", "status"),
    [(6.0, 0.5, Status.DEGRADED), (-75.0, 0.5, Status.DOWN)],
)
def test_a_wrong_clock_is_found_with_its_seconds(skew: float, error: float, status: Status):
    finding = only(replace(SOUND, clock_skew=skew, skew_error=error))
    assert (finding.reason, finding.status) == (Reason.HOST_CLOCK_SKEW, status)
    assert finding.say == {"seconds": f"{skew:+.0f}"}


def test_a_slow_way_to_the_host_is_no_wrong_clock():
    assert findings(replace(SOUND, clock_skew=7.0, skew_error=4.0), generation="1.x") == ()


@pytest.mark.parametrize("state", [Driver.MISMATCH, Driver.HUNG, Driver.BROKEN])
def test_a_driver_that_does_not_answer_is_down(state: Driver):
    finding = only(replace(SOUND, gpus=GpuFacts(state)))
    assert (finding.reason, finding.status) == (Reason.GPU_DRIVER_BROKEN, Status.DOWN)


@pytest.mark.parametrize("state", [Driver.ABSENT, Driver.EMPTY])
def test_a_host_without_a_gpu_is_told_and_stays_ok(state: Driver):
    found = findings(replace(SOUND, gpus=GpuFacts(state)), generation="1.x")
    assert [finding.reason for finding in found] == [Reason.GPU_MISSING]
    assert worst(found) is Status.OK


def test_memory_of_a_process_that_is_gone_is_found():
    holder = Holder(5000002, 0, 70 * GIB, alive=False)
    finding = only(replace(SOUND, gpus=replace(SOUND.gpus, holders=(holder,))))
    assert finding.reason is Reason.GPU_MEMORY_HELD
    assert finding.say == {"pid": "5000002", "process": "", "memory": "70.0 GiB", "gpu": "0"}


def test_memory_that_no_listed_process_holds_is_found():
    full = replace(SOUND.gpus.gpus[0], used=60 * GIB)
    facts = replace(SOUND, gpus=replace(SOUND.gpus, gpus=(full,)))
    assert only(facts).reason is Reason.GPU_MEMORY_HELD
    hidden = replace(facts, system=SystemFacts(user="ann", sees_all=True, container=True))
    assert findings(hidden, generation="1.x") == ()


def test_memory_that_a_living_process_holds_is_in_use():
    full = replace(SOUND.gpus.gpus[0], used=60 * GIB)
    gpus = GpuFacts(Driver.OK, gpus=(full,), holders=(Holder(7, 0, 60 * GIB, alive=True),))
    assert findings(replace(SOUND, gpus=gpus), generation="1.x") == ()


def test_versions_that_clash_are_found_in_the_teams_python():
    team = replace(SOUND.team, packages={"agentlightning": "1.0.2", "verl": "0.9.1"})
    finding = only(replace(SOUND, team=team))
    assert (finding.reason, finding.status) == (Reason.VERSIONS_CLASH, Status.DOWN)
    assert finding.say == {"found": "verl 0.9.1", "wanted": "verl==0.8.0", "python": "python"}


@pytest.mark.parametrize("who", [{"user": "bob"}, {"name": "java"}, {"name": "nginx:"}])
def test_a_port_in_a_strangers_hands_is_taken(who: dict[str, str]):
    finding = only(listening(8080, **who))
    assert finding.reason is Reason.PORT_TAKEN
    assert (finding.say["port"], finding.say["purpose"]) == ("8080", "agl-server")


@pytest.mark.parametrize("name", ["python agl-server", "python", "", "VLLM::EngineCore"])
def test_a_port_in_the_teams_own_hands_is_not_taken(name: str):
    assert findings(listening(8080, name=name), generation="1.x") == ()


def test_the_ports_of_a_recipe_replace_the_defaults():
    assert findings(listening(8080, user="bob"), generation="1.x", expected_ports={9000: "vLLM"}) == ()
    assert only(listening(9000, user="bob"), expected_ports={9000: "vLLM"}).say["purpose"] == "vLLM"


@pytest.mark.parametrize(
    ("port", "columns"),
    [
        (8265, {}),
        (10001, {}),
        (6379, {"name": "gcs_server"}),
        (18000, {"name": "python vllm", "traits": ("vllm_dev",)}),
        (18080, {"name": "python agl-server", "traits": ("gateway_no_key",)}),
    ],
)
def test_an_unguarded_port_is_exposed_beyond_loopback_alone(port: int, columns: dict[str, Any]):
    assert only(listening(port, **columns)).reason is Reason.OPEN_PORT_EXPOSED
    assert findings(listening(port, **columns, address="127.0.0.1"), generation="1.x") == ()


def test_a_redis_on_rays_port_is_not_ray():
    assert findings(listening(6379, name="redis-server"), generation="1.x") == ()


@pytest.mark.parametrize(
    ("role", "total", "free", "status"),
    [
        ("workdir", 900 * GIB, 30 * GIB, Status.DEGRADED),
        ("workdir", 900 * GIB, GIB // 2, Status.DOWN),
        ("shared", GIB // 16, GIB // 16, Status.DEGRADED),
    ],
)
def test_a_disk_that_is_nearly_full_is_found(role: str, total: int, free: int, status: Status):
    finding = only(replace(SOUND, disks=(Disk(role, "/data", "2", total, free, True),)))
    assert (finding.reason, finding.status) == (Reason.DISK_NEARLY_FULL, status)


def test_a_full_disk_behind_two_folders_is_told_once():
    full = Disk("root", "/", "1", 900 * GIB, 2 * GIB, True)
    assert len(findings(replace(SOUND, disks=(full, replace(full, role="workdir", path="/w"))))) == 1


@pytest.mark.parametrize(
    ("name", "spared", "found"),
    [
        ("http_proxy", "", True),
        ("HTTP_PROXY", "intranet.example", True),
        ("ALL_PROXY", "localhost", True),
        ("HTTP_PROXY", "localhost, 127.0.0.1,::1", False),
        ("HTTP_PROXY", "*", False),
        ("HTTPS_PROXY", "", False),
    ],
)
def test_a_proxy_that_takes_loopback_calls_is_found(name: str, spared: str, found: bool):
    variables = (Variable(name, "http://p:3128", 13, "login"), Variable("NO_PROXY", spared, 1, "both"))
    reasons = [finding.reason for finding in findings(replace(SOUND, environment=variables))]
    assert reasons == ([Reason.PROXY_ENV_INTERCEPTS_LOOPBACK] if found else [])


def test_the_worst_comes_first_and_decides():
    many = replace(listening(8265), gpus=GpuFacts(), clock_skew=99.0)
    found = findings(many, generation="1.x")
    assert [finding.status for finding in found] == [Status.DOWN, Status.DEGRADED, Status.NOT_TESTABLE]
    assert worst(found) is Status.DOWN
