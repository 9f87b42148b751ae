"""GPUs are read from what the vendors' tools print, in every state a driver is met in."""

from __future__ import annotations

import pytest

from checks.hosts.gpus import MIB, Driver, read_gpus
from tests.checks.hosts.smi import nvidia, printed, recorded

LIVING = {"state": "R", "user": "ann", "age": 61.5, "name": "python train.py"}


def test_one_gpu_is_read_with_its_memory_driver_and_cuda():
    facts = read_gpus(nvidia("nvidia_one.csv"), {})
    (gpu,) = facts.gpus
    assert (facts.state, facts.driver, facts.cuda) == (Driver.OK, "550.54.15", "12.4")
    assert (gpu.name, gpu.total, gpu.free) == ("NVIDIA GeForce RTX 4090", 24564 * MIB, 5930 * MIB)
    assert (gpu.utilization, gpu.mig) == (97, False)


def test_eight_gpus_keep_their_order():
    facts = read_gpus(nvidia("nvidia_eight.csv"), {})
    assert [gpu.index for gpu in facts.gpus] == list(range(8))


def test_mig_slices_belong_to_their_gpu():
    facts = read_gpus(nvidia("nvidia_mig.csv", listed="nvidia_mig_list.txt"), {})
    assert [(gpu.mig, gpu.slices) for gpu in facts.gpus] == [(True, ("3g.40gb", "1g.10gb")), (False, ())]


def test_what_cannot_be_measured_is_unknown_and_not_zero():
    facts = read_gpus(nvidia("nvidia_mig.csv"), {})
    assert facts.gpus[0].utilization is None


def test_a_lost_gpu_breaks_the_driver():
    facts = read_gpus(nvidia("nvidia_lost.csv"), {})
    assert (facts.state, facts.complaint) == (Driver.BROKEN, "GPU 1: [GPU is lost]")


def test_a_process_on_a_gpu_has_owner_age_and_name():
    facts = read_gpus(nvidia("nvidia_one.csv", "nvidia_one_apps.csv"), {"5000001": LIVING})
    (holder,) = facts.holders
    assert (holder.gpu, holder.used, holder.user) == (0, 18220 * MIB, "ann")
    assert (holder.name, holder.age, holder.alive) == ("python train.py", 61.5, True)


@pytest.mark.parametrize("process", [None, {**LIVING, "state": "Z"}])
def test_a_process_that_is_gone_or_a_zombie_is_not_alive(process: object):
    facts = read_gpus(nvidia("nvidia_eight.csv", "nvidia_eight_apps.csv"), {"5000002": process})
    assert [(holder.gpu, holder.alive) for holder in facts.holders] == [(3, False)]


def test_where_processes_are_hidden_nobody_is_called_gone():
    tools = nvidia("nvidia_eight.csv", "nvidia_eight_apps.csv")
    facts = read_gpus(tools, {"5000002": None}, sees_all=False)
    assert [holder.alive for holder in facts.holders] == [None]


@pytest.mark.parametrize(
    ("name", "code", "state"),
    [
        ("nvidia_none.txt", 6, Driver.EMPTY),
        ("nvidia_mismatch.txt", 18, Driver.MISMATCH),
        ("nvidia_unreachable.txt", 9, Driver.BROKEN),
    ],
)
def test_a_tool_that_complains_names_the_driver_state(name: str, code: int, state: Driver):
    assert read_gpus({"nvidia_gpus": printed(recorded(name), code)}, {}).state is state


def test_a_tool_that_never_ends_is_hung():
    assert read_gpus({"nvidia_gpus": printed("", state="hung")}, {}).state is Driver.HUNG


def test_without_any_tool_there_is_no_driver():
    absent = {name: printed("", state="absent") for name in ("nvidia_gpus", "rocm", "npu")}
    assert read_gpus(absent, {}).state is Driver.ABSENT


def test_amd_gpus_are_read_from_json():
    facts = read_gpus({"rocm": printed("WARNING: low power\n" + recorded("rocm.json"))}, {"5000003": LIVING})
    assert [(gpu.vendor, gpu.name) for gpu in facts.gpus] == [("amd", "AMD Instinct MI300X")] * 2
    assert facts.gpus[0].free == 206141652992 - 12884901888
    assert [(holder.pid, holder.used, holder.user) for holder in facts.holders] == [
        (5000003, 12586934272, "ann")
    ]


def test_ascend_chips_are_read_from_their_boxes():
    facts = read_gpus({"npu": printed(recorded("npu.txt"))}, {"5000004": LIVING})
    assert [(gpu.name, gpu.used) for gpu in facts.gpus] == [("910B3", 41101 * MIB), ("910B3", 3400 * MIB)]
    assert facts.driver == "24.1.rc2"
    assert [(holder.pid, holder.gpu, holder.used) for holder in facts.holders] == [(5000004, 0, 37709 * MIB)]


@pytest.mark.parametrize("tool", ["nvidia_gpus", "rocm", "npu"])
@pytest.mark.parametrize("text", ["", "\0" * 9, ",,,,,,,,,\n" * 99, '{"card0": [1', "|" * 500, '{"a": {}}'])
def test_nonsense_is_no_gpu(tool: str, text: str):
    facts = read_gpus({tool: printed(text)}, {})
    assert [gpu for gpu in facts.gpus if gpu.total] == []


def test_an_answer_of_another_shape_is_no_gpu():
    assert read_gpus(["nvidia_gpus"], "none").gpus == ()
