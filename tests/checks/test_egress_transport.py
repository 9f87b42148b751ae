"""The egress client under `httpx.AsyncClient`: the same judgement, the same caps."""

from __future__ import annotations

import asyncio
import gzip

import httpx
import pytest

from checks import EgressPolicy
from checks.egress import EgressError, Transport
from checks.outcome import FailureKind
from tests.checks.conftest import Serve
from tests.checks.local import LOOPBACK, NOWHERE, LocalServer, answering


def post(server: LocalServer, policy: EgressPolicy, path: str = "/hook") -> httpx.Response:
    async def send() -> httpx.Response:
        transport = Transport(policy, deadline=5.0)
        async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
            return await client.post(server.base_url + path, json={"a": 1})

    return asyncio.run(send())


def test_an_answer_comes_unpacked(serve: Serve) -> None:
    server = serve(answering(201, gzip.compress(b'{"b": 2}'), content_encoding="gzip", x_id="7"))
    got = post(server, LOOPBACK)
    assert (got.status_code, got.json(), got.headers["x-id"]) == (201, {"b": 2}, "7")
    assert server.seen[0].endswith(b'{"a":1}')


def test_each_request_is_told_to_close_its_connection(serve: Serve) -> None:
    server = serve(answering(200, {}))
    post(server, LOOPBACK)
    assert server.seen[0].lower().count(b"connection: close") == 1


def test_a_forbidden_address_raises(serve: Serve) -> None:
    server = serve(answering(200, {}))
    with pytest.raises(EgressError) as caught:
        post(server, NOWHERE)
    assert caught.value.failure.kind is FailureKind.DENIED
    assert server.seen == []


def test_a_redirect_is_given_back(serve: Serve) -> None:
    assert post(serve(answering(302, "", location="http://169.254.169.254/")), LOOPBACK).status_code == 302


def test_a_bomb_raises_instead_of_unpacking(serve: Serve) -> None:
    bomb = gzip.compress(b"\0" * 16 * 1024 * 1024)
    with pytest.raises(EgressError) as caught:
        post(serve(answering(200, bomb, content_encoding="gzip")), LOOPBACK)
    assert caught.value.failure.kind is FailureKind.TOO_LARGE
