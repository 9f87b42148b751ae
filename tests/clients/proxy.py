"""The real litellm proxy on loopback: started with a deadline, ended with its whole group."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

START_SECONDS = 120
STOP_SECONDS = 10
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
    port = _free_port()
    (folder / "config.yaml").write_text(CONFIG)
    command = [str(python), "-c", RUN, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env=_environment(folder), stdout=log, stderr=log, start_new_session=True
        ) as process,
    ):
        try:
            _wait(process, f"http://127.0.0.1:{port}", folder / "log")
            yield Proxy(f"http://127.0.0.1:{port}")
        finally:
            _end(process)


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the caller's but the path: no key, no proxy, no price list from afar."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }


def _wait(process: subprocess.Popen[bytes], origin: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{origin}/health/liveliness", timeout=5, trust_env=False).status_code == 200:
                return
        time.sleep(0.25)
    raise AssertionError(f"the litellm proxy did not start:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
            return
        os.killpg(process.pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
