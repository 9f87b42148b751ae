"""Days, weeks and months of a zone as instants, and when a report of one is due.

A period runs from local midnight to local midnight, so a day may have 23 or 25 hours. A week begins on
Monday. A midnight that a clock change skips is the moment of that change; of one that comes twice, the first.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

# Hours that one bar of a lane's strip covers.
BAR_HOURS = {"day": 1, "week": 2, "month": 8}
_DAY = timedelta(days=1)
# The longest wait for a due day is a month; two of them leave room for an hour that has just passed.
_LOOK_AHEAD = 63


@dataclass(frozen=True, slots=True)
class Period:
    """`kind` is "day", "week" or "month"; `begins` and `ends` are UTC, the end is not part of it."""

    kind: str
    zone: str
    begins: datetime
    ends: datetime

    @property
    def first_day(self) -> date:
        """The local date on which it begins."""
        return self.begins.astimezone(ZoneInfo(self.zone)).date()

    @property
    def last_day(self) -> date:
        """The last local date that belongs to it."""
        return (self.ends - timedelta(seconds=1)).astimezone(ZoneInfo(self.zone)).date()

    @property
    def before(self) -> Period:
        """The period of the same kind that ends where this one begins."""
        return around(self.kind, self.zone, self.begins - timedelta(seconds=1))

    @property
    def bar(self) -> timedelta:
        """How much of it one bar covers."""
        return timedelta(hours=BAR_HOURS[self.kind])

    @property
    def bars(self) -> int:
        """How many bars cover it; the last may be cut short by a clock change."""
        return -((self.begins - self.ends) // self.bar)


def around(kind: str, zone: str, moment: datetime) -> Period:
    """Return the period of the zone in which the moment lies."""
    day = moment.astimezone(ZoneInfo(zone)).date()
    first, last = _first_and_last(kind, day)
    return Period(kind, zone, _instant(first, zone), _instant(last + _DAY, zone))


def newest_complete(kind: str, zone: str, moment: datetime) -> Period:
    """Return the last period that was over at the moment."""
    return around(kind, zone, moment).before


@dataclass(frozen=True, slots=True)
class Due:
    """When a report comes: at `hour` of the zone, each day, on `weekday` (0 is Monday) or on `day` of the
    month, which is the month's last where it is shorter."""

    kind: str
    zone: str
    hour: int
    weekday: int
    day: int

    def next_after(self, moment: datetime) -> datetime:
        """Return the first due time later than the moment. An hour that a clock change skips is as long after
        midnight as ever; of an hour that comes twice, the first is meant."""
        start = moment.astimezone(ZoneInfo(self.zone)).date() - _DAY
        days = (start + _DAY * n for n in range(_LOOK_AHEAD))
        times = (_instant(day, self.zone, self.hour) for day in days if self._falls_on(day))
        return next(at for at in times if at > moment)

    def _falls_on(self, day: date) -> bool:
        if self.kind == "week":
            return day.weekday() == self.weekday
        if self.kind == "month":
            return day.day == min(self.day, monthrange(day.year, day.month)[1])
        return True


def _first_and_last(kind: str, day: date) -> tuple[date, date]:
    if kind == "week":
        monday = day - _DAY * day.weekday()
        return monday, monday + _DAY * 6
    if kind == "month":
        return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])
    return day, day


def _instant(day: date, zone: str, hour: int = 0) -> datetime:
    return datetime.combine(day, time(hour), ZoneInfo(zone)).astimezone(UTC)
