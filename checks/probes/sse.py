"""Server-sent events, read from a body that has come in whole, within bounds of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_BYTES: Final = 1_048_576
MAX_EVENTS: Final = 16_384
END_MARK: Final = "[DONE]"


@dataclass(frozen=True, slots=True)
class EventStream:
    """What a body held when read as events.

    `events` are the JSON values in order, up to the end mark. `done` tells whether the end mark came,
    `unreadable` how many events were no JSON, `capped` whether the reading stopped at a bound of ours.
    """

    events: tuple[object, ...]
    done: bool
    unreadable: int
    capped: bool

    @property
    def found(self) -> bool:
        """Whether there was any event at all: a page or one plain JSON has none."""
        return bool(self.events) or self.done or self.unreadable > 0


def read_events(body: bytes) -> EventStream:
    """Read `body` as an event stream (WHATWG HTML, 9.2.6); never raises, whatever the bytes.

    Comments, event names and ids are passed over, as all clients do. The last event counts without its
    blank line too, since servers forget it after the end mark.
    """
    events: list[object] = []
    unreadable = 0
    capped = len(body) > MAX_BYTES
    for data in _messages(body[:MAX_BYTES]):
        if data.strip() == END_MARK:
            return EventStream(tuple(events), True, unreadable, capped)
        if len(events) + unreadable >= MAX_EVENTS:
            capped = True
            break
        try:
            events.append(json.loads(data))
        except (ValueError, RecursionError):
            unreadable += 1
    return EventStream(tuple(events), False, unreadable, capped)


def _messages(body: bytes) -> Iterator[str]:
    """The data of each event that has any; its lines joined."""
    held: list[str] = []
    for raw in (*body.removeprefix(b"\xef\xbb\xbf").splitlines(), b""):
        line = raw.decode("utf-8", "replace")
        if not line:
            if any(held):
                yield "\n".join(held)
            held = []
            continue
        name, _, value = line.partition(":")
        if name == "data":
            held.append(value.removeprefix(" "))
