"""The days that were counted before there were rows for them, from their hours; reasons and tokens from runs."""

from datetime import UTC

from django.db import migrations
from django.db.models import Count, Sum
from django.db.models.functions import TruncDate

COUNTS = ("ok", "degraded", "down", "not_testable", "missed", "maintenance")
WORST_FIRST = ("down", "degraded", "unknown", "not_testable", "maintenance", "paused", "ok", "")
LANES_AT_ONCE = 50


def fill(apps, schema_editor):
    """Count every lane's days anew: its hours know all that the days of this moment do, but for a few reasons."""
    Lane, LaneDay = apps.get_model("panel", "Lane"), apps.get_model("panel", "LaneDay")
    lanes = list(Lane.objects.order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(lanes), LANES_AT_ONCE):
        some = lanes[first : first + LANES_AT_ONCE]
        LaneDay.objects.filter(lane__in=some).delete()
        days = from_hours(apps, some)
        from_runs(apps, some, days)
        LaneDay.objects.bulk_create(days.values(), batch_size=1000)


def from_hours(apps, lanes):
    LaneHour, LaneDay = apps.get_model("panel", "LaneHour"), apps.get_model("panel", "LaneDay")
    days = {}
    for row in LaneHour.objects.filter(lane__in=lanes).iterator(chunk_size=2000):
        key = (row.lane_id, row.hour.astimezone(UTC).date())
        day = days.setdefault(key, LaneDay(lane_id=key[0], day=key[1]))
        for name in COUNTS:
            setattr(day, name, getattr(day, name) + getattr(row, name))
        day.worst = min(day.worst, row.worst_first, row.worst_second, key=WORST_FIRST.index)
        halves = (day.latency, row.latency_first, row.latency_second)
        merged = sum(int.from_bytes(bytes(half), "little") for half in halves)
        day.latency = merged.to_bytes((merged.bit_length() + 7) // 8, "little")
    return days


def from_runs(apps, lanes, days):
    """Runs are kept for a shorter time: older days stay without."""
    Run = apps.get_model("panel", "Run")
    done = Run.objects.filter(check_order__lane__in=lanes, state="done", finished_at__isnull=False)
    of_day = (
        done.annotate(day=TruncDate("finished_at", tzinfo=UTC)).values("check_order__lane", "day").order_by()
    )
    for row in of_day.annotate(spent=Sum("tokens")):
        if (day := days.get((row["check_order__lane"], row["day"]))) is not None:
            day.tokens = row["spent"]
    failed = of_day.filter(status__in=("down", "not_testable")).exclude(reason="")
    for row in failed.values("check_order__lane", "day", "reason").annotate(number=Count("pk")):
        if (day := days.get((row["check_order__lane"], row["day"]))) is not None:
            day.reasons[row["reason"]] = row["number"]


class Migration(migrations.Migration):
    dependencies = [("panel", "0012_steps_say_whether_they_last")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
