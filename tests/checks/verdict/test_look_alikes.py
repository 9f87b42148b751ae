"""Facts that a live probe measures separate what the answer alone cannot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from checks.outcome import Certificate, Evidence, Failure, FailureKind, Phase
from checks.reason import Reason
from checks.verdict import classify

CHAT = "https://llm.vendor.example/v1/chat/completions"
REFUSED_KEY = (
    '{"error": {"message": "Incorrect API key provided: sk-test-*********abcd.", "code": "invalid_api_key"}}'
)
UNAUTHORIZED = '{"error": "Unauthorized"}'


def _answer(status: int, body: str, url: str = CHAT, **more: Any) -> Reason:
    return classify(Evidence(url=url, model="qwen-7b", status=status, body=body, **more)).reason


def _died(
    kind: FailureKind, text: str, url: str = CHAT, *, phase: Phase | None = None, **more: Any
) -> Reason:
    return classify(Evidence(url=url, failure=Failure(kind, text, phase), **more)).reason


def _key(last_four: str, prefix: str = "sk-") -> Mapping[str, object]:
    return {
        "authorization_header_sent": True,
        "key": {"length": 51, "prefix": prefix, "last_four": last_four},
    }


def test_a_wrong_key_is_named_auth_invalid_key() -> None:
    assert _answer(401, REFUSED_KEY, context=_key("abcd")) is Reason.AUTH_INVALID_KEY


def test_a_refused_key_that_ends_otherwise_is_the_relays_own() -> None:
    assert _answer(401, REFUSED_KEY, context=_key("9f3c")) is Reason.UPSTREAM_MISCONFIGURED


def test_a_bare_unauthorized_means_a_missing_key_where_none_was_sent() -> None:
    assert (
        _answer(401, UNAUTHORIZED, context={"authorization_header_sent": False}) is Reason.AUTH_MISSING_HEADER
    )


def test_a_bare_unauthorized_means_a_wrong_key_where_one_was_sent() -> None:
    assert _answer(401, UNAUTHORIZED, context=_key("abcd")) is Reason.AUTH_INVALID_KEY


def test_a_key_that_the_sibling_site_accepts_is_in_the_wrong_region() -> None:
    context = {**_key("abcd"), "probe_other_site": "200"}
    assert _answer(401, REFUSED_KEY, context=context) is Reason.AUTH_KEY_REGION_MISMATCH


def test_a_vendor_with_sites_leaves_the_region_open_until_it_is_probed() -> None:
    url = "https://api.moonshot.ai/v1/chat/completions"
    verdict = classify(Evidence(url=url, status=401, body=REFUSED_KEY, context=_key("abcd")))
    assert Reason.AUTH_KEY_REGION_MISMATCH in verdict.candidates[1:]


def test_another_vendors_prefix_names_the_wrong_provider() -> None:
    url = "https://api.groq.com/openai/v1/chat/completions"
    assert _answer(401, REFUSED_KEY, url, context=_key("abcd", "xai-")) is Reason.AUTH_KEY_WRONG_PROVIDER


@pytest.mark.parametrize(
    ("sibling", "reason"),
    [
        ("https://llm.vendor.example/api/v1/chat/completions", Reason.BASE_URL_MISSING_V1),
        ("https://llm.vendor.example/api/chat/completions", Reason.BASE_URL_MISSING_V1),
    ],
)
def test_a_missing_route_without_a_version_lacks_its_version(sibling: str, reason: Reason) -> None:
    url = "https://llm.vendor.example/api/chat/completions"
    context = {"siblings": [{"url": sibling, "status": 200}]}
    assert _answer(404, '{"detail": "Not Found"}', url, context=context) is reason


def test_a_sibling_that_answers_without_the_version_proves_a_wrong_path() -> None:
    context = {"siblings": {"https://llm.vendor.example/chat/completions": 200}}
    assert _answer(404, '{"detail": "Not Found"}', context=context) is Reason.BASE_URL_WRONG_PATH


def test_a_version_that_was_tried_in_vain_is_not_what_is_missing() -> None:
    sibling = {"url": "https://llm.vendor.example/llm/v1/chat/completions", "status": 404, "proves": False}
    url = "https://llm.vendor.example/llm/chat/completions"
    context = {"siblings": [sibling]}
    assert _answer(404, '{"detail": "Not Found"}', url, context=context) is Reason.BASE_URL_WRONG_PATH


def test_a_model_list_pasted_as_base_is_a_whole_endpoint() -> None:
    url = "https://llm.vendor.example/v1/models/chat/completions"
    assert _answer(404, '{"detail": "Not Found"}', url) is Reason.BASE_URL_FULL_ENDPOINT


@pytest.mark.parametrize(
    ("sent", "reason"), [(False, Reason.AUTH_MISSING_HEADER), (True, Reason.ENGINE_CRASHED)]
)
def test_a_litellm_that_breaks_on_a_call_without_a_key_misses_the_key(sent: bool, reason: Reason) -> None:
    context = {"authorization_header_sent": sent}
    assert _answer(500, "Internal Server Error", server="litellm-proxy", context=context) is reason


def test_a_404_that_names_the_model_is_no_path_mistake() -> None:
    body = '{"error": {"message": "qwen-7b is nowhere to be found", "code": 404}}'
    assert _answer(404, body) is Reason.MODEL_NOT_FOUND


def test_a_model_absent_from_the_list_is_not_found() -> None:
    context = {"models": ("other-model",), "models_status": 200}
    assert _answer(404, '{"error": {"message": "Unknown."}}', context=context) is Reason.MODEL_NOT_FOUND


def test_an_id_whose_prefix_the_server_does_not_list_has_a_prefix_too_much() -> None:
    body = '{"error": {"message": "The model `openai/qwen-7b` does not exist.", "param": "model"}}'
    evidence = Evidence(
        url=CHAT, model="openai/qwen-7b", status=404, body=body, context={"models": ["qwen-7b"]}
    )
    assert classify(evidence).reason is Reason.MODEL_PROVIDER_PREFIX


def test_a_saturation_text_over_a_rate_code_is_a_rate() -> None:
    body = '{"error": {"message": "当前分组上游负载已饱和，请稍后再试", "code": "rate_limit_exceeded"}}'
    assert _answer(429, body) is Reason.RATE_LIMITED


def test_the_words_of_a_good_answer_are_not_read_as_an_error() -> None:
    body = '{"choices": [{"message": {"content": "insufficient_quota: invalid api key"}}]}'
    assert _answer(200, body) is Reason.UNEXPLAINED


def test_an_error_inside_a_200_names_the_inner_cause_second() -> None:
    body = '{"error": {"message": "Insufficient credits", "code": 402}}'
    verdict = classify(Evidence(url=CHAT, status=200, body=body))
    assert verdict.candidates[:2] == (Reason.CHOICES_MISSING_ERROR_BODY, Reason.QUOTA_EXHAUSTED)


def test_an_empty_502_for_loopback_is_a_proxys() -> None:
    assert (
        _answer(502, "", "http://127.0.0.1:8000/v1/chat/completions") is Reason.PROXY_ENV_INTERCEPTS_LOOPBACK
    )


def test_a_refused_address_that_is_the_proxys_is_a_proxy_that_is_gone() -> None:
    context = {"env": {"HTTPS_PROXY": "http://127.0.0.1:7890"}}
    text = "connect ECONNREFUSED 127.0.0.1:7890"
    assert _died(FailureKind.REFUSED, text, context=context) is Reason.PROXY_UNREACHABLE


def test_a_certificate_of_strangers_means_a_poisoned_name() -> None:
    shown = Certificate("CA", "CN=cdn.other.test", ("*.other.test",), None, datetime(2027, 1, 1, tzinfo=UTC))
    text = "certificate verify failed: Hostname mismatch"
    assert _died(FailureKind.TLS, text, certificate=shown) is Reason.DNS_POISONED


def test_a_certificate_of_the_same_owner_means_a_wrong_name() -> None:
    shown = Certificate("CA", "CN=api.vendor.example", ("api.vendor.example",), None, None)
    text = "certificate verify failed: Hostname mismatch"
    assert _died(FailureKind.TLS, text, certificate=shown) is Reason.TLS_HOSTNAME_MISMATCH


@pytest.mark.parametrize(
    ("phase", "reason"),
    [
        (Phase.DNS, Reason.DNS_RESOLVER_UNAVAILABLE),
        (Phase.CONNECT, Reason.CONNECT_TIMEOUT),
        (Phase.WAIT, Reason.REQUEST_TIMEOUT),
    ],
)
def test_the_phase_of_a_time_out_decides(phase: Phase, reason: Reason) -> None:
    assert _died(FailureKind.TIMEOUT, "timed out", phase=phase) is reason


def test_an_answer_that_breaks_off_is_a_truncated_stream() -> None:
    failure = Failure(FailureKind.RESET, "Connection reset by peer", Phase.TRANSFER)
    assert classify(Evidence(url=CHAT, status=200, failure=failure)).reason is Reason.STREAM_TRUNCATED


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FailureKind.DENIED, Reason.EGRESS_DENIED),
        (FailureKind.TOO_LARGE, Reason.ANSWER_TOO_LARGE),
    ],
)
def test_our_own_refusals_have_codes_of_their_own(kind: FailureKind, reason: Reason) -> None:
    assert _died(kind, "not allowed") is reason


def test_nothing_at_all_is_unexplained() -> None:
    assert classify(Evidence()).reason is Reason.UNEXPLAINED


def test_the_facts_of_a_verdict_name_model_host_and_status() -> None:
    verdict = classify(Evidence(url=CHAT, model="qwen-7b", status=429))
    assert verdict.facts == {"model": "qwen-7b", "host": "llm.vendor.example", "status": "429"}


def test_a_cut_while_connecting_is_no_refusal() -> None:
    failure = Failure(FailureKind.REFUSED, "[Errno 104] Connection reset by peer", Phase.CONNECT, 104)
    evidence = Evidence(url="http://127.0.0.1:8000/v1/chat/completions", failure=failure)
    assert classify(evidence).reason is Reason.CONNECTION_RESET


def test_a_host_without_a_route_is_no_refusal() -> None:
    failure = Failure(FailureKind.REFUSED, "[Errno 113] No route to host", Phase.CONNECT, 113)
    assert classify(Evidence(url=CHAT, failure=failure)).reason is Reason.CONNECT_TIMEOUT


def test_a_base_that_lists_models_and_has_no_chat_speaks_another_dialect() -> None:
    context = {"models": ["qwen-7b"], "models_status": 200}
    assert _answer(404, '{"detail": "Not Found"}', context=context) is Reason.API_DIALECT_MISMATCH


@pytest.mark.parametrize(
    ("sent", "reason"), [(True, Reason.AUTH_INVALID_KEY), (False, Reason.AUTH_MISSING_HEADER)]
)
def test_missing_or_invalid_is_decided_by_what_was_sent(sent: bool, reason: Reason) -> None:
    body = '{"detail": "Missing or invalid bearer token"}'
    assert _answer(401, body, context={"authorization_header_sent": sent}) is reason
