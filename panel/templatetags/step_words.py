"""The words of steps: what was asked on a rung, and how a lane's promise was kept."""

from __future__ import annotations

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import pgettext, pgettext_lazy

from checks.outcome import Rung
from checks.probes.contracts import CONTRACTS
from panel.history import RungView, StepView
from panel.templatetags.upper_steps import UPPER_STEPS
from panel.templatetags.words import state_word

STEPS: dict[str, Promise] = {
    "resolve": pgettext_lazy("step", "Name lookup"),
    "connect": pgettext_lazy("step", "TCP connection"),
    "tls": pgettext_lazy("step", "TLS handshake"),
    "brief": pgettext_lazy("step", "Preparation"),
    "models": pgettext_lazy("step", "Model list"),
    "chat": pgettext_lazy("step", "Chat answer"),
    "candidates": pgettext_lazy("step", "Other base URLs"),
    "wedge": pgettext_lazy("step", "Engine progress"),
    "negative": pgettext_lazy("step", "Wrong key refused"),
    "open_endpoint": pgettext_lazy("step", "Answers without the key"),
    "tools": pgettext_lazy("step", "Tool call"),
    "tool_result": pgettext_lazy("step", "Tool result"),
    "stream": pgettext_lazy("step", "Streaming"),
    "stream_false": pgettext_lazy("step", "Streaming switched off"),
    "max_completion_tokens": pgettext_lazy("step", "Length by its new name"),
    "responses": pgettext_lazy("step", "Responses route"),
    "forced_tool": pgettext_lazy("step", "Forced tool"),
    "json_schema": pgettext_lazy("step", "Answer by JSON schema"),
    "developer_role": pgettext_lazy("step", "Developer role"),
    "content_parts": pgettext_lazy("step", "Content in parts"),
    "image": pgettext_lazy("step", "Image"),
    "template_kwargs": pgettext_lazy("step", "Template fields"),
    "litellm_id": pgettext_lazy("step", "Model id for litellm"),
    "parameters": pgettext_lazy("step", "Parameters of litellm"),
    "sampling": pgettext_lazy("step", "Samples with log-probabilities"),
    "engine": pgettext_lazy("step", "Engine state"),
    "routes": pgettext_lazy("step", "Development routes"),
    "window": pgettext_lazy("step", "Context window"),
    "token_ids": pgettext_lazy("step", "Token ids"),
    "logprobs": pgettext_lazy("step", "Log-probabilities"),
    "samples": pgettext_lazy("step", "Several samples"),
}
CONTRACT_STEPS = frozenset(clause.__name__ for clauses in CONTRACTS.values() for clause in clauses)
# What a promise's answer says that no status does: facts of the step, as the engine writes them.
_ABSENT = frozenset({("shape", "none"), ("flaw", "none")})
_DECLINED = frozenset({("accepted", "no"), ("supported", "no")})
_UNCLEAR = frozenset({("accepted", "unknown"), ("supported", "unknown")})


class Kept(NamedTuple):
    """One promise of a lane's contract. `drawn` is the status that it is drawn in, `word` says how it was
    kept; `reason` is empty where there is nothing to explain."""

    step: StepView
    drawn: str
    word: str
    reason: str


def step_name(name: str) -> str:
    """Return what a step is called; a name from another version reads as itself."""
    return str(STEPS.get(name) or UPPER_STEPS.get(name) or name)


def asked_plainly(rung: RungView) -> list[StepView]:
    """Return the steps of a rung that belong to no lane contract."""
    return [step for step in rung.steps if not _is_promise(step)]


def contract_of(rung: RungView) -> list[Kept]:
    """Return the promises that were asked for on a rung, in the order of the asking."""
    return [_kept(step) for step in rung.steps if _is_promise(step)]


def _is_promise(step: StepView) -> bool:
    """Rung 2 alone has a contract: the same names say other things above it."""
    return step.rung == Rung.CHANNEL and step.name in CONTRACT_STEPS


def _kept(step: StepView) -> Kept:
    facts = set(step.say.items())
    if step.status == "down":
        absent = bool(facts & _ABSENT)
        word = pgettext("promise", "missing") if absent else pgettext("promise", "not kept")
        return Kept(step, "down", word, step.reason)
    if step.status == "ok" and facts & _UNCLEAR:
        return Kept(step, "unknown", pgettext("promise", "not known"), step.say.get("refused", ""))
    if step.status == "ok" and (facts & _DECLINED or step.say.get("refused")):
        return Kept(step, "not_testable", pgettext("promise", "not supported"), step.say.get("refused", ""))
    return Kept(step, step.status, state_word(step.status), step.reason)
