"""The real litellm proxy on loopback, with a master key and one mocked model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clients import processes

START_SECONDS = 120
MASTER_KEY = "sk-test-master-0123456789"
MODEL = "qwen3-8b"
CONFIG = f"""\
model_list:
  - model_name: {MODEL}
    litellm_params:
      model: openai/{MODEL}
      api_base: http://127.0.0.1:9/v1
      api_key: sk-test-unused
      mock_response: All of it works.
general_settings:
  master_key: {MASTER_KEY}
"""
RUN = "from litellm import run_server; run_server()"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy: where it listens, the key it takes, the one model it serves."""

    origin: str
    key: str = MASTER_KEY
    model: str = MODEL


@contextlib.contextmanager
def running(python: Path, folder: Path) -> Iterator[Proxy]:
    """Start the proxy of that interpreter in `folder`; end it on leaving.

    Raises AssertionError with its last words when it does not come up in time.
    """
    port = processes.free_port()
    origin = f"http://127.0.0.1:{port}"
    (folder / "config.yaml").write_text(CONFIG)
    command = [str(python), "-c", RUN, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with processes.running(
        command,
        folder=folder,
        environment=_environment(folder),
        page=f"{origin}/health/liveliness",
        seconds=START_SECONDS,
    ):
        yield Proxy(origin)


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the caller's but the path: no key, no proxy, no price list from afar."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
