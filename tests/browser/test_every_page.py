"""Every page, in both themes and languages, wide and narrow: accessible and as wide as its window."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.visits import EN, ZH, Look, too_wide, visit
from tests.panel.pages.places import FOR_NOBODY, OF_TEAMS, OUTSIDE, address

# Every width with every theme, every width and every theme with every language.
LOOKS = [
    Look(1360, "light", EN),
    Look(1360, "dark", ZH),
    Look(390, "light", ZH),
    Look(390, "dark", EN),
]
SHOTS = os.environ.get("PAGE_SHOTS", "")


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_axe_finds_nothing_and_the_console_stays_silent(browser, live_server, atlas, axe, look: Look) -> None:
    found = {}
    for names, member in ((OF_TEAMS + OUTSIDE, atlas.owner), (FOR_NOBODY, None)):
        with visit(browser, live_server.url, look, member) as (page, complaints):
            for name in names:
                page.goto(address(name, atlas))
                found[name] = wrong_on(page, axe) + complaints
                complaints.clear()
                keep_shot(page, name, look)
    assert {name: said for name, said in found.items() if said} == {}


def wrong_on(page, axe) -> list[str]:
    response = axe.run(page).response
    assert response["passes"], "axe looked at nothing"
    said = [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in response["violations"]]
    return said + (["scrolls sideways"] if too_wide(page) else [])


@pytest.mark.parametrize("language", [EN, ZH], ids=["en", "zh"])
def test_nothing_scrolls_sideways_at_320_pixels(browser, live_server, atlas, language: str) -> None:
    wide = []
    with visit(browser, live_server.url, Look(320, language=language), atlas.owner) as (page, _):
        for name in OF_TEAMS + OUTSIDE:
            page.goto(address(name, atlas))
            if too_wide(page):
                wide.append(name)
    assert wide == []


def test_every_page_of_a_viewer_is_accessible_too(browser, live_server, atlas, axe) -> None:
    from tests.panel.pages.places import FOR_VIEWERS

    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        for name in FOR_VIEWERS:
            page.goto(address(name, atlas))
            assert axe.run(page).response["violations"] == [], name


def keep_shot(page, name: str, look: Look) -> None:
    """Keep a picture where PAGE_SHOTS names a folder, to be compared by eye."""
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SHOTS}/{name}-{look}.png", full_page=True)
