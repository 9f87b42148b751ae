"""What tells look-alikes apart: in a verdict with several causes, and on the page of each cause."""

from __future__ import annotations

from html import unescape

import pytest
from django.urls import reverse

from checks import reasons
from panel.models import Check
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db


def lane_page(browse, check: Check) -> str:
    member = make.member(check.lane.profile.team)
    where = reverse("profile", args=[member.team.slug, check.lane.profile.code])
    text = browse(member).get(where, {"lane": check.lane.kind}).text
    return unescape(text)


def test_a_verdict_with_several_causes_says_what_decides(browse) -> None:
    check = make.check()
    live(check, "d")
    text = lane_page(browse, check)
    assert reasons.entry("auth_invalid_key").probe in text
    other = text[text.index("The evidence fits these too:") :]
    assert 'href="/help/auth_key_malformed/"' in other
    assert reasons.entry("auth_key_malformed").probe in other


def test_a_verdict_with_one_cause_has_nothing_to_decide(browse) -> None:
    check = make.check()
    live(check, "n")
    text = lane_page(browse, check)
    assert 'class="lbl">Cause<' in text
    assert "What decides" not in text


def test_a_reason_says_on_its_page_what_tells_it_apart(browse) -> None:
    page = browse(make.member()).get(reverse("help_entry", args=["auth_key_region_mismatch"]))
    text = unescape(page.text)
    for heading, lang in (("What tells it apart", "en"), ("如何区分", "zh")):
        after = text[text.index(heading) :]
        assert reasons.entry("auth_key_region_mismatch", lang).probe in after
