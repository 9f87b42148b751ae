"""How often a person may cause work."""

from __future__ import annotations

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from panel import limits
from panel.actions import Refused, checks
from panel.models import Role, Run
from tests import make

pytestmark = pytest.mark.django_db
NOON = 1_796_040_000  # the beginning of a minute


@pytest.fixture(autouse=True)
def at_noon():
    with time_machine.travel(NOON + 10, tick=False):
        yield


def test_a_person_s_own_pace_is_never_stopped() -> None:
    assert {limits.seconds_to_wait(1, "run") for _ in range(limits.A_MINUTE["run"])} == {0}


def test_one_too_many_waits_for_the_next_minute() -> None:
    for _ in range(limits.A_MINUTE["run"]):
        limits.seconds_to_wait(1, "run")
    assert limits.seconds_to_wait(1, "run") == 50
    with time_machine.travel(NOON + 60, tick=False):
        assert limits.seconds_to_wait(1, "run") == 0


def test_one_person_s_haste_stops_nobody_else_and_nothing_else() -> None:
    for _ in range(limits.A_MINUTE["run"] + 1):
        limits.seconds_to_wait(1, "run")
    assert (limits.seconds_to_wait(2, "run"), limits.seconds_to_wait(1, "export")) == (0, 0)


def test_without_the_cache_nothing_is_limited(settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:9/0",
        }
    }
    assert {limits.seconds_to_wait(1, "run") for _ in range(limits.A_MINUTE["run"] + 5)} == {0}


def hasty(member) -> None:
    key = f"limit:run:{member.user_id}:{(NOON + 10) // limits.MINUTE_S}"
    cache.set(key, limits.A_MINUTE["run"], timeout=120)


def test_a_hasty_run_is_refused_and_leaves_no_row() -> None:
    member = make.member(role=Role.ENGINEER)
    profile = make.profile(member.team)
    hasty(member)
    with pytest.raises(Refused, match="50 seconds"):
        checks.run_now(actor=member, profile=profile)
    assert not Run.objects.exists()


def test_the_page_says_when_it_works_again() -> None:
    member = make.member(role=Role.ENGINEER)
    profile = make.profile(member.team)
    hasty(member)
    client = Client()
    client.force_login(member.user)
    shown = client.post(reverse("run_now", args=[member.team.slug, profile.code]), follow=True)
    assert "It works again in 50 seconds" in shown.content.decode()
