"""Which of a fixed set of sentences says a report best, and the numbers that it names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from panel.reports.shapes import Body


class Pattern(StrEnum):
    """What a headline can say; each has its words in every language (`panel.templatetags.reports`)."""

    NO_LANES = "no_lanes"
    NO_EVIDENCE = "no_evidence"
    STILL_DOWN = "still_down"
    OUTAGES_AND_SLOW = "outages_and_slow"
    OUTAGES = "outages"
    SLOW = "slow"
    CALM = "calm"
    CALM_WHERE_SEEN = "calm_where_seen"


@dataclass(frozen=True, slots=True)
class Headline:
    """A pattern with its numbers: lanes in all, lanes that were seen, lanes still down, outages, lanes that
    were slow for a time, and the longest outage in seconds."""

    pattern: Pattern
    lanes: int
    seen: int
    down: int
    outages: int
    slow: int
    longest_s: int


def headline(body: Body) -> Headline:
    """Choose the pattern: what is worst and still true comes first."""
    was_down = sum(lane.down_s > 0 for lane in body.lanes)
    slow = sum(lane.degraded_s > 0 for lane in body.lanes)
    # Lanes that went down before anybody made incidents of it still count.
    outages = body.outages or was_down
    # What broke after the period is no news of it, and what recovered since is not still down.
    down = sum(lane.down_at_end and lane.state == "down" for lane in body.lanes)
    seen = sum(lane.available is not None for lane in body.lanes)
    pattern = _pattern(body, down=down, outages=outages, slow=slow)
    if pattern is Pattern.CALM and seen < len(body.lanes):
        pattern = Pattern.CALM_WHERE_SEEN  # what nobody looked at is not said to be well
    return Headline(pattern, len(body.lanes), seen, down, outages, slow, body.longest_s)


def _pattern(body: Body, *, down: int, outages: int, slow: int) -> Pattern:
    if not body.lanes:
        return Pattern.NO_LANES
    if body.available is None:
        return Pattern.NO_EVIDENCE
    if down:
        return Pattern.STILL_DOWN
    if outages:
        return Pattern.OUTAGES_AND_SLOW if slow else Pattern.OUTAGES
    return Pattern.SLOW if slow else Pattern.CALM
