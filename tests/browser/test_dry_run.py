"""A dry run that is watched: its output grows by itself, stays where the reader is, and can be paused."""

from __future__ import annotations

from django.urls import reverse
from django.utils import timezone

from panel.models import Check, Run, RunOutput
from tests import make
from tests.browser.visits import Look, visit

LINES = "".join(f"step {n}\n" for n in range(200))


def printing(atlas) -> Run:
    order = Check.objects.get(lane__profile=atlas.down, lane__kind="rollout")
    run = make.run(order, timezone.now(), state="running", top_rung=5, host_name="gpu-a12")
    say(run, 1, LINES)
    return run


def say(run: Run, number: int, text: str) -> None:
    RunOutput.objects.create(run=run, number=number, at=timezone.now(), text=text)


def address(atlas, run: Run) -> str:
    return reverse("run", args=[atlas.slug, run.code])


def test_output_grows_and_its_end_stays_in_sight(browser, live_server, atlas) -> None:
    run = printing(atlas)
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, complaints):
        page.goto(address(atlas, run))
        say(run, 2, "the last line\n")
        page.locator("#output").filter(has_text="the last line").wait_for()
        page.wait_for_function("output.scrollHeight - output.scrollTop - output.clientHeight < 24")
        assert complaints == []


def test_a_reader_further_up_is_not_moved(browser, live_server, atlas) -> None:
    run = printing(atlas)
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        page.goto(address(atlas, run))
        page.evaluate("output.scrollTop = 100")
        say(run, 2, "the last line\n")
        page.locator("#output").filter(has_text="the last line").wait_for()
        assert page.evaluate("output.scrollTop") == 100


def test_a_paused_page_stays_as_it_is(browser, live_server, atlas) -> None:
    run = printing(atlas)
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        page.goto(address(atlas, run))
        page.locator("#output-pause").click()
        page.locator("#output-pause").filter(has_text="Resume").wait_for()
        assert page.locator("#output-tail, #live[hx-get]").count() == 0


def test_a_dry_run_is_started_without_scripts(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(scripts=False), atlas.engineer) as (page, _):
        page.goto(reverse("profile", args=[atlas.slug, atlas.down.code]))
        page.locator("#dry-run").click()
        page.get_by_label("Up to rung 4, Agent").check()
        page.locator("#start").click()
        assert "up to rung 4, Agent" in page.locator("aside").inner_text()
    assert Run.objects.filter(top_rung=4).count() == 1
