"""What a rollout needs beside text: log-probabilities and token ids."""

from __future__ import annotations

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.tools import first_choice
from checks.verdict.view import View

_SUPPORT = (
    r"not (?:support|available|allowed|enabled|permitted|implemented)|n.t support|unsupported"
    r"|unrecogni[sz]ed|unknown|extra|不支持|does not support|disabled"
)

refused = table(
    row(
        Reason.LOGPROBS_UNSUPPORTED,
        rf"log_?probs.{{0,80}}(?:{_SUPPORT})|(?:{_SUPPORT}).{{0,80}}log_?probs",
        "",
        (400, 404, 422, 500, 501),
    ),
    row(
        Reason.TOKEN_IDS_MISSING,
        rf"(?:return_token_ids|token_ids).{{0,80}}(?:{_SUPPORT})"
        rf"|(?:{_SUPPORT}).{{0,80}}(?:return_token_ids|token_ids)",
        "",
        (400, 404, 422, 500),
    ),
)
ANSWERS: tuple[Rule, ...] = (refused,)


def no_ids(view: View) -> Reason | None:
    """Token ids were asked for; they are absent, or fewer than the tokens that were billed."""
    if view.answer.form is not Form.COMPLETION or not view.evidence.params.get("return_token_ids"):
        return None
    prompt, sampled, counted = _ids(view)
    if not prompt or sampled is None:
        return Reason.TOKEN_IDS_MISSING
    return Reason.TOKEN_IDS_MISSING if counted is not None and counted != sampled else None


def _ids(view: View) -> tuple[bool, int | None, int | None]:
    """(prompt ids present, number of sampled ids, number of tokens by usage), over all events of a stream."""
    prompt, sampled, counted = False, None, None
    for event in view.answer.events or (view.answer.value,):
        if not isinstance(event, dict):
            continue
        choices = event.get("choices")
        first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        prompt = prompt or bool(event.get("prompt_token_ids") or first.get("prompt_token_ids"))
        ids = first.get("token_ids")
        if isinstance(ids, list) and ids:
            sampled = (sampled or 0) + len(ids)
        usage = event.get("usage")
        if isinstance(usage, dict) and isinstance(usage.get("completion_tokens"), int):
            counted = usage["completion_tokens"]
    return prompt, sampled, counted


def no_logprobs(view: View) -> Reason | None:
    """Log-probabilities were asked for and the field is null or empty."""
    params = view.evidence.params
    asked = params.get("logprobs") or params.get("top_logprobs")
    if view.answer.form is not Form.COMPLETION or not asked or view.answer.is_sse:
        return None
    given = first_choice(view).get("logprobs")
    content = (
        given.get("content") or given.get("token_logprobs") or given.get("tokens")
        if isinstance(given, dict)
        else given
    )
    return None if content else Reason.LOGPROBS_UNSUPPORTED


SHAPES: tuple[Rule, ...] = (no_logprobs, no_ids)
