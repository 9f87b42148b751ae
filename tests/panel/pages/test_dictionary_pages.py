"""The error dictionary: every reason in both languages, and what stands behind a pasted text."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from checks.reason import Reason
from tests import make

pytestmark = pytest.mark.django_db


def test_every_reason_is_listed(browse) -> None:
    text = browse(make.member()).get(reverse("help")).text
    assert [reason for reason in Reason if f'href="/help/{reason.value}/"' not in text] == []


def test_a_reason_has_its_page_in_both_languages(browse) -> None:
    text = browse(make.member()).get(reverse("help_entry", args=["auth_invalid_key"])).text
    assert "The endpoint refuses the key" in text
    assert "接入点拒绝了密钥" in text
    assert 'lang="zh-Hans"' in text


def test_an_unknown_reason_is_not_found(browse) -> None:
    assert browse(make.member()).get(reverse("help_entry", args=["nonsense"])).status_code == 404


def test_a_pasted_error_is_explained_and_not_repeated_to_anybody_else(browse) -> None:
    pasted = "openai.AuthenticationError: Error code: 401 - {'error': {'code': 'invalid_api_key'}}"
    text = browse(make.member()).post(reverse("help"), {"text": pasted}).text
    found = text[text.index('id="found"') : text.index("layer-dns")]
    assert "auth_invalid_key" in found


def test_a_text_that_says_nothing_is_told_so(browse) -> None:
    text = browse(make.member()).post(reverse("help"), {"text": "lorem ipsum"}).text
    assert 'id="found"' in text


FRAME = '  File "/srv/app/agent.py", line 12, in step\n    return self._request(options)\n'
TRACEBACK = (
    "Traceback (most recent call last):\n"
    + FRAME * 400
    + "httpx.ConnectError: [Errno 111] Connection refused\n\n"
    + "The above exception was the direct cause of the following exception:\n\n"
    + FRAME * 400
    + "openai.APIConnectionError: Connection error.\n"
)


@pytest.mark.parametrize(("language", "likeliest"), [("en", "Nothing listens"), ("zh-hans", "没有")])
def test_a_whole_traceback_leads_to_causes_in_order_with_why(browse, language: str, likeliest: str) -> None:
    headers = {"Accept-Language": language}
    text = browse(make.member()).post(reverse("help"), {"text": TRACEBACK}, headers=headers).text
    found = text[text.index('id="found"') : text.index("layer-dns")]
    codes = re.findall(r'href="/help/(\w+)/"', found)
    assert codes[0].startswith("connection_refused")
    assert len(codes) > 4
    assert found.count('<p class="dim">') == len(codes)
    assert likeliest in found
