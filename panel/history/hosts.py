"""Hosts as their pages show them: the newest facts, what stands out, and the lanes that run there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from checks.hosts.facts import from_json
from checks.hosts.fingerprint import fingerprint_of
from panel.history.fits import fits
from panel.history.shapes_hosts import HostFinding, HostPage, HostRow, ReadingRow, RecipeRow
from panel.models import Host, HostReading, Lane, Recipe, Team
from panel.timetable import STALE_AFTER

READINGS_SHOWN = 30
Lanes = Mapping[int, list[tuple[str, str, str, str]]]


def hosts_page(team: Team, now: datetime) -> tuple[HostRow, ...]:
    """Return the team's hosts by name: three queries."""
    return tuple(row for row, _ in _rows(Host.objects.filter(team=team).order_by("name"), now))


def host_page(host: Host, now: datetime) -> HostPage:
    """Return one host: five queries, six with a fit check; `access.host_for` loaded the rest."""
    ((row, models),) = _rows(Host.objects.filter(pk=host.pk), now)
    readings = HostReading.objects.filter(host=host).select_related("asked_by").order_by("-slot")
    recipes = list(Recipe.objects.filter(host=host).select_related("profile").order_by("profile__name"))
    return HostPage(
        row=row,
        public_key=host.public_key,
        accepted_fingerprint=fingerprint_of(host.host_key),
        accepted_at=host.host_key_at,
        accepted_by=str(host.host_key_by or ""),
        offered_fingerprint=fingerprint_of(host.offered_key),
        offered_at=host.offered_at,
        jump_name=host.jump.name if host.jump else "",
        python=host.python,
        workdir=host.workdir,
        activate=host.activate,
        interval_s=host.interval_s,
        next_reading_at=host.next_reading_at,
        readings=tuple(_reading(each) for each in readings.defer("facts")[:READINGS_SHOWN]),
        recipes=tuple(
            RecipeRow(each.profile.code, each.profile.name, each.where, each.agent, tuple(each.command))
            for each in recipes
        ),
        fits=fits(recipes, row.facts, models),
    )


def _rows(hosts: QuerySet[Host], now: datetime) -> list[tuple[HostRow, Mapping[str, Any]]]:
    """Return the hosts, each with the folders of models that were read there."""
    telling = HostReading.objects.filter(host=OuterRef("pk"), facts__isnull=False).order_by("-slot")
    found = list(hosts.annotate(newest=Subquery(telling.values("pk")[:1])))
    readings = HostReading.objects.in_bulk([host.newest for host in found if host.newest])
    lanes = _lanes_on([host.pk for host in found])
    told = [(host, readings.get(host.newest)) for host in found]
    return [(_row(host, reading, lanes, now), _models(reading)) for host, reading in told]


def _models(reading: HostReading | None) -> Mapping[str, Any]:
    return (reading.facts or {}).get("models", {}) if reading else {}


def _lanes_on(hosts: list[int]) -> Lanes:
    rows = (
        Lane.objects.filter(profile__recipe__host__in=hosts, in_use=True)
        .order_by("profile__name", "pk")
        .values_list("profile__recipe__host", "profile__code", "profile__name", "kind", "profile__generation")
    )
    by_host: defaultdict[int, list[tuple[str, str, str, str]]] = defaultdict(list)
    for host, code, name, kind, generation in rows:
        by_host[host].append((code, name, kind, generation))
    return by_host


def _row(host: Host, reading: HostReading | None, lanes: Lanes, now: datetime) -> HostRow:
    read_at = (reading.finished_at or reading.slot) if reading else None
    return HostRow(
        code=host.code,
        name=host.name,
        address=host.address,
        user=host.user,
        port=host.port,
        zone=host.zone,
        state=host.state,
        reason=host.reason,
        since=host.since,
        read_at=read_at,
        stale=read_at is None or now - read_at > STALE_AFTER * timedelta(seconds=host.interval_s),
        has_key=bool(host.sealed_key),
        host_key_accepted=bool(host.host_key),
        key_changed=bool(host.host_key and host.offered_key and host.offered_key != host.host_key),
        paused=bool(host.sealed_key and host.host_key) and host.next_reading_at is None,
        facts=from_json(reading.facts) if reading else None,
        findings=tuple(_finding(each) for each in reading.findings) if reading else (),
        lanes=tuple(lanes.get(host.pk, ())),
    )


def _finding(told: Mapping[str, Any]) -> HostFinding:
    return HostFinding(told["reason"], told.get("say", {}), told.get("status", "degraded"))


def _reading(reading: HostReading) -> ReadingRow:
    return ReadingRow(
        code=reading.code,
        state=reading.state,
        status=reading.status,
        reason=reading.reason,
        say=reading.say,
        slot=reading.slot,
        finished_at=reading.finished_at,
        duration_ms=reading.duration_ms,
        findings=len(reading.findings),
        asked_by=str(reading.asked_by or ""),
    )
