"""Whether a model fits a host before anyone starts it: weights, cache, heads, memory, disk, ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from checks.hosts.facts import HostFacts
from checks.hosts.findings import GIB, findings
from checks.hosts.gpus import Gpu
from checks.hosts.ground import Ground
from checks.hosts.shape import read
from checks.outcome import Status
from checks.reason import Reason
from checks.spec import Recipe

MODEL_SECONDS: Final = 20.0
MEMORY_SHARE: Final = 0.9  # vLLM's default for gpu_memory_utilization
OVERHEAD: Final = int(1.5 * GIB)  # CUDA context, activations and graphs of one worker, as seen with 7B models
FEW_SEQUENCES: Final = 4  # below that, rollouts run one after another
CHECKPOINT_BYTES: Final = 12  # a parameter: fp32 weights and the two moments of Adam, as verl saves them
_BYTES: Final[Mapping[str, int]] = {"float32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3fn": 1}
_ORDER: Final = (Status.DOWN, Status.DEGRADED, Status.NOT_TESTABLE, Status.OK)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model's folder: `weights` in bytes, the numbers of its config.json (0 where it names none).

    `missing` are files that the index names in vain. `problem` is "folder" (none there), "config" (no
    config.json) or "config_unreadable"; "" where all was read.
    """

    path: str = ""
    problem: str = ""
    architecture: str = ""
    dtype: str = ""
    quantization: str = ""
    weights: int = 0
    files: int = 0
    missing: tuple[str, ...] = ()
    num_hidden_layers: int = 0
    num_attention_heads: int = 0
    num_key_value_heads: int = 0
    hidden_size: int = 0
    head_dim: int = 0
    max_position_embeddings: int = 0
    kv_lora_rank: int = 0
    qk_rope_head_dim: int = 0

    @property
    def parameters(self) -> int:
        """How many there are, by the size of the files; of a quantised model too few."""
        return self.weights // _BYTES.get(self.dtype, 2)

    @property
    def loaded(self) -> int:
        """Bytes of the weights in GPU memory: vLLM's dtype "auto" loads float32 as 16 bits."""
        return self.weights // 2 if self.dtype == "float32" else self.weights

    def cache_per_token(self, parallel: int) -> int:
        """Return bytes of KV cache a token takes on each of `parallel` GPUs, at 16 bits.

        2 (key and value) x layers x KV heads x head size x 2 bytes; the heads are divided among the GPUs,
        and doubled where there are fewer heads than GPUs. With latent attention (DeepSeek) each GPU keeps
        the whole compressed vector. Source: vLLM's FullAttentionSpec and MLAAttentionSpec. Sliding windows
        are not counted: an upper bound.
        """
        if self.kv_lora_rank:
            return self.num_hidden_layers * (self.kv_lora_rank + self.qk_rope_head_dim) * 2
        size = self.head_dim or self.hidden_size // max(1, self.num_attention_heads)
        heads = max(1, (self.num_key_value_heads or self.num_attention_heads) // max(1, parallel))
        return 2 * self.num_hidden_layers * heads * size * 2


@dataclass(frozen=True, slots=True)
class FitLine:
    """One question of the fit: "model", "heads", "gpus", "context", "weights", "cache", "free_memory",
    "disk", "ports". `say` holds its numbers, with their units."""

    name: str
    status: Status
    say: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FitReport:
    """All lines in a fixed order. `status` is the worst; `reason` names it where it is degraded or down."""

    lines: tuple[FitLine, ...]
    status: Status
    reason: Reason | None


async def read_model(ground: Ground, path: str, *, run: str, seconds: float = MODEL_SECONDS) -> ModelFacts:
    """Read a model's folder on a host. Raises GroundLost."""
    return read(ModelFacts, await ground.run("model", {"path": path}, run=run, seconds=seconds))


def fit(
    facts: HostFacts,
    model: ModelFacts,
    recipe: Recipe,
    prompt_length: int | None,
    response_length: int | None,
    *,
    share: float = MEMORY_SHARE,
    expected_ports: Mapping[int, str] | None = None,
) -> FitReport:
    """Tell whether `model` can be served on the recipe's GPUs for prompts and responses of these lengths.

    `share` is gpu_memory_utilization: vLLM takes that share of each GPU's whole memory, and does not start
    where less is free (`request_memory` in vllm/v1/worker/utils.py). Memory of the trainer itself is not
    judged. Lengths are in tokens; None asks for one token.
    """
    context = max(1, (prompt_length or 0) + (response_length or 0))
    gpus = [gpu for gpu in facts.gpus.gpus if not recipe.gpus or gpu.index in recipe.gpus]
    need = _Need(model, gpus, max(1, recipe.tensor_parallel), context, share)
    lines = [_model(model)]
    if not model.problem:
        lines += [_heads(need), _gpus(need), _context(need), *_memory(need)]
    lines += [_disk(facts, model), _ports(facts, recipe.generation, expected_ports)]
    status = min((line.status for line in lines), key=_ORDER.index)
    bad = status in (Status.DOWN, Status.DEGRADED)
    return FitReport(tuple(lines), status, Reason.DOES_NOT_FIT if bad else None)


@dataclass(frozen=True, slots=True)
class _Need:
    model: ModelFacts
    gpus: list[Gpu]
    parallel: int
    context: int
    share: float

    @property
    def weights(self) -> int:
        """Bytes of weights on each GPU."""
        return self.model.loaded // self.parallel

    @property
    def sequence(self) -> int:
        """Bytes that the cache of one whole sequence takes on each GPU."""
        return self.model.cache_per_token(self.parallel) * self.context


def _model(model: ModelFacts) -> FitLine:
    say = {"path": model.path, "problem": model.problem, "architecture": model.architecture}
    say |= {"dtype": model.dtype, "weights": _size(model.weights), "missing": ", ".join(model.missing)}
    sound = not model.problem and not model.missing and model.weights > 0
    return FitLine("model", Status.OK if sound else Status.DOWN, say)


def _heads(need: _Need) -> FitLine:
    """vLLM refuses to start where the attention heads cannot be divided (`verify_with_parallel_config`)."""
    heads = need.model.num_attention_heads
    say = {"heads": str(heads), "tensor_parallel": str(need.parallel)}
    if not heads:
        return FitLine("heads", Status.NOT_TESTABLE, say)
    return FitLine("heads", Status.DOWN if heads % need.parallel else Status.OK, say)


def _gpus(need: _Need) -> FitLine:
    say = {"gpus": str(len(need.gpus)), "tensor_parallel": str(need.parallel)}
    if len(need.gpus) < need.parallel:
        return FitLine("gpus", Status.DOWN, say)
    idle = len(need.gpus) % need.parallel
    return FitLine("gpus", Status.DEGRADED if idle else Status.OK, say | {"idle": str(idle)})


def _context(need: _Need) -> FitLine:
    longest = need.model.max_position_embeddings
    say = {"asked": str(need.context), "longest": str(longest)}
    if not longest:
        return FitLine("context", Status.NOT_TESTABLE, say)
    return FitLine("context", Status.DOWN if need.context > longest else Status.OK, say)


def _memory(need: _Need) -> Iterator[FitLine]:
    """Judge by the smallest of the GPUs: vLLM gives each the same part."""
    totals = [gpu.total for gpu in need.gpus if gpu.total]
    if not totals:
        yield from (FitLine(name, Status.NOT_TESTABLE) for name in ("weights", "cache", "free_memory"))
        return
    budget = int(min(totals) * need.share)
    say = {"budget": _size(budget), "share": f"{need.share:g}"}
    room = budget - need.weights - OVERHEAD
    yield FitLine("weights", Status.OK if room > 0 else Status.DOWN, say | {"need": _size(need.weights)})
    yield _cache(need, room, say)
    yield _free(need, budget, say)


def _cache(need: _Need, room: int, say: Mapping[str, str]) -> FitLine:
    if not need.sequence:
        return FitLine("cache", Status.NOT_TESTABLE, say)
    at_once = max(0, room) // need.sequence
    told = {**say, "tokens": str(need.context), "need": _size(need.sequence), "at_once": str(at_once)}
    if at_once < 1:
        return FitLine("cache", Status.DOWN, told)
    return FitLine("cache", Status.DEGRADED if at_once < FEW_SEQUENCES else Status.OK, told)


def _free(need: _Need, budget: int, say: Mapping[str, str]) -> FitLine:
    """What is free now: short of one sequence it cannot run; short of the share vLLM refuses to start."""
    frees = sorted((gpu.free for gpu in need.gpus if gpu.free is not None), reverse=True)
    if len(frees) < need.parallel:
        return FitLine("free_memory", Status.NOT_TESTABLE, say)
    free = frees[need.parallel - 1]  # of the GPUs with most room as many as a replica spans
    least = need.weights + OVERHEAD + need.sequence
    told = {**say, "free": _size(free), "need": _size(least)}
    if free < least:
        return FitLine("free_memory", Status.DOWN, told)
    return FitLine("free_memory", Status.DEGRADED if free < budget else Status.OK, told)


def _disk(facts: HostFacts, model: ModelFacts) -> FitLine:
    """Room for one checkpoint where the run writes."""
    disks = {disk.role: disk for disk in facts.disks}
    disk = disks.get("workdir") or disks.get("root")
    need = model.parameters * CHECKPOINT_BYTES
    say = {"need": _size(need)}
    if disk is None or not need:
        return FitLine("disk", Status.NOT_TESTABLE, say)
    say |= {"path": disk.path, "free": _size(disk.free)}
    return FitLine("disk", Status.DEGRADED if disk.free < need else Status.OK, say)


def _ports(facts: HostFacts, generation: str, expected: Mapping[int, str] | None) -> FitLine:
    if "ports" in facts.failed:
        return FitLine("ports", Status.NOT_TESTABLE)
    found = findings(facts, generation=generation, expected_ports=expected)
    taken = [finding.say for finding in found if finding.reason is Reason.PORT_TAKEN]
    say = {"ports": ", ".join(f"{item['port']} ({item['process'] or item['user']})" for item in taken)}
    return FitLine("ports", Status.DEGRADED if taken else Status.OK, say)


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB"
