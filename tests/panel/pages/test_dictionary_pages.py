"""The error dictionary: every reason in both languages, and what stands behind a pasted text."""

from __future__ import annotations

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
