"""Pages on which people stop checks, plan maintenance, and say by cron when a lane is checked."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from panel.models import Check, Maintenance
from panel.templatetags.cron_words import cron_words
from tests.panel.pages.places import address
from tests.panel.pages.scene import Scene
from tests.panel.pages.test_profile_pages import edited


def order_of(atlas: Scene, kind: str = "agent") -> Check:
    return Check.objects.get(lane__profile=atlas.down, lane__kind=kind)


def test_all_lanes_of_a_profile_are_paused_with_a_reason_and_an_end(atlas: Scene, browse) -> None:
    client, until = browse(atlas.lead), timezone.now() + timedelta(days=1)
    said = {"lane": "all", "reason": "The relay moves", "until": f"{until:%Y-%m-%dT%H:%M}"}
    text = client.post(address("lane_pause", atlas), said, follow=True).text
    assert order_of(atlas).paused_until is not None
    assert "Scheduled checks of 3 lanes are paused." in text
    assert "The relay moves" in text


def test_a_pause_without_a_reason_is_sent_back(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).post(address("lane_pause", atlas), {"lane": "all", "reason": " "}).text
    assert 'href="#id_reason"' in text
    assert order_of(atlas).paused_at is None


def test_maintenance_is_planned_shown_and_ended(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), address("maintenance", atlas)
    ends = timezone.localtime() + timedelta(hours=1)
    said = {"scope": "profile", "reason": "New <driver>", "ends_at": f"{ends:%Y-%m-%dT%H:%M}", "zone": "UTC"}
    text = client.post(where, said, follow=True).text
    assert "New &lt;driver&gt;" in text
    assert "is-maintenance" in client.get(address("profile", atlas)).text
    row = Maintenance.objects.get()
    client.post(where, {"deed": "end", "maintenance": row.code})
    assert "Nothing is planned" in client.get(where).text


def test_a_viewer_sees_what_is_planned_and_who_may_plan(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("maintenance", atlas)).text
    assert "can plan maintenance" in text
    assert 'name="scope"' not in text


def test_maintenance_of_another_team_is_not_ended_from_here(atlas: Scene, browse) -> None:
    answer = browse(atlas.lead).post(
        address("maintenance", atlas), {"deed": "end", "maintenance": "zzzzzzzz"}
    )
    assert answer.status_code == 404


def test_a_lane_is_checked_by_cron_in_a_zone_outside_quiet_hours(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), address("profile_edit", atlas)
    atlas.down.refresh_from_db()
    lane = {
        "agent-cron": "30 9 * * 1-5", "agent-zone": "Asia/Shanghai", "agent-quiet_from": "22:00",
        "agent-quiet_to": "07:00", "agent-retest_s": "30",
    }  # fmt: skip
    text = client.post(where, edited(atlas.down, **lane), follow=True).text
    order = order_of(atlas)
    assert (order.cron, order.zone, order.quiet_to, order.retest_s) == (
        "30 9 * * 1-5", "Asia/Shanghai", time(7), 30,
    )  # fmt: skip
    assert "Monday to Friday, at 09:30" in text
    assert 'value="30 9 * * 1-5"' in client.get(where).text


def test_a_cron_that_is_none_stands_at_its_field(atlas: Scene, browse) -> None:
    atlas.down.refresh_from_db()
    lane = {"agent-cron": "whenever", "agent-zone": "UTC"}
    text = browse(atlas.lead).post(address("profile_edit", atlas), edited(atlas.down, **lane)).text
    assert 'href="#id_agent-cron"' in text


def test_a_form_without_these_fields_leaves_what_is_stored(atlas: Scene, browse) -> None:
    atlas.down.refresh_from_db()
    Check.objects.filter(lane__profile=atlas.down).update(cron="0 * * * *", retest_s=10)
    browse(atlas.lead).post(address("profile_edit", atlas), edited(atlas.down))
    assert (order_of(atlas).cron, order_of(atlas).retest_s) == ("0 * * * *", 10)


def test_the_button_of_a_paused_lane_lets_it_go_on(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), reverse("lane_pause", args=[atlas.slug, atlas.down.code])
    client.post(where, {"lane": "agent", "reason": "moving"})
    assert "Resume checks" in client.get(address("profile", atlas), {"lane": "agent"}).text


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("30 9 * * 1-5", "Monday to Friday, at 09:30"),
        ("30 9 * * MON-FRI", "Monday to Friday, at 09:30"),
        ("0 9,18 * * *", "every day, at 09:00, 18:00"),
        ("0 0 1,15 * *", "on day 1, 15 of the month, at 00:00"),
        ("0 0 L * *", "on the last day of the month, at 00:00"),
        ("0 0 * * 0", "Sunday, at 00:00"),
        ("0 0 * * 7", "Sunday, at 00:00"),
        ("* * * * *", "every minute"),
        ("*/10 * * * *", "every 10 minutes"),
        ("*/10 9-17 * * 1", "Monday, every 10 minutes from 09:00 to 17:59"),
        ("5 * * * *", "every hour at minute 5"),
        ("0 */6 * * *", "every 6 hours"),
        ("0 9 * 3 *", "every day, at 09:00, in March"),
        ("0 0 1 * 1", ""),
        ("0 0 * * 1#2", ""),
        ("nonsense", ""),
    ],
)
def test_cron_is_put_into_words_or_stands_for_itself(expression: str, said: str) -> None:
    assert cron_words(expression) == said
