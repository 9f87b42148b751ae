"""How a lane's key stands in a file: the key, a filler, or a line that says where it comes from."""

from __future__ import annotations

from checks.dialects import Entry
from panel.exports.bundle import Bundle, BundleLane

FILLER = "no-key-needed"
"""Clients refuse to start without a key, also before a server that asks for none."""


def key_entries(bundle: Bundle, lane: BundleLane, name: str) -> tuple[Entry, ...]:
    """The variable `name` with the lane's key or a filler; nothing where the key is not included."""
    if not lane.is_keyed:
        return (Entry(name, FILLER),)
    if bundle.with_keys and lane.key:
        return (Entry(name, lane.key),)
    return ()


def key_comments(bundle: Bundle, lane: BundleLane, name: str) -> tuple[str, ...]:
    """What a reader must know of the variable `name` beyond its value."""
    if not lane.is_keyed:
        return (f"This server asks for no key; clients do, so {name} holds a filler.",)
    if not lane.key_name:
        return (f"{name}: not included, {lane.endpoint_name} has no key yet.",)
    if bundle.with_keys and lane.key:
        return (f"{name}: key {lane.key_name} of {lane.endpoint_name}.",)
    return (
        f"{name}: not included, set it in your environment (key {lane.key_name} of {lane.endpoint_name}).",
    )
