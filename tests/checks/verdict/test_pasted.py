"""A text that a client printed leads to what may stand behind it."""

from __future__ import annotations

import pytest

from checks.reason import Reason
from checks.verdict.pasted import causes_of


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("openai.APIConnectionError: Connection error.", Reason.CONNECTION_REFUSED_LOOPBACK),
        ("KeyError: 'choices'", Reason.CHOICES_MISSING_ERROR_BODY),
        ("AttributeError: 'str' object has no attribute 'choices'", Reason.BASE_URL_HTML_PAGE),
        ("AttributeError: 'str' object has no attribute 'model_dump'", Reason.BASE_URL_HTML_PAGE),
        ("TypeError: 'NoneType' object is not subscriptable", Reason.CHOICES_MISSING_ERROR_BODY),
        ("TypeError: Cannot read properties of undefined (reading '0')", Reason.CHOICES_MISSING_ERROR_BODY),
        ("IndexError: list index out of range", Reason.CHOICES_EMPTY_CHUNK),
        (
            "litellm.InternalServerError: Empty or invalid response from LLM endpoint",
            Reason.BASE_URL_HTML_PAGE,
        ),
        ("local proxy failed", Reason.LOCAL_PROXY_UPSTREAM_FAILED),
        ("litellm.BadRequestError: LLM Provider NOT provided.", Reason.MODEL_PROVIDER_PREFIX),
        ("agents.exceptions.UserError: Unknown prefix: Qwen", Reason.MODEL_PROVIDER_PREFIX),
        ("httpcore.LocalProtocolError: Illegal header value b'Bearer sk-test\\n'", Reason.AUTH_KEY_MALFORMED),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)", Reason.HTTPS_TO_HTTP_PORT),
        (
            "ImportError: Using SOCKS proxy, but the 'socksio' package is not installed",
            Reason.PROXY_SCHEME_UNSUPPORTED,
        ),
        ("openai.OpenAIError: Missing credentials. Pass an `api_key`.", Reason.ENV_KEY_UNSET),
        ('{"detail": "Unsupported upstream path: responses"}', Reason.API_DIALECT_MISMATCH),
        ("SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", Reason.BASE_URL_HTML_PAGE),
        ("openai.APITimeoutError: Request timed out.", Reason.REQUEST_TIMEOUT),
        ("401", Reason.AUTH_INVALID_KEY),
        ("无效的令牌", Reason.AUTH_INVALID_KEY),
    ],
)
def test_a_pasted_text_leads_to_its_likeliest_cause(text: str, first: Reason) -> None:
    assert causes_of(text)[0] is first


def test_a_repeated_answer_is_read_before_the_class_around_it() -> None:
    text = (
        "openai.RateLimitError: Error code: 429 - {'error': {'message': 'x', 'code': 'insufficient_quota'}}"
    )
    assert causes_of(text)[0] is Reason.QUOTA_EXHAUSTED


def test_connection_error_lists_all_its_causes() -> None:
    named = causes_of("Connection error.")
    assert len(named) >= 8
    assert {Reason.PROXY_UNREACHABLE, Reason.AUTH_KEY_MALFORMED, Reason.BASE_URL_MALFORMED} <= set(named)


def test_a_long_traceback_is_read_to_its_end() -> None:
    frame = '  File "/srv/app/agent.py", line 12, in step\n    return self._request(options)\n'
    pasted = "Traceback (most recent call last):\n" + frame * 400 + "KeyError: 'choices'\n"
    assert causes_of(pasted)[0] is Reason.CHOICES_MISSING_ERROR_BODY


@pytest.mark.parametrize("text", ["", "   ", "good morning"])
def test_a_text_of_nothing_leads_nowhere(text: str) -> None:
    assert causes_of(text) == ()
