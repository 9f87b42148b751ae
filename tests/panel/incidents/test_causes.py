"""What a failure is put down to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checks import Reason
from panel.incidents.causes import Setting, cause_of, of_whole_endpoint

ON = Setting("prof", "qwen3-8b", 7, endpoint="relay", endpoint_id=1, host="gpu", host_id=2)


@pytest.mark.parametrize(
    ("reason", "rung", "text"),
    [
        ("auth_invalid_key", 2, "key|relay|v7"),
        ("auth_invalid_key", 3, "key|relay|v7"),
        ("connect_timeout", 1, "endpoint|relay|timeout_or_reset"),
        ("rate_limited", 2, "endpoint|relay|rate_limited"),
        ("model_not_found", 2, "endpoint|relay|model qwen3-8b|model_id"),
        ("model_no_channel", 2, "endpoint|relay|model qwen3-8b|model_no_channel"),
        ("tool_calls_unparsed", 2, "endpoint|relay|model qwen3-8b|tool_payload"),
        ("host_silent", 3, "host|gpu|host_silent"),
        ("reward_missing", 5, "profile|prof|reward_missing"),
        ("connect_timeout", 3, "profile|prof|timeout_or_reset"),
        ("", 2, "endpoint|relay|model qwen3-8b|unexplained"),
    ],
)
def test_a_reason_is_put_down_to_what_it_is_common_to(reason: str, rung: int, text: str) -> None:
    assert cause_of(reason, rung, ON).text == text


def test_another_version_of_the_key_is_another_cause() -> None:
    assert cause_of("auth_invalid_key", 2, replace(ON, key_number=8)).text == "key|relay|v8"


@pytest.mark.parametrize("reason", list(Reason))
def test_every_cause_fits_its_column_however_long_the_model(reason: Reason) -> None:
    on = replace(ON, model="m" * 200, endpoint="e" * 12, host="h" * 12, profile="p" * 12)
    assert len(cause_of(reason, 2, on).text) <= 120


def test_two_long_model_ids_are_two_causes() -> None:
    long = [replace(ON, model="m" * 60 + end) for end in "ab"]
    assert len({cause_of("model_not_found", 2, on).text for on in long}) == 2


def test_a_model_id_with_our_own_mark_in_it_is_no_cause_of_a_whole_endpoint() -> None:
    cause = cause_of("model_not_found", 2, replace(ON, model="a|b"))
    assert not of_whole_endpoint(cause.text)
    assert of_whole_endpoint(cause_of("connect_timeout", 1, ON).text)
