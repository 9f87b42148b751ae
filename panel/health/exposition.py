"""What a Prometheus may read of this instance: numbers, zones and states; no team, no name, no address.

One collector reads the rows when it is asked: several web processes say the same, and none counts by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from django.db.models import Count, Min, Sum
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from panel.health.pulses import WORKER
from panel.health.queues import depths
from panel.models import Incident, Lane, LaneDay, Notice, Pulse, Run

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
STATES: Final = ("ok", "degraded", "down", "not_testable", "unknown", "paused", "maintenance")
COUNTED: Final = ("ok", "degraded", "down", "not_testable", "missed", "maintenance")


def metrics(now: datetime) -> bytes:
    """Return the text that Prometheus reads: eight queries, and one look into the broker."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Rows(now))
    return generate_latest(registry)


class _Rows(Collector):
    """Reads everything at one moment."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def collect(self) -> Iterator[Metric]:
        """Yield the families, the one on itself last."""
        began = time.monotonic()
        yield from _parts(self.now)
        yield from _lanes(self.now)
        yield from _runs(self.now)
        yield from _told()
        yield _gauge("preflight_collect_seconds", "How long it took to read this.", time.monotonic() - began)


def _parts(now: datetime) -> Iterator[Metric]:
    pulses = dict(Pulse.objects.values_list("name", "at"))
    ages = GaugeMetricFamily(
        "preflight_pulse_age_seconds",
        "Since when a part has given no sign of life: tick (the sweep), beat (the clock), worker of a zone.",
        labels=("part", "zone"),
    )
    for name, at in sorted(pulses.items()):
        part, _, zone = name.partition(":")
        ages.add_metric((part, zone), max(0.0, (now - at).total_seconds()))
    yield ages
    zones = [name.removeprefix(WORKER) for name in pulses if name.startswith(WORKER)]
    waiting = depths(zones)
    yield _gauge("preflight_broker_up", "1 while the broker answers.", float(waiting is not None))
    if waiting is not None:
        yield _by("preflight_queue_messages", "Messages that wait for a worker.", "zone", waiting)


def _lanes(now: datetime) -> Iterator[Metric]:
    of_states = dict.fromkeys(STATES, 0)
    lanes = Lane.objects.filter(in_use=True)
    paused = lanes.filter(check_order__paused_at__isnull=False)
    maintained = lanes.filter(check_order__paused_at=None, now__maintained_until__gt=now)
    looked_at = lanes.filter(check_order__paused_at=None).exclude(now__maintained_until__gt=now)
    counted = looked_at.order_by().values_list("now__state").annotate(Count("pk"))
    of_states |= {str(state): number for state, number in counted}
    of_states |= {"paused": paused.count(), "maintenance": maintained.count()}
    yield _by("preflight_lanes", "Lanes in use, by what is known of them.", "state", of_states)


def _runs(now: datetime) -> Iterator[Metric]:
    waits = Run.objects.filter(state__in=("queued", "running")).order_by()
    found = {state: (number, slot) for state, number, slot in waits.values_list("state").annotate(
        Count("pk"), Min("slot")
    )}  # fmt: skip
    numbers = {state: found.get(state, (0, now))[0] for state in ("queued", "running")}
    yield _by("preflight_runs_open", "Runs that wait or are under way.", "state", numbers)
    late = (now - found["queued"][1]).total_seconds() if "queued" in found else 0.0
    yield _gauge(
        "preflight_runs_oldest_queued_seconds", "How long the oldest queued run waits.", max(0.0, late)
    )
    # Of one UTC day: a counter may begin anew, and a sum over all days would cost more with each of them.
    # Through the lanes, by which days are indexed.
    today = LaneDay.objects.filter(lane__in_use=True, day=now.astimezone(UTC).date())
    sums = today.aggregate(**{name: Sum(name) for name in (*COUNTED, "tokens")})
    ended = CounterMetricFamily(
        "preflight_runs", "Runs that ended this UTC day, by what they found.", labels=("status",)
    )
    for name in COUNTED:
        ended.add_metric((name,), sums[name] or 0)
    yield ended
    yield CounterMetricFamily(
        "preflight_tokens", "Tokens that checks spent this UTC day.", value=sums["tokens"] or 0
    )


def _told() -> Iterator[Metric]:
    open_now = Incident.objects.filter(closed_at=None).count()
    yield _gauge("preflight_incidents_open", "Incidents that are not over.", open_now)
    states = dict.fromkeys(Notice.State.values, 0)
    states |= dict(Notice.objects.order_by().values_list("state").annotate(Count("pk")))
    yield _by("preflight_notices", "Notices kept, by what became of them.", "state", states)


def _gauge(name: str, said: str, value: float) -> Metric:
    return GaugeMetricFamily(name, said, value=value)


def _by(name: str, said: str, label: str, values: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, said, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
