"""What the replay lane promises: the id that litellm sends on, and the parameters it sends with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from checks.outcome import Rung, Status, Step
from checks.probes.chat import NEW_NAME, OLD_NAME
from checks.probes.contracts.question import Terms, completed, first_choice, passed
from checks.reason import Reason

SAMPLES: Final = 2
SAMPLE_TOKENS: Final = 64

# Measured with litellm 1.74 and 1.110: a first segment that it takes for a provider, and cuts off.
PROVIDERS: Final = frozenset(
    ["azure", "custom_openai", "deepseek", "gemini", "hosted_vllm", "litellm_proxy", "ollama", "openai"]
)
_OTHER_ROUTE: Final = "responses/"  # "openai/responses/x" goes to /responses, as "x"
_NEW_NAMED: Final = re.compile(r"o\d|gpt-5")  # ids for which litellm itself renames the length


async def litellm_id(terms: Terms) -> Step:
    """Say what to write for litellm and what it will send; nothing is asked of the endpoint.

    Exactly one "openai/" is stripped, so that the id that passed the chat must stand behind it whole.
    """
    model = terms.spec.model
    altered = model.removeprefix(_OTHER_ROUTE).strip() != model
    say = {"write": f"openai/{model}", "sends": model, "without_prefix": _bare(model)}
    step = Step(Rung.CHANNEL, "litellm_id", Status.OK, say=say)
    if not altered:
        return step
    reason = Reason.MODEL_PROVIDER_PREFIX
    say = {**say, "sends": model.removeprefix(_OTHER_ROUTE).strip()}
    return replace(step, status=Status.DEGRADED, reason=reason, candidates=(reason,), say=say)


def _bare(model: str) -> str:
    """What litellm makes of the id without a prefix: "refused", "altered", or "if_known" by its list."""
    head, slash, _ = model.partition("/")
    if not slash:
        return "if_known"
    return "altered" if head in PROVIDERS else "refused"


async def parameters(terms: Terms) -> Step:
    """Ask with every field that litellm fills in: temperature, length, `n`, `stream: false`."""
    new_named = _NEW_NAMED.match(terms.spec.model) is not None
    asked: Mapping[str, object] = {"temperature": 1 if new_named else 0.7, "n": 1, "stream": False}
    parameter = NEW_NAME if new_named else OLD_NAME
    answer = await completed(terms, "parameters", asked, parameter=parameter)
    if not isinstance(answer, Step):
        return passed("parameters", answer, {"token_parameter": parameter})
    if answer.reason is not Reason.MAX_TOKENS_PARAM_UNSUPPORTED:
        return answer
    return replace(answer, status=Status.DEGRADED, say={**answer.say, "clients": "litellm"})


async def sampling(terms: Terms) -> Step:
    """Ask for two samples with log-probabilities: some replays want them, so that it is only said."""
    asked = {"n": SAMPLES, "logprobs": True}
    answer = await completed(terms, "sampling", asked, tokens=SAMPLE_TOKENS)
    if isinstance(answer, Step):
        if answer.status is Status.NOT_TESTABLE:
            return answer
        said = {**answer.say, "refused": str(answer.reason or "")}
        return replace(answer, status=Status.OK, reason=None, candidates=(), say=said)
    choices = answer.body.get("choices") if isinstance(answer.body, Mapping) else None
    logprobs = first_choice(answer.body).get("logprobs")
    say = {
        "samples": str(len(choices) if isinstance(choices, list) else 0),
        "logprobs": "yes" if isinstance(logprobs, Mapping) and logprobs.get("content") else "no",
    }
    return passed("sampling", answer, say)
