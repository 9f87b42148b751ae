"""What people do, counted in clicks: without JavaScript first, then with what JavaScript adds."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from panel import ledger
from panel.models import Endpoint, LaneState, Profile
from tests import make
from tests.browser.visits import Look, visit
from tests.panel.pages.places import address

NO_JS = Look(scripts=False)


def test_a_lead_adds_a_profile_in_two_clicks_without_javascript(browser, live_server) -> None:
    lead = make.member(role=30)
    with visit(browser, live_server.url, NO_JS, lead) as (page, _):
        page.goto(reverse("overview", args=[lead.team.slug]))
        page.get_by_role("link", name="Add profile").click()
        page.get_by_label("Name").fill("grpo-prod")
        page.get_by_label("Base URL").fill("https://relay.example/v1/")
        page.get_by_label("Key", exact=False).first.fill("sk-canary-0b8f6d1e2a3c4d5e")
        page.locator("#id_model").fill("qwen3-32b")
        page.get_by_role("button", name="Save and run ladder").click()
        assert page.get_by_role("heading", level=1).inner_text() == "grpo-prod"
        assert "The slash at the end was dropped." in page.content()
    assert Profile.objects.get().lanes.count() == 3


def test_an_engineer_gets_a_bundle_in_three_clicks_without_javascript(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, NO_JS, atlas.engineer) as (page, _):
        page.goto(address("overview", atlas))
        page.locator("th").get_by_role("link", name="grpo-prod").click()
        page.get_by_role("link", name="Export bundle").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download").click()
        assert download.value.suggested_filename == "grpo-prod.v2.env"


def test_on_call_reads_cause_and_fix_with_no_click_at_all(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, NO_JS, atlas.viewer) as (page, _):
        page.goto(address("overview", atlas))
        assert page.title().startswith("(2) ")
        finding = page.locator(".finding").first.inner_text()
    assert "The endpoint refuses the key" in finding
    assert "Fix:" in finding


def test_an_endpoint_is_chosen_or_made_and_the_form_shows_which(browser, live_server) -> None:
    lead = make.member(role=30)
    make.endpoint(lead.team, name="relay")
    with visit(browser, live_server.url, Look(), lead) as (page, _):
        page.goto(reverse("profile_new", args=[lead.team.slug]))
        assert page.locator("#id_base_url").is_visible()
        page.locator("#id_endpoint").select_option(index=1)
        assert not page.locator("#id_base_url").is_visible()


def test_the_join_preview_follows_the_url_and_the_key_stays_in_its_field(browser, live_server) -> None:
    lead = make.member(role=30)
    with visit(browser, live_server.url, Look(), lead) as (page, complaints):
        page.goto(reverse("endpoint_new", args=[lead.team.slug]))
        page.locator("#id_key").fill("sk-canary-0b8f6d1e2a3c4d5e")
        with page.expect_request(re.compile("/endpoints/calls$")) as asked:
            page.locator("#id_base_url").press_sequentially("https://relay.example/v1")
        page.get_by_text("https://relay.example/v1/chat/completions").wait_for()
        assert "sk-canary" not in (asked.value.post_data or "")
        assert complaints == []


def test_a_lane_that_breaks_changes_title_icon_and_cell_and_is_said_once(browser, live_server) -> None:
    member = make.member()
    profile = make.profile(member.team, lanes=("agent",), name="grpo-prod")
    now = timezone.now()
    lane = LaneState.objects.filter(lane__profile=profile, lane__kind="agent")
    lane.update(state="ok", status="ok", rung=2, evidence_at=now, since=now, recent="oo")
    ledger.beat("tick", now)
    with visit(browser, live_server.url, Look(), member) as (page, complaints):
        page.goto(reverse("overview", args=[member.team.slug]))
        lane.update(
            state="down", status="down", reason="auth_invalid_key", recent="dd", evidence_at=timezone.now()
        )
        page.evaluate(
            "htmx.ajax('GET', location.pathname, {target: '#live', swap: 'outerHTML', source: '#live'})"
        )
        page.locator(".lane.is-down").wait_for()
        assert page.title().startswith("(1) ")
        assert "favicon-down" in page.locator("#favicon").get_attribute("href")
        assert "grpo-prod, Agent inference: Down" in page.locator("#announce").inner_text()
        assert complaints == []


def test_what_the_reader_opened_stays_open_when_the_ladder_refreshes(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.engineer) as (page, _):
        page.goto(address("profile", atlas))
        page.locator("#rung-1-more > summary").click()
        page.locator("#run-now").focus()
        page.evaluate(
            "htmx.ajax('GET', location.pathname, {target: '#live', swap: 'outerHTML', source: '#live'})"
        )
        page.locator("#rung-1-more[open]").wait_for()
        assert page.evaluate("document.activeElement.id") == "run-now"


def test_shortcuts_press_what_is_on_the_page_and_rest_while_one_types(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.lead) as (page, _):
        page.goto(address("overview", atlas))
        page.keyboard.press("g")
        page.keyboard.press("p")
        page.wait_for_url("**/profiles/")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("grpo k")
        assert page.locator("#q").input_value() == "grpo k"


def test_rows_are_walked_and_opened_from_the_keyboard(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        page.goto(address("profiles", atlas))
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/p/*/")
        page.keyboard.press("2")
        page.wait_for_url("**lane=replay*")


def test_after_a_refused_form_focus_is_on_the_list_of_problems(browser, live_server) -> None:
    lead = make.member(role=30)
    with visit(browser, live_server.url, Look(), lead) as (page, _):
        page.goto(reverse("endpoint_new", args=[lead.team.slug]))
        page.locator("#id_name").fill("relay")
        page.locator("#id_base_url").fill("relay.example/v1")
        page.get_by_role("button", name="Save endpoint").click()
        assert page.evaluate("document.activeElement.id") == "problems"
        page.get_by_label("https://relay.example/v1").check()
        page.get_by_role("button", name="Save endpoint").click()
        assert page.get_by_role("heading", level=1).inner_text() == "relay"
    assert Endpoint.objects.get().base_url == "https://relay.example/v1"


def test_a_run_is_copied_as_text(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(address("profile", atlas))
        page.locator("#copy-run").click()
        page.get_by_text("Copied", exact=True).wait_for(state="attached")
        copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Preflight ")
    assert "auth_invalid_key" in copied


def test_a_session_that_ended_leads_to_the_sign_in_page(browser, live_server, atlas) -> None:
    with visit(browser, live_server.url, Look(), atlas.viewer) as (page, _):
        page.goto(address("overview", atlas))
        page.context.clear_cookies()
        page.evaluate(
            "htmx.ajax('GET', location.pathname, {target: '#live', swap: 'outerHTML', source: '#live'})"
        )
        page.wait_for_url(re.compile(r"/login\?next="))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_theme_wins_over_the_systems(browser, live_server, theme: str) -> None:
    member = make.member()
    other = "dark" if theme == "light" else "light"
    with visit(browser, live_server.url, Look(theme=other), member) as (page, _):
        page.goto(reverse("me"))
        page.get_by_label("Theme").select_option(theme)
        page.get_by_role("button", name="Save").click()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 20, 23)"}[theme]
