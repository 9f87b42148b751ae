"""A strip by keyboard: one tab stop, arrows over its bars, Enter for the runs of that time."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qs, urlsplit

from tests.browser.visits import Look, visit
from tests.panel.pages.places import address


def test_arrows_walk_over_a_strip_and_enter_lists_the_runs_of_that_time(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, complaints):
        page.goto(address("profile", atlas) + "?lane=replay&live=0")
        strip = page.locator("#strip-replay")
        assert strip.get_attribute("aria-valuenow") == "47"
        strip.focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Home")
        assert "·" in strip.get_attribute("aria-valuetext")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_url("**at=*")
        assert page.locator("#runs-all").is_visible()
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["lane"] == ["replay"]
    assert datetime.fromisoformat(asked["at"][0]).minute in (0, 30)
    assert not complaints


def test_without_javascript_the_table_leads_to_the_same_runs(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(scripts=False), atlas.viewer) as (page, _):
        page.goto(address("profile", atlas))
        assert page.locator("[data-strip][tabindex]").count() == 0
        page.locator("#chart-table summary").click()
        page.locator("#chart-table a").first.click()
        assert page.locator("#runs-all").is_visible()
