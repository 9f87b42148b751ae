"""Notices taken, judged, settled, and put back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import connection

from panel import notices
from panel.models import Channel, IncidentEntry, Notice
from panel.notices import Result, Trouble
from panel.notices.queue import BACKOFF
from tests import make
from tests.panel.notices.told import NOW, channel, close, incident, queued, route

pytestmark = pytest.mark.django_db
OK = Result()
LATER = NOW + timedelta(hours=1)


def opened(lanes: int = 1, at: datetime = NOW, **fields: object):  # type: ignore[no-untyped-def]
    """An incident of a team with one channel, planned to be told."""
    team = make.team()
    route(channel(team, name="chat"), **fields)
    one = incident(team, lanes, at)
    notices.plan(one, "opened", at)
    return one


def state() -> tuple[str, str]:
    row = Notice.objects.order_by("-pk")[0]
    return row.state, row.failure


def take(at: datetime = NOW) -> Notice:
    return notices.start(at)[0]


def end(notice: Notice, result: Result = OK, at: datetime = NOW) -> bool:
    return notices.settle(notice.pk, notice.attempts, result, at)


def test_a_notice_is_taken_once() -> None:
    opened()
    assert len(notices.start(NOW)) == 1
    assert notices.start(NOW) == []


def test_what_was_sent_is_on_the_incidents_timeline() -> None:
    opened()
    assert end(take())
    assert state() == ("sent", "")
    entry = IncidentEntry.objects.get()
    assert (entry.kind, entry.say) == ("told", {"channel": "chat", "kind": "opened"})


def test_a_failed_sending_waits_longer_each_time_and_is_given_up_in_the_end() -> None:
    opened()
    at = NOW
    for wait in BACKOFF:
        end(take(at), Result(Trouble.SERVER_FAULT, {"status": "500"}), at)
        row = Notice.objects.get()
        assert row.due_at == at + wait
        at = row.due_at
    end(take(at), Result(Trouble.SERVER_FAULT, {"status": "500"}), at)
    assert state() == ("dead", "server_fault")
    assert Channel.objects.get().failure == "server_fault"


def test_a_longer_wait_that_the_other_side_asks_for_is_kept() -> None:
    opened()
    end(take(), Result(Trouble.RATE_LIMITED, wait_s=600))
    assert Notice.objects.get().due_at == NOW + timedelta(minutes=10)


def test_a_sending_that_may_have_arrived_is_not_repeated_where_it_would_be_seen_twice() -> None:
    queued(channel(make.team(), "dingtalk"), due_at=NOW)
    end(take(), Result(Trouble.UNCLEAR))
    assert state() == ("dead", "unclear")


@pytest.mark.parametrize("kind", ["webhook", "mail"])
def test_a_sending_that_may_have_arrived_is_repeated_where_a_second_one_is_known(kind: str) -> None:
    queued(channel(make.team(), kind), due_at=NOW)
    end(take(), Result(Trouble.UNCLEAR))
    assert state() == ("queued", "unclear")


def test_the_sending_of_a_worker_that_went_away_is_unclear() -> None:
    queued(channel(make.team(), "slack"), due_at=NOW)
    take()
    notices.settle_lost(NOW + timedelta(seconds=119))
    assert state() == ("sending", "")
    notices.settle_lost(NOW + timedelta(seconds=121))
    assert state() == ("dead", "unclear")


def test_a_worker_that_was_thought_dead_may_still_say_that_it_arrived() -> None:
    queued(channel(make.team(), "slack"), due_at=NOW)
    notice = take()
    notices.settle_lost(LATER)
    assert end(notice)
    assert state() == ("sent", "")


def test_a_worker_that_was_thought_dead_does_not_settle_what_another_has_taken() -> None:
    queued(channel(make.team(), "webhook"), due_at=NOW)
    slow = take()
    notices.settle_lost(LATER)
    again = take(LATER + timedelta(minutes=1))
    assert not end(slow, Result(Trouble.SERVER_FAULT))
    assert end(again)


def test_a_channel_sends_one_notice_at_a_time() -> None:
    row = channel(make.team(), "webhook")
    queued(row, due_at=NOW)
    queued(row, due_at=NOW)
    assert len(notices.start(NOW)) == 1
    assert notices.start(NOW) == []


def test_a_robot_is_not_hurried() -> None:
    row = channel(make.team(), "dingtalk")
    queued(row, due_at=NOW)
    queued(row, due_at=NOW)
    end(take())
    assert notices.start(NOW + timedelta(seconds=2)) == []
    assert len(notices.start(NOW + timedelta(seconds=4))) == 1


def test_a_recovery_does_not_overtake_the_opening() -> None:
    one = opened()
    end(take(), Result(Trouble.SERVER_FAULT))
    close(one, NOW)
    notices.plan(one, "recovered", NOW)
    assert notices.start(NOW + timedelta(seconds=1)) == []
    end(take(LATER), at=LATER)
    assert take(LATER).kind == "recovered"


def test_a_muted_incident_is_told_when_the_mute_is_over() -> None:
    one = opened()
    one.muted_until = LATER
    one.save()
    assert notices.start(NOW) == []
    assert Notice.objects.get().due_at == LATER
    assert take(LATER).kind == "opened"


def test_what_was_held_and_is_over_is_not_told_and_neither_is_its_recovery() -> None:
    one = opened()
    one.muted_until = LATER
    one.save()
    notices.start(NOW)
    close(one, NOW)
    notices.plan(one, "recovered", NOW)
    assert notices.start(LATER) == []
    assert set(Notice.objects.values_list("state", "failure")) == {("dropped", "over"), ("dropped", "untold")}


def test_what_is_over_in_a_moment_is_told_all_the_same() -> None:
    one = opened()
    close(one, NOW)
    notices.plan(one, "recovered", NOW)
    end(take())
    assert take(NOW).kind == "recovered"


def test_an_escalation_is_dropped_when_somebody_took_it() -> None:
    one = opened(after_min=15)
    one.taken_by = make.user()
    one.save()
    assert notices.start(LATER) == []
    assert state() == ("dropped", "taken")


def test_an_incident_that_an_open_one_explains_waits_until_that_is_over() -> None:
    one = opened()
    one.parent = incident(one.team)
    one.save()
    assert notices.start(NOW) == []
    close(one.parent, NOW)
    assert take(NOW + timedelta(minutes=1)).kind == "opened"


def test_a_channel_taken_out_of_use_drops_what_waits() -> None:
    opened()
    Channel.objects.update(enabled=False)
    assert notices.start(NOW) == []
    assert state() == ("dropped", "off")


def test_a_person_sends_again_what_was_given_up_and_it_is_one_more_attempt() -> None:
    queued(channel(make.team(), "slack"), due_at=NOW)
    end(take(), Result(Trouble.UNCLEAR))
    assert notices.send_again(Notice.objects.get(), LATER)
    notice = take(LATER)
    assert notice.attempts == 2
    assert not notices.send_again(notice, LATER)


def test_a_test_message_is_tried_once() -> None:
    row = channel(make.team())
    notices.plan_test(row, NOW, make.user().pk)
    end(take(), Result(Trouble.SERVER_FAULT))
    assert state() == ("dead", "server_fault")


@pytest.mark.django_db(transaction=True)
def test_of_many_that_start_at_once_each_notice_is_taken_by_one() -> None:
    team = make.team()
    for _ in range(12):
        row = channel(team)
        queued(row, due_at=NOW)
        queued(row, due_at=NOW)
    with ThreadPoolExecutor(4) as threads:
        rounds = list(threads.map(lambda _: _taken_once(), range(4)))
    taken = [pk for each in rounds for pk in each]
    assert len(taken) == len(set(taken)) == 12


def _taken_once() -> list[int]:
    try:
        return [notice.pk for notice in notices.start(NOW)]
    finally:
        connection.close()
