"""The one place that opens a connection: resolve once, judge the address, connect to that same address."""

from __future__ import annotations

from checks.egress.evidence import evidence_of
from checks.egress.exchange import Carrier, Exchange, carried_by, exchange, reach
from checks.egress.faults import EgressError
from checks.egress.keeping import keeping
from checks.egress.plain import open_socket
from checks.egress.policy import Denial, judge
from checks.egress.transport import Transport

__all__ = [
    "Carrier",
    "Denial",
    "EgressError",
    "Exchange",
    "Transport",
    "carried_by",
    "evidence_of",
    "exchange",
    "judge",
    "keeping",
    "open_socket",
    "reach",
]
