"""The real server of Agent-Lightning 1.x on loopback, and a project with small agents for its controller."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

from checks import EgressPolicy, EndpointKind, LaneSpec, Masked
from checks.probes.asking import Ask
from tests.clients import processes

START_SECONDS = 60
KEY = "agl-test-key-0123456789abcdef"
MODEL = "qwen3-8b"
RUN = f"r{secrets.token_hex(4)}"  # what bears a run's mark is ended with it, on the whole machine
LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"),))
AGENTS = """
import os
import httpx
from openai import OpenAI


class Agent:
    def run(self):
        base_url, key = os.environ["AGL_OPENAI_BASE_URL"], os.environ["AGL_KEY"]
        client = OpenAI(base_url=base_url, api_key=key, max_retries=0)
        question = [{"role": "user", "content": os.environ["QUESTION"]}]
        print(client.chat.completions.create(model="auto", messages=question).choices[0].message.content)
        self.reward(1.0)

    def reward(self, value):
        event = {"event_type": "reward", "data": {"value": value}}
        headers = {"authorization": "Bearer " + os.environ["AGL_KEY"]}
        httpx.post(os.environ["AGL_EVENT_URL"], json=event, headers=headers).raise_for_status()


class WithoutReward(Agent):
    def reward(self, value):
        pass


class Swallowing(Agent):
    def run(self):
        try:
            super().run()
        except Exception:
            self.reward(0.0)


class Stuck:
    def run(self):
        import time
        time.sleep(60)
"""


@dataclass(frozen=True)
class Gateway:
    """A running gateway; `folder` is the server's own."""

    origin: str
    folder: Path

    def call(self, method: str, path: str, document: object = None) -> Any:
        """Ask as an operator would; the JSON of the answer, None where it is empty."""
        headers = {"authorization": f"Bearer {KEY}"}
        answer = httpx.request(
            method, self.origin + path, json=document, headers=headers, trust_env=False, timeout=30
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def serve_from(self, endpoint: str, model: str = MODEL) -> None:
        """Let this be the one model server that is registered."""
        self.call("DELETE", "/api/models")
        self.call("POST", "/api/models", [{"model": model, "endpoint": endpoint}])

    def rollouts(self) -> list[str]:
        """The ids of all that the gateway holds."""
        states = "&".join(f"state_in={state}" for state in ("queuing", "running", "succeeded", "failed"))
        return [one["rollout_id"] for one in self.call("GET", f"/api/rollouts?{states}")]

    def spec(self, **changes: Any) -> LaneSpec:
        """A lane that goes through it."""
        known: dict[str, Any] = {
            "id": RUN,
            "base_url": self.origin,
            "model": MODEL,
            "key": Masked(KEY),
            "kind": EndpointKind.GATEWAY,
            "egress": LOOPBACK,
        }
        return LaneSpec(**{**known, **changes})


def ask_of(spec: LaneSpec, seconds: float = 60.0, **changes: Any) -> Ask:
    """One rung of a climb that has so many seconds left."""
    return Ask(spec, monotonic() + seconds, datetime.now(UTC), **changes)


@contextlib.contextmanager
def running(python: Path, folder: Path) -> Iterator[Gateway]:
    """Start the server of that interpreter in `folder`, with a key; end it on leaving."""
    port = processes.free_port()
    command = [
        *(str(python), "-m", "agentlightning.server", "host=127.0.0.1", f"port={port}"),
        *("key=${oc.env:AGL_KEY}", f"default_proxy.model_name={MODEL}"),
        *("hydra.run.dir=.", "hydra.output_subdir=null"),
        *("hydra/job_logging=disabled", "hydra/hydra_logging=disabled"),
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "AGL_KEY": KEY}
    origin = f"http://127.0.0.1:{port}"
    with processes.running(
        command, folder=folder, environment=environment, page=f"{origin}/healthz", seconds=START_SECONDS
    ):
        yield Gateway(origin, folder)
