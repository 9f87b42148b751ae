"""What follows from a report: the few things that a person should do, the most pressing first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from panel.reports.shapes import Broke, KeyDue, LaneLine, Taken, ToDo

LISTED = 8
THIN_EVIDENCE = 0.9


class What(StrEnum):
    """The kinds of things to do."""

    TAKE_INCIDENT = "take_incident"
    MEND_LANE = "mend_lane"
    ROTATE_KEY = "rotate_key"
    REPLACE_BUNDLE = "replace_bundle"
    SPEED_UP = "speed_up"
    SEE_TO_CHECKS = "see_to_checks"


def todo(
    lanes: Sequence[LaneLine], broke: Sequence[Broke], keys: Sequence[KeyDue], holders: Sequence[Taken]
) -> tuple[ToDo, ...]:
    """Return what to do; an incident that somebody has is in good hands already."""
    things = [*_incidents(broke), *_lanes_down(lanes, broke), *_keys(keys), *_holders(holders)]
    things += [*_slow(lanes), *_unseen(lanes)]
    return tuple(things[:LISTED])


def _incidents(broke: Sequence[Broke]) -> Iterator[ToDo]:
    for each in broke:
        if each.closed_at is None and not each.taken_by:
            yield ToDo(What.TAKE_INCIDENT, name=each.where, number=each.number, reason=each.reason)


def _lanes_down(lanes: Sequence[LaneLine], broke: Sequence[Broke]) -> Iterator[ToDo]:
    """Lanes that are down count by themselves only where no open incident speaks for them."""
    if not any(each.closed_at is None for each in broke):
        for lane in lanes:
            if lane.state == "down":
                yield _of_lane(What.MEND_LANE, lane)


def _keys(keys: Sequence[KeyDue]) -> Iterator[ToDo]:
    for key in keys:
        yield ToDo(What.ROTATE_KEY, key.endpoint, key.endpoint_code, number=key.number, at=key.expires_at)


def _holders(holders: Sequence[Taken]) -> Iterator[ToDo]:
    for taken in holders:
        if taken.stale == "key":
            yield ToDo(What.REPLACE_BUNDLE, taken.person, taken.profile_code, of=taken.profile)


def _slow(lanes: Sequence[LaneLine]) -> Iterator[ToDo]:
    for lane in lanes:
        if lane.limit_ms and lane.p95_ms is not None and lane.p95_ms > lane.limit_ms:
            yield _of_lane(What.SPEED_UP, lane, number=lane.p95_ms)


def _unseen(lanes: Sequence[LaneLine]) -> Iterator[ToDo]:
    for lane in lanes:
        if lane.state not in ("paused", "maintenance") and lane.evidence < THIN_EVIDENCE:
            yield _of_lane(What.SEE_TO_CHECKS, lane)


def _of_lane(what: What, lane: LaneLine, number: int = 0) -> ToDo:
    return ToDo(
        what, lane.profile, lane.profile_code, kind=lane.kind, generation=lane.generation,
        reason=lane.reason, number=number,
    )  # fmt: skip
