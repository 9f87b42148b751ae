"""A gateway's address, however it was pasted."""

from __future__ import annotations

import pytest

from checks.gateway_urls import gateway_root, leads_through_rollout

ROOT = "http://gpu-1:8181"
PROXIED = f"{ROOT}/proxy/rollout/r-1/attempt/0/mode/train/openai/v1"


@pytest.mark.parametrize("pasted", [ROOT, f"{ROOT}/", PROXIED, f"{PROXIED}/", f"{PROXIED}/chat/completions"])
def test_the_gateways_own_address_is_found_in_what_was_pasted(pasted: str) -> None:
    assert gateway_root(pasted) == ROOT


def test_a_path_before_the_gateways_own_is_kept() -> None:
    assert gateway_root(PROXIED.replace(ROOT, f"{ROOT}/team-a")) == f"{ROOT}/team-a"


def test_only_a_rollouts_address_leads_through_one() -> None:
    assert leads_through_rollout(PROXIED)
    assert not leads_through_rollout(ROOT)
    assert not leads_through_rollout(f"{ROOT}/v1")
