"""Real workers, killed while they make a report, and between its making and its sending."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from panel import tasks
from panel.models import Notice, Report, ReportSchedule
from tests import make
from tests.checks.local import LocalServer, serving
from tests.panel.notices.told import answering, channel
from tests.panel.time.workers import ROOT, _database, until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TAKEN = answering(200, {"errcode": 0, "errmsg": "ok"})
# Makes what is due, says when the report is written and its sending is to be planned, and never goes on.
STUCK = """
import time
import django
django.setup()
from django.utils import timezone
from panel import notices, reports
def stuck(*_):
    print("written", flush=True)
    time.sleep(600)
notices.plan_report = stuck
reports.make_due(timezone.now())
"""


def weekly_to(server: LocalServer) -> ReportSchedule:
    """A weekly schedule that is due, to a DingTalk robot."""
    team = make.profile(name="grpo-prod").team
    row = make.report_schedule(team, next_at=datetime.now(UTC) - timedelta(seconds=5))
    row.channels.add(
        channel(team, "dingtalk", secret=f"http://127.0.0.1:{server.port}/robot/send?access_token=t")
    )
    return row


def die_while_making(database: str) -> None:
    """Run a process that is killed when the report is written and not committed."""
    environment = os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "panel.settings"}
    command = [sys.executable, "-c", STUCK]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.kill()


def work_until_sent() -> None:
    """Sweep as beat would, with a worker that does what is rung for."""

    def swept() -> bool:
        tasks.tick()
        return Notice.objects.filter(state=Notice.State.SENT).exists()

    with worker():
        until(swept)
        tasks.tick()


def test_a_report_whose_maker_was_killed_is_made_and_sent_exactly_once():
    with serving(TAKEN) as server:
        weekly_to(server)
        die_while_making(_database())
        assert not Report.objects.exists()
        work_until_sent()
    assert (Report.objects.count(), Notice.objects.count(), len(server.seen)) == (1, 1, 1)


def test_a_report_whose_worker_was_killed_before_its_sending_is_sent_exactly_once():
    with serving(TAKEN) as server:
        weekly_to(server)
        tasks.make_reports()  # and nobody rings for its notice
        assert len(server.seen) == 0
        work_until_sent()
    assert (Report.objects.count(), Notice.objects.count(), len(server.seen)) == (1, 1, 1)
    said = json.loads(server.seen[0].partition(b"\r\n\r\n")[2])
    assert said["msgtype"] == "markdown"
    assert "grpo-prod" in said["markdown"]["text"]
