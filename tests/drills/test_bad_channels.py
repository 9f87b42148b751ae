"""Channels that hang, fail or send elsewhere, beside one that is well: it waits for none of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from panel import notices, tasks
from panel.models import Notice
from panel.notices import posting
from tests import make
from tests.drills.catcher import Catcher, catching
from tests.panel.notices.told import SIGN, channel, incident, route

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
FAULTS = ("hangs", "500", "302", "")


@pytest.fixture
def catchers() -> Iterator[dict[str, Catcher]]:
    """One with each fault; the last has none."""
    with catching() as first, catching() as second, catching() as third, catching() as fourth:
        made = dict(zip(FAULTS, (first, second, third, fourth), strict=True))
        for fault, catcher in made.items():
            catcher.fault = fault
        yield made


def tell(catchers: dict[str, Catcher]) -> None:
    """Plan one incident to all of them."""
    team = make.team()
    for catcher in catchers.values():
        route(channel(team, secret=catcher.url, sign=SIGN))
    notices.plan(incident(team, at=timezone.now()), "opened", timezone.now())


def later() -> None:
    """Let the time pass that back-off and leases have still to run."""
    Notice.objects.filter(state="queued").update(due_at=timezone.now() - timedelta(seconds=1))


def told(catcher: Catcher) -> Notice:
    return Notice.objects.get(code=catcher.asked[0][0])


def test_the_channel_that_is_well_is_told_while_another_hangs(catchers, monkeypatch) -> None:
    monkeypatch.setattr(posting.post, "__kwdefaults__", {"deadline": 3.0})
    tell(catchers)
    began = time.monotonic()
    tasks.send_notices()
    assert time.monotonic() - began < 20
    assert catchers[""].told == [(told(catchers[""]).code, "opened")]
    assert Notice.objects.filter(state="sent").count() == 1


def test_each_is_told_once_when_it_is_mended(catchers, monkeypatch) -> None:
    monkeypatch.setattr(posting.post, "__kwdefaults__", {"deadline": 2.0})
    tell(catchers)
    tasks.send_notices()
    for catcher in catchers.values():
        catcher.fault = ""
        catcher.ended.set()
    later()
    tasks.send_notices()
    assert [catcher.kinds() for catcher in catchers.values()] == [["opened"]] * len(FAULTS)
    assert not [catcher for catcher in catchers.values() if catcher.doubles()]
    assert Notice.objects.exclude(state="sent").count() == 0


@pytest.mark.parametrize(("fault", "why"), [("500", "server_fault"), ("302", "redirect")])
def test_one_that_stays_broken_is_given_up_after_its_tries_and_nothing_follows_it_elsewhere(
    fault: str, why: str
) -> None:
    with catching() as catcher:
        catcher.fault = fault
        tell({fault: catcher})
        for _ in range(10):
            tasks.send_notices()
            later()
        notice = told(catcher)
        assert (notice.state, notice.failure, notice.attempts) == ("dead", why, len(catcher.asked))
        assert (len(catcher.asked), len(set(catcher.asked)), catcher.told) == (6, 1, [])
