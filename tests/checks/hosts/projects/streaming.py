"""An agent that streams, and returns how long its first event took, in seconds."""

from __future__ import annotations

import http.client
import json
import os
import time
from urllib.parse import urlsplit


class Streaming:
    """Reads one stream to its end."""

    def answer(self, question: str) -> float:
        base = urlsplit(os.environ["OPENAI_BASE_URL"])
        line = http.client.HTTPConnection(base.hostname or "", base.port, timeout=10)
        asked = {
            "model": os.environ["MODEL"],
            "stream": True,
            "messages": [{"role": "user", "content": question}],
        }
        begun = time.monotonic()
        line.request(
            "POST", base.path + "/chat/completions", json.dumps(asked), {"content-type": "application/json"}
        )
        answer = line.getresponse()
        answer.readline()
        first = time.monotonic() - begun
        answer.read()
        return first
