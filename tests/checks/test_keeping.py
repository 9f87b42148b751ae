"""A climb asks over one connection, and a new one each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from checks import Status, climb
from checks.egress import exchange, keeping, reach
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.local import LOOPBACK, answering, completion

ANSWER = b"HTTP/1.1 204 Nothing\r\nconnection: close\r\n\r\n"


def test_a_climb_asks_over_one_connection(serve: Serve) -> None:
    server = serve(answering(200, completion()))
    outcome = asyncio.run(climb(server.spec()))
    assert (outcome.status, server.connections) == (Status.OK, 1)


def test_each_climb_connects_anew(serve: Serve) -> None:
    server = serve(answering(200, completion()))
    for _ in range(2):
        asyncio.run(climb(server.spec()))
    assert server.connections == 2


def test_the_chat_still_tells_how_its_connection_came_to_be(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    made = make_certificate()
    server = serve(answering(200, completion()), tls=made.context)
    outcome = asyncio.run(climb(server.spec(ca_file=str(made.path))))
    chat = next(step for step in outcome.steps if step.name == "chat")
    assert chat.evidence is not None
    assert chat.evidence.certificate is not None
    assert chat.evidence.timings.tls_ms is not None
    assert chat.evidence.peer == f"127.0.0.1:{server.port}"


def test_what_the_server_closed_meanwhile_is_dialled_again() -> None:
    accepted = 0

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        if accepted > 1:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(ANSWER)
        writer.close()

    async def ask() -> int | None:
        server = await asyncio.start_server(behave, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with server:
            with keeping():
                await reach(url, policy=LOOPBACK, deadline=5.0)
                await asyncio.sleep(0.2)
                got = await exchange("GET", url, policy=LOOPBACK, deadline=5.0)
        return got.status

    assert (asyncio.run(ask()), accepted) == (204, 2)


def test_another_server_gets_no_kept_connection(serve: Serve) -> None:
    one, other = serve(answering(200, {})), serve(answering(200, {}))

    async def ask() -> None:
        with keeping():
            await reach(one.base_url, policy=LOOPBACK, deadline=5.0)
            await exchange("GET", other.base_url, policy=LOOPBACK, deadline=5.0)

    asyncio.run(ask())
    assert (len(one.seen), len(other.seen)) == (0, 1)
