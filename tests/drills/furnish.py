"""Furnishes a Preflight that a drill started: a team, lanes at one endpoint, a channel that is told all.

    python -m tests.drills.furnish <base url> <origin> <hook> <lanes>

A process of its own, on the rows of that start (PREFLIGHT_DATA_DIR, DATABASE_URL).
"""

from __future__ import annotations

import os
import sys

import django

KEY = "sk-canary-0123456789abcdef"
INTERVAL_S = 10


def main(base_url: str, origin: str, hook: str, lanes: str) -> None:
    """Write the rows; every lane is due within ten seconds, and one failure makes it red."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
    django.setup()
    from django.db import transaction
    from django.utils import timezone

    from panel import schedule
    from panel.models import Check
    from tests import make
    from tests.panel.notices.told import SIGN, channel, route

    with transaction.atomic():
        team = make.team("drilled")
        route(channel(team, "webhook", secret=hook, sign=SIGN))
        endpoint = make.endpoint(team, key=KEY, base_url=base_url, origin=origin)
        for _ in range(int(lanes)):
            make.profile(team, lanes=("agent",), endpoint=endpoint)
        for check in Check.objects.filter(lane__in_use=True):
            check.interval_s, check.down_k, check.down_n = INTERVAL_S, 1, 1
            check.next_run_at = schedule.first_slot(check, timezone.now())
            check.save()


if __name__ == "__main__":
    main(*sys.argv[1:])
