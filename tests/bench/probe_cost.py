"""Processor time of one probe over a new connection: ours beside httpx's own transport, in one run.

`python -m tests.bench.probe_cost [seconds]` prints milliseconds of CPU per probe (this process alone; the
target is another one) as median, least and most over rounds taken in turn. Only ratios inside one run
are to be trusted.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_network

import httpx

from checks import EgressPolicy, LaneSpec, Masked, Rung, Status, climb
from checks.egress import Transport, exchange

PROBES_A_ROUND = 200
IN_FLIGHT = 32
DEFAULT_SECONDS = 12.0

POLICY = EgressPolicy((ip_network("127.0.0.0/8"),))
HEADERS = {"authorization": "Bearer sk-test-bench", "content-type": "application/json"}
QUESTION = {
    "model": "m",
    "messages": [{"role": "user", "content": "Reply with one short word."}],
    "max_tokens": 256,
}
CONTENT = json.dumps(QUESTION).encode()

TARGET = """
import asyncio, json
message = {"role": "assistant", "content": "Hello"}
body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                   "usage": {"total_tokens": 12}}).encode()
answer = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\nconnection: close\\r\\ncontent-length: "
answer += str(len(body)).encode() + b"\\r\\n\\r\\n" + body

class Target(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(answer)
        self.transport.close()

async def main():
    server = await asyncio.get_running_loop().create_server(Target, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

Probe = Callable[[], Awaitable[None]]


def contenders(port: int) -> dict[str, Probe]:
    """Each way to send the same chat request over a connection of its own."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    ours = Transport(POLICY, deadline=10.0)
    client = httpx.AsyncClient(transport=Transport(POLICY, deadline=10.0), trust_env=False)
    limits = httpx.Limits(max_keepalive_connections=0)
    theirs = httpx.AsyncHTTPTransport(limits=limits)
    their_client = httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(limits=limits), trust_env=False)
    lane = LaneSpec(
        "bench",
        f"http://127.0.0.1:{port}/v1",
        "m",
        Masked("sk-test-bench"),
        rungs=(Rung.CHANNEL,),
        egress=POLICY,
    )

    async def by_exchange() -> None:
        got = await exchange("POST", url, policy=POLICY, deadline=10.0, headers=HEADERS, content=CONTENT)
        assert got.status == 200

    async def by_transport(transport: httpx.AsyncBaseTransport) -> None:
        answer = await transport.handle_async_request(
            httpx.Request("POST", url, headers=HEADERS, content=CONTENT)
        )
        await answer.aread()
        await answer.aclose()
        assert answer.status_code == 200

    async def by_client(client: httpx.AsyncClient) -> None:
        assert (await client.post(url, headers=HEADERS, content=CONTENT)).status_code == 200

    async def by_climb() -> None:
        assert (await climb(lane)).status is Status.OK

    return {
        "checks.egress.exchange": by_exchange,
        "checks.egress.Transport": lambda: by_transport(ours),
        "httpx.AsyncClient over our Transport": lambda: by_client(client),
        "httpx.AsyncHTTPTransport": lambda: by_transport(theirs),
        "httpx.AsyncClient": lambda: by_client(their_client),
        "climb of the channel rung (verdict and mask)": by_climb,
    }


async def cost(probe: Probe) -> float:
    """Milliseconds of this process's CPU for one probe."""
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one() -> None:
        async with gate:
            await probe()

    begun = time.process_time()
    await asyncio.gather(*(one() for _ in range(PROBES_A_ROUND)))
    return (time.process_time() - begun) * 1000 / PROBES_A_ROUND


async def measure(port: int, seconds: float) -> dict[str, list[float]]:
    """Rounds in turn until the time is over; the first warms up and is not counted."""
    probes = contenders(port)
    found: dict[str, list[float]] = {name: [] for name in probes}
    ends = time.monotonic() + seconds
    warm = False
    while not warm or time.monotonic() < ends:
        for name, probe in probes.items():
            spent = await cost(probe)
            if warm:
                found[name].append(spent)
        warm = True
    return found


def main() -> None:
    """Print one line a contender."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_SECONDS
    with subprocess.Popen([sys.executable, "-c", TARGET], stdout=subprocess.PIPE, text=True) as target:
        assert target.stdout is not None
        try:
            found = asyncio.run(measure(int(target.stdout.readline()), seconds))
        finally:
            target.terminate()
    peer = statistics.median(found["httpx.AsyncHTTPTransport"])
    print(f"CPU ms per probe, new connection, {IN_FLIGHT} in flight, {PROBES_A_ROUND} probes a round")
    for name, rounds in found.items():
        middle = statistics.median(rounds)
        spread = f"({min(rounds):.3f}-{max(rounds):.3f}, {len(rounds)} rounds)"
        print(f"{name:55} {middle:.3f} {spread:30} {middle / peer:.2f} x httpx's transport")


if __name__ == "__main__":
    main()
