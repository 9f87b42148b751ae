"""A model fits a host when its weights, cache, heads and files do; each line says by which numbers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from checks.hosts.facts import Disk, HostFacts, Listener, SystemFacts
from checks.hosts.findings import GIB
from checks.hosts.fit import FitLine, FitReport, ModelFacts, fit, read_model
from checks.hosts.gpus import Driver, Gpu, GpuFacts
from checks.hosts.local import LocalGround
from checks.outcome import Status
from checks.reason import Reason
from checks.spec import Recipe

# The numbers of Qwen2.5-7B-Instruct's config.json and index.
QWEN = ModelFacts(
    path="/models/qwen",
    architecture="Qwen2ForCausalLM",
    dtype="bfloat16",
    weights=15_231_233_024,
    files=4,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    hidden_size=3584,
    max_position_embeddings=32768,
)
CARD = Gpu(0, "GPU-0", "H100", "nvidia", 80 * GIB, 0, 80 * GIB)
HOST = HostFacts(
    system=SystemFacts(user="ann", sees_all=True),
    gpus=GpuFacts(Driver.OK, gpus=(CARD, replace(CARD, index=1), replace(CARD, index=2))),
    disks=(Disk("root", "/", "1", 900 * GIB, 400 * GIB, True),),
)


def line(report: FitReport, name: str) -> FitLine:
    return next(line for line in report.lines if line.name == name)


def cards(total: int, free: int) -> HostFacts:
    return replace(HOST, gpus=GpuFacts(Driver.OK, gpus=(replace(CARD, total=total, free=free),)))


def test_a_model_with_room_fits():
    report = fit(HOST, QWEN, Recipe(), 4096, 2048)
    assert {line.status for line in report.lines} == {Status.OK}
    assert (report.status, report.reason) == (Status.OK, None)


def test_the_cache_of_a_token_follows_the_models_numbers():
    assert QWEN.cache_per_token(1) == 2 * 28 * 4 * 128 * 2
    assert QWEN.cache_per_token(2) == QWEN.cache_per_token(1) // 2
    assert QWEN.cache_per_token(8) == QWEN.cache_per_token(4)


def test_latent_attention_keeps_one_compressed_vector_a_layer():
    deepseek = replace(QWEN, num_hidden_layers=61, kv_lora_rank=512, qk_rope_head_dim=64)
    assert deepseek.cache_per_token(8) == 61 * 576 * 2


def test_heads_that_cannot_be_divided_do_not_fit():
    report = fit(HOST, QWEN, Recipe(tensor_parallel=3), 4096, 2048)
    assert line(report, "heads").status is Status.DOWN
    assert report.reason is Reason.DOES_NOT_FIT


def test_fewer_gpus_than_a_replica_spans_do_not_fit():
    report = fit(HOST, QWEN, Recipe(tensor_parallel=2, gpus=(1,)), 4096, 2048)
    assert line(report, "gpus") == FitLine("gpus", Status.DOWN, {"gpus": "1", "tensor_parallel": "2"})


def test_gpus_that_no_replica_can_use_are_told():
    assert line(fit(HOST, QWEN, Recipe(tensor_parallel=2), 512, 512), "gpus").say["idle"] == "1"


def test_a_context_beyond_the_models_own_does_not_fit():
    assert line(fit(HOST, QWEN, Recipe(), 30000, 4096), "context").status is Status.DOWN


def test_weights_beyond_the_share_of_a_gpu_do_not_fit():
    said = line(fit(cards(16 * GIB, 16 * GIB), QWEN, Recipe(), 512, 512), "weights")
    assert (said.status, said.say["budget"], said.say["need"]) == (Status.DOWN, "14.4 GiB", "14.2 GiB")


def test_a_cache_for_one_sequence_alone_is_slow():
    said = line(fit(cards(19 * GIB, 19 * GIB), QWEN, Recipe(), 16384, 8192), "cache")
    assert (said.status, said.say["at_once"]) == (Status.DEGRADED, "1")


def test_half_the_weights_lie_on_each_of_two_gpus():
    said = line(fit(HOST, QWEN, Recipe(tensor_parallel=2), 512, 512), "weights")
    assert said.say["need"] == "7.1 GiB"


def test_float32_files_are_loaded_at_sixteen_bits():
    assert replace(QWEN, dtype="float32").loaded == QWEN.weights // 2


@pytest.mark.parametrize(("free", "status"), [(8, Status.DOWN), (40, Status.DEGRADED), (75, Status.OK)])
def test_free_memory_is_held_against_the_need_and_the_share(free: int, status: Status):
    assert line(fit(cards(80 * GIB, free * GIB), QWEN, Recipe(), 4096, 2048), "free_memory").status is status


def test_a_disk_without_room_for_a_checkpoint_is_told():
    small = replace(HOST, disks=(Disk("workdir", "/w", "2", 900 * GIB, 50 * GIB, True),))
    said = line(fit(small, QWEN, Recipe(), 512, 512), "disk")
    assert (said.status, said.say["need"]) == (Status.DEGRADED, "85.1 GiB")


def test_a_port_of_the_run_in_other_hands_is_told():
    taken = replace(HOST, ports=(Listener("0.0.0.0", 8080, "bob"),))
    assert line(fit(taken, QWEN, Recipe(), 512, 512), "ports").say == {"ports": "8080 (bob)"}


def test_without_a_gpu_memory_is_not_judged():
    report = fit(replace(HOST, gpus=GpuFacts()), QWEN, Recipe(), 512, 512)
    assert line(report, "weights").status is Status.NOT_TESTABLE


def make_model(folder: Path, **config: object) -> Path:
    folder.mkdir()
    plain = {"architectures": ["Qwen2ForCausalLM"], "torch_dtype": "bfloat16", "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps({**plain, **config}))
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"0" * 1000)
    (folder / "old.bin").write_bytes(b"0" * 5000)
    places = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return folder


def read(path: Path) -> ModelFacts:
    return asyncio.run(read_model(LocalGround(), str(path), run="fit-test"))


def test_a_models_folder_is_read_without_loading_it(tmp_path: Path):
    model = read(make_model(tmp_path / "m", num_attention_heads=8))
    assert (model.architecture, model.num_hidden_layers, model.num_attention_heads) == (
        "Qwen2ForCausalLM",
        2,
        8,
    )
    assert (model.weights, model.files) == (1000, 1)
    assert model.missing == ("model-00002-of-00002.safetensors",)


def test_the_numbers_of_a_model_that_sees_are_found_inside(tmp_path: Path):
    model = read(make_model(tmp_path / "m", text_config={"num_hidden_layers": 36}))
    assert model.num_hidden_layers == 36


def test_a_folder_that_is_not_there_is_a_model_that_does_not_fit(tmp_path: Path):
    report = fit(HOST, read(tmp_path / "none"), Recipe(), 512, 512)
    assert (line(report, "model").say["problem"], report.status) == ("folder", Status.DOWN)


@pytest.mark.parametrize("text", ["[1]", "{", "x" * 300000, '{"num_hidden_layers": true}'])
def test_a_configuration_of_nonsense_is_no_crash(tmp_path: Path, text: str):
    folder = make_model(tmp_path / "m")
    (folder / "config.json").write_text(text)
    assert (read(folder)).num_hidden_layers == 0
