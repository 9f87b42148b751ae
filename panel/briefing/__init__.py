"""Rows and unsealed keys into specs. Imported by tasks alone, so that no page ever holds a key."""

from __future__ import annotations

from panel.briefing.balances import brief_balance
from panel.briefing.channels import brief_notices
from panel.briefing.hosts import brief_host, models_on
from panel.briefing.lanes import brief, brief_tidying

__all__ = ["brief", "brief_balance", "brief_host", "brief_notices", "brief_tidying", "models_on"]
