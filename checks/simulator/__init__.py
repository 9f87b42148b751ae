"""Scripted servers on real sockets that answer, and misbehave, like the real ones.

Standard library only, and nothing of the engine: it plays the other side.
"""

from __future__ import annotations

from checks.simulator.families import FAMILIES
from checks.simulator.faults import BEYOND_A_SERVER, FAULTS, Fault
from checks.simulator.server import Seen, Server, serve

__all__ = ["BEYOND_A_SERVER", "FAMILIES", "FAULTS", "Fault", "Seen", "Server", "serve"]
