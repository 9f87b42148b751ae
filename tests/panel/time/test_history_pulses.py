"""Whether Preflight's own parts are at work, as pages say it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from panel import history
from panel.models import Pulse, Role
from tests import make

pytestmark = pytest.mark.django_db
NOON = make.NOON
FRESH, OLD = 5, 45


def seen(**ages: int) -> history.Sweep:
    """What pages say when the parts (workers by the name of their zone) were seen so many seconds ago."""
    for name, age in ages.items():
        part = name if name in ("tick", "beat") else f"worker:{name}"
        Pulse.objects.create(name=part, at=NOON - timedelta(seconds=age))
    return history.sweep(NOON)


def test_all_is_well_while_sweep_and_workers_give_signs() -> None:
    assert seen(tick=FRESH, beat=FRESH, panel=FRESH).well


@pytest.mark.parametrize(
    ("ages", "part"),
    [
        ({"panel": OLD, "beat": OLD}, "worker"),
        ({}, "worker"),
        ({"panel": FRESH, "beat": OLD}, "clock"),
        ({"panel": FRESH}, "clock"),
        ({"panel": FRESH, "beat": FRESH}, "sweep"),
    ],
)
def test_a_silent_sweep_names_the_part_that_is_to_blame(ages: dict[str, int], part: str) -> None:
    assert (seen(tick=OLD, **ages).part, history.sweep(NOON).silent) == (part, True)


def test_a_zone_whose_workers_are_silent_is_named_with_the_time() -> None:
    found = seen(tick=FRESH, panel=FRESH, shanghai=OLD)
    assert found.zones == (history.SilentZone("shanghai", NOON - timedelta(seconds=OLD)),)
    assert (found.silent, found.part, found.well) == (False, "", False)


def test_a_sign_that_lies_ahead_is_none() -> None:
    assert seen(tick=-3600).silent


def test_all_of_it_costs_one_query(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        history.sweep(NOON)


@pytest.mark.parametrize(
    ("ages", "words"),
    [
        ({"tick": OLD, "panel": OLD}, "the worker is silent"),
        ({"tick": OLD, "panel": FRESH}, "the clock that wakes it is not"),
        ({"tick": OLD, "panel": FRESH, "beat": FRESH}, "the sweep does not get through"),
        ({"tick": FRESH, "shanghai": OLD}, "from zone shanghai since"),
    ],
)
def test_the_bar_says_which_part_and_since_when(ages: dict[str, int], words: str, time_machine) -> None:
    time_machine.move_to(NOON, tick=False)
    seen(**ages)
    person = make.member(role=Role.VIEWER)
    client = Client()
    client.force_login(person.user)
    page = client.get(f"/t/{person.team.slug}/activity/").content.decode()
    assert words in page
    assert 'datetime="2026-11-30T11:59:15' in page
