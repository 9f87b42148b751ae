"""The egress client under httpx: whatever is built on `httpx.AsyncClient` is judged and capped alike."""

from __future__ import annotations

from typing import Final

import httpx

from checks.egress.exchange import FIXED_HEADERS, converse
from checks.egress.faults import translated
from checks.egress.progress import Progress
from checks.egress.wire import Request
from checks.spec import EgressPolicy

_SPENT_HEADERS: Final = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class Transport(httpx.AsyncBaseTransport):
    """A transport of one new, judged connection a request. Give the client `trust_env=False`.

    Raises `EgressError` for whatever goes wrong; the answer's body is unpacked and read in full.
    """

    def __init__(self, policy: EgressPolicy, *, deadline: float, ca_file: str | None = None) -> None:
        self._policy = policy
        self._deadline = deadline
        self._ca_file = ca_file

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer `request` within the transport's deadline, in seconds."""
        progress = Progress()
        with translated(lambda: progress.phase):
            await request.aread()
            request.headers.update(FIXED_HEADERS)
            sent = Request(request.method, request.url, request.headers.raw, request.content)
            body = await converse(sent, progress, self._policy, self._deadline, self._ca_file)
        kept = [
            (name.encode(), value.encode("latin-1"))
            for name, value in progress.headers
            if name.encode() not in _SPENT_HEADERS
        ]
        return httpx.Response(progress.status or 0, headers=kept, content=body, request=request)
