"""A real vLLM on the CPU, with a tiny model of random weights: installed, started with a deadline, ended.

It needs Python 3.11 on Linux x86-64, 3 GB of disk, 3.2 GB of memory and about a minute to start.
`vllm.lock` is written, with Python 3.11 and a folder that has PyTorch's wheel for CPUs, by
`uv pip compile --generate-hashes --no-header --only-binary :all: --find-links FOLDER --no-emit-find-links`
and `--no-emit-package` for torchvision, torchaudio and torchcodec, which are builds for CUDA.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clients import environments, processes

FIND_LINKS = "PREFLIGHT_TEST_VLLM_FIND_LINKS"
INSTALL_SECONDS = 1800
START_SECONDS = 600  # one minute on a quiet machine, four on one that is busy
KEY = "sk-test-vllm-0123456789"
MODEL = "tiny-model"
WINDOW = 512

# Its command line and its choice of a platform look a distribution up by the name "vllm".
ALIAS = "vllm-0.32.0+cpu.dist-info"
METADATA = "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n"

SHAPE = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "bos_token_id": 0,
    "eos_token_id": 2,
}
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|im_end|>",
    "pad_token": "<|endoftext|>",
    "chat_template": TEMPLATE,
}
TRAIN = """
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=512,
    special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
)
tokenizer.train_from_iterator(["Reply with one short word.", "The weather of a city."], trainer)
tokenizer.save("tokenizer.json")
"""
OPTIONS = (
    *("--served-model-name", MODEL, "--api-key", KEY, "--host", "127.0.0.1"),
    *("--load-format", "dummy", "--dtype", "bfloat16", "--enforce-eager"),
    *("--max-model-len", str(WINDOW), "--max-num-seqs", "4", "--max-num-batched-tokens", "512"),
)


@dataclass(frozen=True, slots=True)
class Vllm:
    """A running vLLM, in development mode and without tool flags; `key` guards what lies under /v1."""

    origin: str
    key: str = KEY
    model: str = MODEL
    window: int = WINDOW


def python() -> Path:
    """The interpreter of an environment that holds vLLM. Raises environments.CannotInstall."""
    found = environments.python_of("vllm", find_links=_find_links(), seconds=INSTALL_SECONDS)
    alias = next(found.parents[1].glob("lib/python*/site-packages")) / ALIAS
    alias.mkdir(exist_ok=True)
    (alias / "METADATA").write_text(METADATA)
    (alias / "RECORD").touch()
    return found


@contextlib.contextmanager
def running(interpreter: Path, folder: Path) -> Iterator[Vllm]:
    """Start vLLM in `folder` on a free port; end it, and the engine's processes, on leaving.

    Raises AssertionError with its last words when it does not come up in time.
    """
    port = processes.free_port()
    origin = f"http://127.0.0.1:{port}"
    _make_model(interpreter, folder / "tiny")
    vllm = str(interpreter.parent / "vllm")
    with processes.running(
        [vllm, "serve", "./tiny", *OPTIONS, "--port", str(port)],
        folder=folder,
        environment=_environment(folder),
        page=f"{origin}/health",
        seconds=START_SECONDS,
    ):
        yield Vllm(origin)


def _make_model(interpreter: Path, folder: Path) -> None:
    """Write the three small files of a model; its weights are made up by the server."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SHAPE))
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER))
    subprocess.run([str(interpreter), "-c", TRAIN], cwd=folder, check=True, timeout=60)


def _find_links() -> str:
    """The folder or page with PyTorch's wheel for CPUs: as told, else as pip is set up here, else empty."""
    told = os.environ.get(FIND_LINKS)
    if told:
        return told
    base = str(getattr(sys, "_base_executable", None) or sys.executable)
    asked = [base, "-m", "pip", "config", "get", "global.find-links"]
    return subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip()


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the caller's but the path; two threads, one gigabyte of cache, no calls home."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "VLLM_SERVER_DEV_MODE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "2",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
    }
