"""The one place that opens a connection: resolve once, judge the address, connect to that same address."""

from __future__ import annotations

from checks.egress.evidence import evidence_of
from checks.egress.exchange import Exchange, exchange, reach
from checks.egress.faults import EgressError
from checks.egress.plain import open_socket
from checks.egress.policy import Denial, judge
from checks.egress.transport import Transport

__all__ = [
    "Denial",
    "EgressError",
    "Exchange",
    "Transport",
    "evidence_of",
    "exchange",
    "judge",
    "open_socket",
    "reach",
]
