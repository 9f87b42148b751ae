"""From where the first rungs are climbed: the worker, the host, or both, and who decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from checks import Masked, Reason, Rung, Status
from checks.hosts import Ground, LocalGround
from checks.ladder import climb
from checks.probes import PROBES, Ask, Found
from checks.spec import HostSpec, Where
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.hosts.places import (
    PLACE,
    climbed,
    closed,
    host_of_tests,
    steps_at,
    tunnelling,
    with_environment,
)
from tests.checks.local import HEALTHY, KEY, NOWHERE, LocalServer, answering, by_path, model_list
from tests.ssh import Sshd

ELSEWHERE = host_of_tests(address="gpu.example")


def test_a_host_asks_by_itself_and_its_steps_say_so(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), egress=NOWHERE)
    assert (outcome.status, outcome.rung) == (Status.OK, Rung.CHANNEL)
    assert [(step.name, step.place) for step in outcome.steps] == [
        ("resolve", PLACE),
        ("connect", PLACE),
        ("chat", PLACE),
    ]
    assert outcome.latency_ms


def test_a_host_asks_over_real_ssh(serve: Serve, sshd: Sshd) -> None:
    spec = serve(HEALTHY).spec(where=Where.HOST, host=sshd.spec(name="gpu-1"), deadline=30.0)
    outcome = asyncio.run(climb(spec))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert steps_at(outcome, PLACE)["chat"].status is Status.OK


def test_both_places_agree(serve: Serve) -> None:
    server = serve(HEALTHY)
    outcome = climbed(server, with_environment(), where=Where.BOTH)
    assert outcome.status is Status.OK
    assert set(steps_at(outcome, PLACE)) == set(steps_at(outcome, "panel")) == {"resolve", "connect", "chat"}
    assert sum(sent.startswith(b"POST") for sent in server.seen) == 2


def test_a_proxy_that_swallows_the_hosts_loopback_breaks_the_lane_there(serve: Serve) -> None:
    proxy = serve(answering(502, "", "text/html"))
    outcome = climbed(serve(HEALTHY), with_environment(HTTP_PROXY=proxy.base_url), where=Where.BOTH)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK)
    assert steps_at(outcome, PLACE)["chat"].status is Status.DOWN
    assert steps_at(outcome, "panel")["chat"].status is Status.OK


def test_a_dead_proxy_of_the_host_is_named(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(https_proxy="", ALL_PROXY="http://127.0.0.1:9"))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK)
    evidence = steps_at(outcome, PLACE)["connect"].evidence
    assert evidence is not None
    assert evidence.context["by_variable"] == "ALL_PROXY"


def test_what_the_worker_alone_cannot_reach_is_degraded(serve: Serve) -> None:
    way = serve(HEALTHY)
    lane = LocalServer(9)
    outcome = climbed(lane, with_environment(http_proxy=way.base_url), where=Where.BOTH)
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.CONNECTION_REFUSED_LOOPBACK)
    assert steps_at(outcome, "panel")["connect"].status is Status.DEGRADED
    assert steps_at(outcome, PLACE)["chat"].status is Status.OK
    assert "chat" not in steps_at(outcome, "panel")


def test_a_worker_that_may_not_ask_leaves_the_word_to_the_host(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), where=Where.BOTH, egress=NOWHERE)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert steps_at(outcome, "panel")["resolve"].say["why"] == "egress_denied"


def test_broken_at_both_places_is_down(serve: Serve) -> None:
    outcome = climbed(LocalServer(9), with_environment(), where=Where.BOTH)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.CONNECTION_REFUSED_LOOPBACK)
    assert {step.status for step in outcome.steps if step.name == "connect"} == {Status.DOWN}


def test_places_may_see_other_certificates(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    mine, other = make_certificate(90), make_certificate(300)
    proxy = serve(tunnelling(serve(HEALTHY, tls=other.context).port))
    lane = serve(HEALTHY, tls=mine.context)
    opener = with_environment(HTTPS_PROXY=proxy.base_url)
    outcome = climbed(lane, opener, where=Where.BOTH, ca_file=str(mine.path))
    assert steps_at(outcome, "panel")["tls"].say["days_left"] == "89"
    broken = steps_at(outcome, PLACE)["tls"]
    assert (broken.status, broken.say["days_left"]) == (Status.DOWN, "299")


def test_a_lane_on_the_hosts_loopback_is_testable_there_alone(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), where=Where.WORKER, host=ELSEWHERE)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.LANE_LIVES_ON_HOST)


def test_from_both_places_a_lane_on_the_hosts_loopback_is_asked_there_alone(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), where=Where.BOTH, host=ELSEWHERE)
    assert outcome.status is Status.OK
    assert {step.place for step in outcome.steps} == {PLACE}


def test_a_host_that_nobody_gets_into_says_nothing_of_the_lane(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), closed)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.HOST_LOGIN_REFUSED)
    assert outcome.steps[0].place == PLACE


def test_without_the_host_the_worker_decides_alone(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), closed, where=Where.BOTH)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert steps_at(outcome, PLACE)["host"].reason is Reason.HOST_LOGIN_REFUSED


def test_a_slow_answer_of_the_host_is_judged_where_the_host_asks(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), latency_limit_ms=0)
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.LATENCY_OVER_LIMIT)


def test_from_both_places_the_workers_latency_is_judged(serve: Serve) -> None:
    outcome = climbed(serve(HEALTHY), with_environment(), where=Where.BOTH, latency_limit_ms=0)
    assert steps_at(outcome, "panel")["chat"].status is Status.DEGRADED
    assert steps_at(outcome, PLACE)["chat"].status is Status.OK


def test_follow_up_questions_are_asked_from_the_host_too(serve: Serve) -> None:
    wrong = answering(404, {"detail": "Not Found"})
    server = serve(lambda line, sent: (HEALTHY if b"/v1/" in sent[:99] else wrong)(line, sent))
    bare = server.base_url.removesuffix("/v1")
    outcome = climbed(server, with_environment(), base_url=bare, egress=NOWHERE)
    assert outcome.reason is Reason.BASE_URL_MISSING_V1
    assert outcome.offered_base_url == server.base_url


def test_the_key_leaves_the_host_in_no_string(serve: Serve) -> None:
    echo = answering(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}})
    server = serve(by_path(completions=echo, models=answering(200, model_list("a"))))
    outcome = climbed(server, with_environment())
    assert outcome.reason is Reason.AUTH_INVALID_KEY
    assert KEY not in repr(outcome)


@pytest.mark.parametrize("where", [Where.HOST, Where.BOTH])
def test_a_metadata_address_is_refused_from_the_host_too(where: Where) -> None:
    lane = LocalServer(80, host="169.254.169.254")
    outcome = climbed(lane, with_environment(), where=where)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.EGRESS_DENIED)
    assert outcome.steps[0].say["rule"] == "link-local and cloud metadata"


class Door:
    """Counts who comes and goes."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    @asynccontextmanager
    async def __call__(self, spec: HostSpec, seconds: float) -> AsyncIterator[Ground]:
        self.opened += 1
        try:
            yield LocalGround(name=spec.name)
        finally:
            self.closed += 1


