"""When a lane is checked, as a form says it: judged, and put into its standing check."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from zoneinfo import available_timezones

from django.utils.translation import gettext as _

from panel import timetable
from panel.actions import Refused
from panel.models import Check

DEFAULT_RETEST_S = 60
LEAST_RETEST_S, MOST_RETEST_S = 10, 86_400
# Of a cron with quiet hours, so many slots are looked at for one outside of them.
LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Rhythm:
    """`cron` (in `zone`) takes the place of the interval where it is not empty; between the quiet hours,
    local times of `zone`, nothing runs. A failing lane is asked every `retest_s` seconds, 0 for as usual,
    None to leave what is stored."""

    cron: str = ""
    zone: str = "UTC"
    quiet_from: time | None = None
    quiet_to: time | None = None
    retest_s: int | None = None


def apply(order: Check, rhythm: Rhythm) -> None:
    """Put the rhythm into the check, unsaved. Raises Refused for one that cannot be followed."""
    if rhythm.zone not in available_timezones():
        raise Refused(_("There is no such time zone."), "zone")
    if (rhythm.quiet_from is None) != (rhythm.quiet_to is None):
        raise Refused(_("Quiet hours have a beginning and an end. Give both, or none."), "quiet_to")
    if rhythm.quiet_from is not None and rhythm.quiet_from == rhythm.quiet_to:
        raise Refused(_("The quiet hours end when they begin. To run nothing, pause the lane."), "quiet_to")
    order.cron, order.zone = " ".join(rhythm.cron.split()), rhythm.zone
    order.quiet_from, order.quiet_to = rhythm.quiet_from, rhythm.quiet_to
    if rhythm.retest_s is not None:
        if rhythm.retest_s and not LEAST_RETEST_S <= rhythm.retest_s <= MOST_RETEST_S:
            raise Refused(_("A failing lane is asked at most every 10 seconds."), "retest_s")
        order.retest_s = rhythm.retest_s or None
    _judge_slots(order)


def _judge_slots(order: Check) -> None:
    now = datetime.now(UTC)
    if not order.cron:
        _judge_interval(order, now)
        return
    try:
        slots = list(islice(timetable.cron_slots(order.cron, order.zone, now), LOOKED_AT))
    except timetable.CronRefused:
        raise Refused(_("This is no cron expression of five fields."), "cron") from None
    if not slots:
        raise Refused(_("This never comes. Give a day that exists."), "cron")
    if all(timetable.quiet_until(order, slot) for slot in slots):
        raise Refused(_("Every slot of this cron lies in the quiet hours."), "cron")


def _judge_interval(order: Check, now: datetime) -> None:
    """An interval of a day or more may meet its quiet hours each time."""
    slot = timetable.on_grid(b"lane %d" % (order.lane_id or 0), order.interval_s, now)
    ahead = (slot + timedelta(seconds=order.interval_s) * number for number in range(LOOKED_AT))
    if all(timetable.quiet_until(order, each) for each in ahead):
        raise Refused(_("Every slot of this interval lies in the quiet hours."), "quiet_to")
