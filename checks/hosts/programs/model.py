"""Reads a model's folder: what its config.json says, and how large its weights are; loads nothing."""

from __future__ import annotations

import json
import os

MAX_CONFIG = 262144  # bytes
MAX_INDEX = 16777216
MAX_NAMES = 4096
NUMBERS = (
    *("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size", "head_dim"),
    *("max_position_embeddings", "kv_lora_rank", "qk_rope_head_dim", "vocab_size"),
)
WEIGHTS = (".safetensors", ".bin", ".pt", ".gguf")
NOT_WEIGHTS = ("training_args", "optimizer", "scheduler", "rng_state")


def main(request, tell):
    """Return sizes in bytes and the numbers of the configuration; `problem` says what is not there."""
    path = os.path.expanduser(request.get("path") or "")
    if not os.path.isdir(path):
        return {"path": path, "problem": "folder"}
    try:
        config = read_json(os.path.join(path, "config.json"), MAX_CONFIG)
    except FileNotFoundError:
        return {"path": path, "problem": "config"}
    except (OSError, ValueError):
        return {"path": path, "problem": "config_unreadable"}
    inner = config.get("text_config")  # where a model that also sees keeps its numbers
    text = dict(config, **inner) if isinstance(inner, dict) else config
    found = {name: text[name] for name in NUMBERS if isinstance(text.get(name), int)}
    found.update(weights_in(path), path=path, architecture=first(config.get("architectures")))
    found["dtype"] = str(text.get("torch_dtype") or text.get("dtype") or "")[:40]
    packed = config.get("quantization_config")
    found["quantization"] = str(packed.get("quant_method", "yes"))[:40] if isinstance(packed, dict) else ""
    return found


def read_json(path, cap):
    with open(path, "rb") as source:
        raw = source.read(cap + 1)
    if len(raw) > cap:
        raise ValueError("The file is too large.")
    value = json.loads(raw.decode("utf-8"))
    if not isinstance(value, dict):
        raise ValueError("The file holds no object.")
    return value


def first(names):
    return str(names[0])[:80] if isinstance(names, list) and names else ""


def weights_in(path):
    """Return the bytes of the best kind of weights there, and the files that the index names in vain.

    Of several kinds (safetensors beside older .bin files) a loader takes the first of WEIGHTS alone.
    """
    names = sorted(os.listdir(path))[:MAX_NAMES]
    places = {name: os.path.join(path, name) for name in names}
    sizes = {name: os.path.getsize(places[name]) for name in names if os.path.isfile(places[name])}
    kinds = [
        {name: sizes[name] for name in sizes if name.endswith(end) and not name.startswith(NOT_WEIGHTS)}
        for end in WEIGHTS
    ]
    chosen = next((kind for kind in kinds if kind), {})
    missing = sorted(indexed(path) - set(sizes))
    return {"weights": sum(chosen.values()), "files": len(chosen), "missing": missing[:20]}


def indexed(path):
    """Return the names of the files that a sharded model's index lists."""
    try:
        index = read_json(os.path.join(path, "model.safetensors.index.json"), MAX_INDEX)
    except (OSError, ValueError):
        return set()
    places = index.get("weight_map")
    return {name for name in places.values() if isinstance(name, str)} if isinstance(places, dict) else set()