def test_one_connection_serves_all_rungs_and_is_closed_behind_them(serve: Serve) -> None:
    door = Door()
    climbed(serve(HEALTHY), door, where=Where.BOTH, rungs=tuple(Rung))
    assert (door.opened, door.closed) == (1, 1)


def test_a_climb_without_a_host_opens_none(serve: Serve) -> None:
    door = Door()
    climbed(serve(HEALTHY), door, where=Where.WORKER)
    assert door.opened == 0


def test_a_cancelled_climb_closes_its_connection(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door()

    async def hang(ask: Ask) -> Found:
        await ask.host()
        await asyncio.sleep(60)
        return Found(())

    async def cancelled() -> None:
        climbing = asyncio.create_task(climb(spec, None, door))
        while not door.opened:
            await asyncio.sleep(0.01)
        climbing.cancel()
        await asyncio.wait([climbing])

    monkeypatch.setitem(PROBES, Rung.SDK, hang)
    spec = serve(HEALTHY).spec(rungs=(Rung.SDK,), host=host_of_tests())
    asyncio.run(cancelled())
    assert (door.opened, door.closed) == (1, 1)


def test_no_secret_of_the_host_is_shown(serve: Serve) -> None:
    private = "a-private-key-of-the-host"

    @asynccontextmanager
    async def telling(spec: HostSpec, seconds: float) -> AsyncIterator[Any]:
        raise RuntimeError(f"could not use {private}")
        yield

    host = host_of_tests(private_key=Masked(private))
    outcome = climbed(serve(HEALTHY), telling, host=host)
    assert outcome.reason is Reason.ENGINE_FAULT
    assert private not in repr(outcome.steps)
