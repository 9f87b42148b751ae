"""Incidents: one a cause, opened, joined, left and closed by what is confirmed of lanes."""

from __future__ import annotations

from panel.incidents.following import catch_up, follow

__all__ = ["catch_up", "follow"]
