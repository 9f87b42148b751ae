"""No value breaks the layout, however long and unbroken it is, and whoever wrote it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from checks.outcome import Rung, Status, Step
from checks.reason import Reason
from panel import ledger
from panel.models import Run
from tests import make
from tests.browser.test_every_page import keep_shot
from tests.browser.visits import EN, ZH, Look, too_wide, visit
from tests.panel.pages.scene import outcome

LONG = "unbroken" * 30
URL = f"https://{LONG[:60]}.example/{LONG}"


def a_team_with_long_values():
    """A lead whose endpoint, model and answers are long; one lane broke, one has failed once."""
    lead, now = make.member(role=30), timezone.now()
    endpoint = make.endpoint(lead.team, name=LONG[:60], base_url=URL)
    profile = make.profile(lead.team, name=LONG[:60], model=LONG[:200], endpoint=endpoint)
    orders = {lane.kind: lane.check_order for lane in profile.lanes.all()}
    for back, story in ((3, {"agent": "o", "replay": "o"}), (1, dict.fromkeys(orders, "d"))):
        runs = [make.run(orders[kind], now - timedelta(minutes=back)) for kind in story]
        started = ledger.start([run.pk for run in runs], now)
        told = [long_winded(run, story[run.check_order.lane.kind], now) for run in started]
        ledger.close_many(list(zip(started, told, strict=True)), now)
    return lead, profile


def long_winded(run, letter, now):
    """An outcome whose every fact is long."""
    kind = run.check_order.lane.kind
    plain = outcome(run, kind, letter, now)
    facts = {"model": LONG, "answered_by": LONG[::-1], "peer": LONG, "accepted": "no", "refused": LONG}
    steps = [replace(step, say=step.say | facts) for step in plain.steps]
    steps.append(Step(Rung.CHANNEL, "candidates", Status.OK, say={"base_url": URL}))
    steps += [
        Step(Rung.CHANNEL, name, Status.DEGRADED, Reason.PARAM_VALUE_UNSUPPORTED, say=facts)
        for name in ("tools", "stream", "json_schema")
    ]
    return replace(plain, steps=tuple(steps))


@pytest.mark.parametrize("language", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("width", [1360, 1024, 390])
def test_long_values_stay_within_the_window(browser, live_server, width: int, language: str) -> None:
    lead, profile = a_team_with_long_values()
    team, look, wide = lead.team.slug, Look(width, language=language), {}
    run = Run.objects.filter(status="down").latest("slot")
    places = {
        "overview": reverse("overview", args=[team]),
        "profiles": reverse("profiles", args=[team]),
        "profile": reverse("profile", args=[team, profile.code]),
        "run": reverse("run", args=[team, run.code]),
        "endpoint": reverse("endpoint", args=[team, profile.endpoint.code]),
        "endpoints": reverse("endpoints", args=[team]),
    }
    with visit(browser, live_server.url, look, lead) as (page, _):
        for name, where in places.items():
            page.goto(where)
            page.evaluate("document.querySelectorAll('main details').forEach(each => each.open = true)")
            wide |= {name: too_wide(page)} if too_wide(page) else {}
            keep_shot(page, f"long-{name}", look)
    assert wide == {}
