"""A bare connection for what is no HTTP: the same resolution, the same judgement of every address."""

from __future__ import annotations

import asyncio
import socket

from checks.egress.dial import plug
from checks.egress.faults import EgressError, translated
from checks.egress.progress import Progress
from checks.egress.target import Target
from checks.outcome import Evidence
from checks.spec import EgressPolicy


async def open_socket(
    host: str, port: int, *, scheme: str, policy: EgressPolicy, seconds: float
) -> socket.socket | Evidence:
    """Return a connected, non-blocking socket, or the evidence of why there is none; never raises but on
    cancellation. `scheme` names the protocol in the evidence's URL. The caller closes the socket."""
    progress = Progress()
    try:
        with translated(lambda: progress.phase):
            async with asyncio.timeout(seconds):
                return await plug(Target(host, port, None), policy, progress)
    except EgressError as error:
        shown = f"[{host}]" if ":" in host else host
        return Evidence(
            method="",
            url=f"{scheme}://{shown}:{port}",
            failure=error.failure,
            peer=progress.peer,
            addresses=progress.addresses,
            timings=progress.timings,
        )
