"""A key is proved by a run that passed with it, and by nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from panel import ledger
from panel.models import Check, KeyVersion
from tests import make
from tests.panel.time.outcomes import failed, passed, started

pytestmark = pytest.mark.django_db
NOON = make.NOON


def close(check: Check, outcome=passed, at=NOON, key_number: int | None = 1) -> None:
    """Run the check once with this key."""
    (run,) = started([make.run(check, at)], at)
    run.key_number = key_number
    ledger.close_many([(run, outcome(run, at))], at + timedelta(seconds=1))


def proved() -> list[tuple[int, bool]]:
    return [(key.number, key.proved_at is not None) for key in KeyVersion.objects.order_by("number")]


@pytest.mark.parametrize("own", [False, True])
def test_a_pass_proves_the_key_of_the_lane_s_own_or_inherited_endpoint(own: bool) -> None:
    check = make.check()
    if own:
        check.lane.endpoint = make.endpoint(check.lane.profile.team)
        check.lane.save()
    close(check)
    assert [key.endpoint for key in KeyVersion.objects.exclude(proved_at=None)] == [
        check.lane.effective_endpoint
    ]


def test_a_failure_proves_nothing() -> None:
    close(make.check(), failed)
    assert proved() == [(1, False)]


def test_a_key_that_came_while_the_run_went_on_is_not_proved_by_it() -> None:
    check = make.check()
    KeyVersion.objects.update(state="retired")
    make.key_version(check.lane.profile.endpoint, "sk-test-new", number=2)
    close(check)
    assert proved() == [(1, False), (2, False)]


def test_a_pass_without_a_key_proves_none() -> None:
    close(make.check(), key_number=None)
    assert proved() == [(1, False)]


def test_a_fresh_proof_is_not_written_anew() -> None:
    check = make.check()
    for minutes in (0, 10, 70):
        close(check, at=NOON + timedelta(minutes=minutes))
    assert KeyVersion.objects.get().proved_at == NOON + timedelta(minutes=70, milliseconds=90)
