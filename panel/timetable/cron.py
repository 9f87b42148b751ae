"""Cron in a zone: five fields, right over the days on which clocks change (`cronsim`).

A slot in the hour that a clock skips comes right after it; one in the hour that comes twice comes once,
unless the hour itself is a star.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

FIELDS = 5
SECOND = timedelta(seconds=1)


class CronRefused(ValueError):
    """This is no cron expression of five fields, or never comes."""


def judge_cron(expression: str, zone: str, now: datetime) -> None:
    """Raises CronRefused for what is no cron expression, or has no slot after `now`."""
    if next(cron_slots(expression, zone, now), None) is None:
        raise CronRefused(expression)


def cron_slots(expression: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the moments of a cron expression later than `after`, in order, in UTC.

    Raises CronRefused for what is no cron expression.
    """
    for local in _cron(expression, zone, after):
        moment = local.astimezone(UTC)
        if moment > after:  # in an hour that comes twice the wall clock alone may point back
            after = moment
            yield moment


def last_before(expression: str, zone: str, moment: datetime) -> datetime | None:
    """Return the newest moment of a cron expression not later than `moment`, in UTC; None for none."""
    for local in _cron(expression, zone, moment + SECOND, reverse=True):
        found = local.astimezone(UTC)
        if found <= moment:
            return found
    return None


def _cron(expression: str, zone: str, start: datetime, *, reverse: bool = False) -> CronSim:
    if len(expression.split()) != FIELDS:
        raise CronRefused(expression)
    try:
        return CronSim(expression, start.astimezone(ZoneInfo(zone)), reverse=reverse)
    except CronSimError as error:
        raise CronRefused(expression) from error
