"""What the sample agents share: one chat completion with the standard library, as the environment says."""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any


def post(url: str, key: str, document: dict[str, Any]) -> dict[str, Any]:
    """Send one JSON document; raises what urllib raises."""
    headers = {"content-type": "application/json", "authorization": "Bearer " + key}
    request = urllib.request.Request(url, json.dumps(document).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        return dict(json.loads(answer.read()))


def complete(question: str, *, base: str = "OPENAI_BASE_URL", key: str = "OPENAI_API_KEY") -> str:
    """Ask the model that the environment names."""
    messages = [{"role": "user", "content": question}]
    asked = {"model": os.environ["MODEL"], "messages": messages, "max_tokens": 64}
    answer = post(os.environ[base] + "/chat/completions", os.environ[key], asked)
    return str(answer["choices"][0]["message"]["content"])


def reward(value: float) -> None:
    """Post a reward as an agent of 1.x does."""
    event = {"event_type": "reward", "data": {"value": value}}
    post(os.environ["AGL_EVENT_URL"], os.environ["AGL_KEY"], event)
