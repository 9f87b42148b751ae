"""Many climbs at once: bounded, in order of completion, in threads and after a fork."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
import time
from collections import Counter

import pytest

from checks import Reason, Status, run, run_many
from tests.checks.conftest import Serve
from tests.checks.local import HEALTHY, answering, by_path, completion


def mixed(connection: socket.socket, request: bytes) -> None:
    """Healthy, refusing or silent, by the model that is asked for."""
    if b'"wrong-key"' in request:
        answering(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})(
            connection, request
        )
    elif b'"cut"' not in request:
        HEALTHY(connection, request)


def test_three_hundred_lanes_climb_bounded_and_each_gets_its_own_outcome(serve: Serve) -> None:
    server = serve(mixed)
    models = ("right", "wrong-key", "cut")
    specs = [server.spec(id=f"{models[n % 3]}-{n}", model=models[n % 3], deadline=20.0) for n in range(300)]
    outcomes = {outcome.spec_id: outcome for outcome in run_many(specs, concurrency=32)}
    assert set(outcomes) == {spec.id for spec in specs}
    found = Counter((spec_id.rpartition("-")[0], outcome.reason) for spec_id, outcome in outcomes.items())
    assert found[("right", None)] == 100
    assert found[("wrong-key", Reason.AUTH_INVALID_KEY)] == 100
    assert sum(count for (model, reason), count in found.items() if model == "cut" and reason) == 100


def test_no_more_climbs_than_allowed_are_under_way(serve: Serve) -> None:
    waiting: set[int] = set()
    most: list[int] = []

    def hold(connection: socket.socket, request: bytes) -> None:
        waiting.add(threading.get_ident())
        most.append(len(waiting))
        time.sleep(0.02)
        waiting.discard(threading.get_ident())
        HEALTHY(connection, request)

    server = serve(hold)
    assert len(list(run_many([server.spec(id=str(n)) for n in range(30)], concurrency=5))) == 30
    assert max(most) == 5


def test_outcomes_arrive_in_the_order_of_completion(serve: Serve) -> None:
    def by_model(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.4 if b'"slow"' in request else 0)
        answering(200, completion())(connection, request)

    server = serve(by_model)
    specs = [server.spec(id=model, model=model) for model in ("slow", "quick")]
    assert [outcome.spec_id for outcome in run_many(specs)] == ["quick", "slow"]


def test_no_specs_are_no_outcomes() -> None:
    assert list(run_many([])) == []


def test_a_concurrency_below_one_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run_many([], concurrency=0)


def test_leaving_early_cancels_the_rest(serve: Serve) -> None:
    def count(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.05)
        HEALTHY(connection, request)

    server = serve(by_path(models=count, completions=count))
    outcomes = run_many([server.spec(id=str(n)) for n in range(50)], concurrency=1)
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]  # a generator, as the façade documents
    time.sleep(0.3)
    assert len(server.seen) < 20


def test_threads_share_one_loop(serve: Serve) -> None:
    server = serve(HEALTHY)
    found: list[Status] = []
    climbers = [threading.Thread(target=lambda: found.append(run(server.spec()).status)) for _ in range(8)]
    for climber in climbers:
        climber.start()
    for climber in climbers:
        climber.join()
    assert found == [Status.OK] * 8
    assert sum(thread.name == "checks-loop" for thread in threading.enumerate()) == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # the danger is what is tested
def test_a_forked_child_gets_a_loop_of_its_own(serve: Serve) -> None:
    spec = serve(HEALTHY).spec()
    assert run(spec).status is Status.OK
    forked = multiprocessing.get_context("fork")
    child = forked.Process(target=lambda: os._exit(0 if run(spec).status is Status.OK else 1))
    child.start()
    child.join(15)
    assert child.exitcode == 0
