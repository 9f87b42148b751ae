"""Signs of life: who leaves them, when they are written, which are missed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from panel import health, ledger
from panel.health import pulses
from panel.models import Pulse
from tests import make

pytestmark = pytest.mark.django_db
NOON = make.NOON


def names() -> set[str]:
    return set(Pulse.objects.values_list("name", flat=True))


def test_a_sign_is_written_once_in_ten_seconds() -> None:
    assert ledger.beat("tick", NOON)
    assert not ledger.beat("tick", NOON + timedelta(seconds=9))
    assert ledger.beat("tick", NOON + timedelta(seconds=10))


def test_a_sign_from_before_the_clock_was_set_back_is_written_over() -> None:
    ledger.beat("tick", NOON + timedelta(hours=1))
    assert ledger.beat("tick", NOON)
    assert Pulse.objects.get().at == NOON


def test_a_worker_notes_each_of_its_zones_and_the_clock_that_it_carries() -> None:
    pulses.note_worker(["panel", "shanghai"], clock=True, now=NOON)
    assert names() == {"worker:panel", "worker:shanghai", "beat"}


def test_a_worker_without_a_clock_notes_none() -> None:
    pulses.note_worker(["panel"], clock=False, now=NOON)
    assert names() == {"worker:panel"}


def test_the_sweep_names_the_zones_that_must_have_a_worker() -> None:
    make.check(place="shanghai", next_run_at=NOON)
    make.host(zone="berlin", next_reading_at=NOON)
    make.check(place="asleep", next_run_at=None)
    health.swept(NOON)
    assert names() == {"tick", "worker:panel", "worker:shanghai", "worker:berlin"}


def test_a_zone_that_nothing_is_checked_from_any_more_is_forgotten_once_it_is_silent() -> None:
    pulses.note_worker(["old"], clock=False, now=NOON)
    health.swept(NOON + timedelta(minutes=5))
    assert "worker:old" in names()
    health.swept(NOON + timedelta(minutes=11))
    assert "worker:old" not in names()


def test_a_zone_that_is_needed_stays_silent_for_days() -> None:
    make.check(place="shanghai", next_run_at=NOON)
    health.swept(NOON)
    health.swept(NOON + timedelta(days=2))
    assert Pulse.objects.get(name="worker:shanghai").at == NOON
