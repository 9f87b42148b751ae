"""Many rows by one statement: what is written is what was meant, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from panel.ledger.bulk import insert_new, insert_rows, update_rows, upsert_rows
from panel.models import LaneHour, LaneState, Run, RunSteps
from tests import make

pytestmark = pytest.mark.django_db

LATE = datetime(2026, 11, 30, 23, 59, 59, 999999, tzinfo=UTC)
ODD = 'a "quoted" \\ back\nslash, 密钥 \U0001f600'


def test_an_update_writes_the_named_fields_and_no_other():
    run = make.run(make.check(), status="down", reason="before")
    run.status, run.reason, run.finished_at, run.latency_ms = "ok", "after", LATE, None
    update_rows([run], ("status", "finished_at", "latency_ms"))
    kept = Run.objects.get()
    assert (kept.status, kept.reason, kept.finished_at, kept.latency_ms) == ("ok", "before", LATE, None)


def test_an_update_writes_json_dates_and_references():
    run = make.run(make.check())
    state = LaneState.objects.get(lane=run.check_order.lane)
    state.passed, state.tokens_day, state.last_run = {"2": ODD}, LATE.date(), run
    state.contract_broken = True
    update_rows([state], ("passed", "tokens_day", "last_run", "contract_broken"))
    kept = LaneState.objects.get(pk=state.pk)
    assert (kept.passed, kept.tokens_day, kept.last_run) == ({"2": ODD}, LATE.date(), run)
    assert kept.contract_broken


def test_an_upsert_inserts_what_is_new_and_counts_on_what_is_there():
    lane = make.check().lane
    hours = [LATE.replace(minute=0, second=0, microsecond=0) - timedelta(hours=n) for n in range(2)]
    fields = tuple(field.name for field in LaneHour._meta.fields if field.name not in ("id", "lane", "hour"))
    LaneHour.objects.create(lane=lane, hour=hours[0], ok=1)
    rows = [LaneHour(lane=lane, hour=hour, ok=2, latency_first=b"\x00\xff") for hour in hours]
    upsert_rows(rows, ("lane", "hour"), fields)
    found = LaneHour.objects.order_by("hour").values_list("ok", "latency_first")
    assert [(ok, bytes(latency)) for ok, latency in found] == [(2, b"\x00\xff")] * 2


def test_inserted_steps_read_back_as_they_were():
    run = make.run(make.check())
    steps = [{"name": "chat", "say": {"model": ODD}, "tokens": 0, "none": None}]
    insert_rows([RunSteps(run=run, steps=steps)], ("run", "steps", "lasting"))
    assert RunSteps.objects.get().steps == steps


def test_no_rows_cost_no_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        update_rows([], ("status",))
        upsert_rows([], ("lane", "hour"), ("ok",))
        insert_rows([], ("run", "steps", "lasting"))


def test_new_rows_know_their_keys_in_whatever_order_they_were_written():
    order = make.check()
    runs = [Run(check_order=order, slot=LATE - timedelta(minutes=n), host_name=ODD) for n in range(3)]
    insert_new(runs, tuple(field.name for field in Run._meta.concrete_fields if field.name != "id"), "code")
    kept = {run.pk: (run.code, run.slot, run.host_name, run.state) for run in Run.objects.all()}
    assert kept == {run.pk: (run.code, run.slot, ODD, "queued") for run in runs}
