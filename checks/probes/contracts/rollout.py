"""What the rollout lane promises: token ids and log-probabilities that a trainer can use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from checks.outcome import Step
from checks.probes.contracts.engine import FIRST_WITH_IDS, is_too_old, served_version
from checks.probes.contracts.question import (
    Terms,
    completed,
    first_choice,
    passed,
    unkept,
    usage_of,
    worse,
)
from checks.reason import Reason

SAMPLE_TOKENS: Final = 64  # ids and log-probabilities show in a cut answer as well
SAMPLES: Final = 2
MAX_SHOWN: Final = 5


async def token_ids(terms: Terms) -> Step:
    """Ask for token ids as a gateway does in validation: both lists there, whole, as many as were billed.

    `say["shape"]` tells which server's form came: "vllm"; "sglang", whose ids a 1.0.2 gateway does not
    find; "none"; or "count", "not_integers" for lists that no trainer can use.
    """
    name = "token_ids"
    answer = await completed(terms, name, {"return_token_ids": True}, tokens=SAMPLE_TOKENS)
    if isinstance(answer, Step):
        return answer
    shape = shape_of(answer.body)
    say = {"shape": shape, **_counts(answer.body)}
    if shape == "vllm":
        return passed(name, answer, say)
    if shape == "none":
        say |= await _explained(terms)
    return unkept(name, answer, Reason.TOKEN_IDS_MISSING, say)


def shape_of(body: object) -> str:
    """Return in whose form the token ids of a completion came, as `token_ids` names it; "vllm" when all is
    well."""
    choice = first_choice(body)
    prompt = body.get("prompt_token_ids") if isinstance(body, Mapping) else None
    sampled = choice.get("token_ids")
    if not sampled and choice.get("response_token_ids"):
        return "sglang"
    if not isinstance(prompt, list) or not isinstance(sampled, list) or not prompt or not sampled:
        return "none"
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in (*prompt, *sampled)):
        return "not_integers"
    counted = (usage_of(body, "prompt_tokens"), usage_of(body, "completion_tokens"))
    lengths = (len(prompt), len(sampled))
    agree = all(count is None or count == length for count, length in zip(counted, lengths, strict=True))
    return "vllm" if agree else "count"


def _counts(body: object) -> dict[str, str]:
    """How many ids came and how many tokens were billed, where either is told."""
    choice = first_choice(body)
    lists = {
        "prompt_ids": body.get("prompt_token_ids") if isinstance(body, Mapping) else None,
        "sampled_ids": choice.get("token_ids"),
    }
    say = {name: str(len(ids)) for name, ids in lists.items() if isinstance(ids, list)}
    for name in ("prompt_tokens", "completion_tokens"):
        count = usage_of(body, name)
        if count is not None:
            say[name] = str(count)
    return say


async def _explained(terms: Terms) -> dict[str, str]:
    """The version that explains why no ids came, where the server tells one that does."""
    version = await served_version(terms)
    if not is_too_old(version):
        return {}
    return {"version": version, "token_ids_since": ".".join(map(str, FIRST_WITH_IDS))}


async def logprobs(terms: Terms) -> Step:
    """Ask for log-probabilities and token ids at once, as in training: finite, one for each id."""
    name = "logprobs"
    asked = {"logprobs": True, "return_token_ids": True}
    answer = await completed(terms, name, asked, tokens=SAMPLE_TOKENS)
    if isinstance(answer, Step):
        return answer
    flaw = flaw_of(answer.body)
    return unkept(name, answer, Reason.LOGPROBS_UNSUPPORTED, {"flaw": flaw}) if flaw else passed(name, answer)


def flaw_of(body: object) -> str:
    """Return what is wrong with the log-probabilities: "none", "not_finite", "count"; empty when all is
    well."""
    choice = first_choice(body)
    given = choice.get("logprobs")
    content = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(content, list) or not content:
        return "none"
    if not all(_is_finite(one) for one in content):
        return "not_finite"
    ids = choice.get("token_ids")
    billed = len(ids) if isinstance(ids, list) else usage_of(body, "completion_tokens")
    return "" if billed is None or billed == len(content) else "count"


def _is_finite(entry: object) -> bool:
    value = entry.get("logprob") if isinstance(entry, Mapping) else None
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


async def samples(terms: Terms) -> Step:
    """Ask for two samples in one call. Trainers can send two calls instead, so that fewer is no fault
    that ends a run."""
    name = "samples"
    answer = await completed(terms, name, {"n": SAMPLES, "temperature": 1}, tokens=SAMPLE_TOKENS)
    if isinstance(answer, Step):
        return answer
    choices = answer.body.get("choices") if isinstance(answer.body, Mapping) else None
    count = len(choices) if isinstance(choices, list) else 0
    say = {"samples": str(count), "asked": str(SAMPLES)}
    return (
        passed(name, answer, say)
        if count == SAMPLES
        else worse(name, answer, Reason.PARAM_VALUE_UNSUPPORTED, say)
    )
