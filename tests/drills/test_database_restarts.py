"""PostgreSQL stopped and started again under a running Preflight, in order and by a crash."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drills.cluster import Cluster, cluster
from tests.drills.house import House, house
from tests.launch.started import until

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.embedded]
AWAY_S = 4


@pytest.fixture(scope="module")
def rows() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory, rows: Cluster) -> Iterator[House]:
    folder: Path = tmp_path_factory.mktemp("drill")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", rows.url)
        with house(folder, rows.url) as running:
            yield running


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_database_that_goes_and_comes_back_loses_no_slot_and_no_notice(
    living: House, rows: Cluster, mode: str
) -> None:
    def restart() -> None:
        rows.stop(mode)
        time.sleep(AWAY_S)
        rows.start()

    living.lives_through(restart)


def test_health_says_so_while_the_database_is_away(living: House, rows: Cluster) -> None:
    rows.stop("fast")
    try:
        assert until(lambda: living.started.page("/healthz") == 503, 30)
    finally:
        rows.start()
    assert until(lambda: living.started.page("/healthz") == 200)
    assert until(living.green)
