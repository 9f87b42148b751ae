"""From evidence to one reason: whose words, which shape, which code, which text, status last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checks.outcome import Evidence, FailureKind, Verdict
from checks.reason import Reason
from checks.verdict import (
    auth,
    client_config,
    context,
    dns,
    engine,
    gateway,
    lookalikes,
    model,
    oauth,
    params,
    path,
    policy,
    proxy,
    quota,
    rate,
    response,
    server,
    server_flags,
    streaming,
    tcp,
    tls,
    tokens,
    tools,
)
from checks.verdict.rules import Rule, first
from checks.verdict.told import told_answer, told_words
from checks.verdict.view import View, look_at

_OWN: Mapping[FailureKind, Reason] = {
    FailureKind.DENIED: Reason.EGRESS_DENIED,
    FailureKind.TOO_LARGE: Reason.ANSWER_TOO_LARGE,
}

# No answer: what stopped the client before the wire, then from the far end of the wire back.
_FAILURES: tuple[Rule, ...] = (
    *engine.FAILURES,
    *proxy.FAILURES,
    *model.FAILURES[:1],
    dns.poisoned,
    *tls.FAILURES[:-1],
    *client_config.FAILURES_BEFORE,
    *auth.FAILURES,
    client_config.refused_elsewhere,
    *client_config.FAILURES_AFTER,
    *model.FAILURES[1:],
    *response.FAILURES,
    *dns.FAILURES,
    *tcp.FAILURES,
    *tls.FAILURES[-1:],
    *proxy.FAILURES_LATE,
    response.died_in_protocol,
)

# An answer: first whether the target itself wrote it, then the special before the general, status last.
_WHO: tuple[Rule, ...] = (
    *gateway.LIGHTNING,
    *tls.ANSWERS,
    *proxy.ANSWERS,
    *path.FIRST,
    *policy.EDGE,
)
_WORDS: tuple[Rule, ...] = (
    *rate.FIRST,
    *server_flags.ANSWERS,
    *client_config.ANSWERS,
    *streaming.ANSWERS,
    *tokens.ANSWERS,
    *params.FIRST,
    *tools.ANSWERS,
    *context.FIRST,
    *params.NAMED[:1],
    *context.ANSWERS,
    *gateway.SIZE,
    *gateway.RELAY,
    *quota.ANSWERS,
    *server.CODES,
    *rate.CODES,
    *server.ANSWERS,
    *policy.ANSWERS,
    *oauth.ANSWERS,
    *params.NAMED[1:],
    *model.ANSWERS,
    *auth.ANSWERS,
    *server.CROWD,
    *rate.ANSWERS,
    *params.LAST,
    *params.ANSWERS,
    *gateway.RELAY_LATE,
)
_SHAPES: tuple[Rule, ...] = (
    policy.filtered_output,
    *tools.SHAPES,
    *tokens.SHAPES,
    *streaming.SHAPES,
    *response.SHAPES,
)
_LATE: tuple[Rule, ...] = (
    *gateway.LATE,
    *model.LATE,
    *path.LATE,
    rate.by_status,
    *server.LATE,
    auth.by_status,
    params.by_status,
)


def classify(evidence: Evidence) -> Verdict:
    """Name the cause that the evidence shows.

    Pure and total: the same evidence gives the same verdict, and nothing is raised for any input
    (a fault of the rules, like evidence that explains nothing, is `Reason.UNEXPLAINED`).
    """
    try:
        return _judge(look_at(evidence))
    except Exception:  # noqa: BLE001 - a verdict never raises: one odd answer must not cost the whole run
        return Verdict(Reason.UNEXPLAINED, (Reason.UNEXPLAINED,))


def _judge(view: View) -> Verdict:
    reason = _reason(view)
    if reason is None:
        return Verdict(Reason.UNEXPLAINED, (Reason.UNEXPLAINED,), _facts(view))
    return Verdict(reason, _with_inner(view, lookalikes.candidates(view, reason)), _facts(view))


def _reason(view: View) -> Reason | None:
    failure = view.evidence.failure
    if failure is not None and failure.kind in _OWN:
        return _OWN[failure.kind]
    if view.status is None:
        return _unanswered(view)
    # An answer that began well and broke off is judged by what broke it.
    broken = _unanswered(view) if failure is not None and view.status < 400 else None
    return broken or _answered(view)


def _unanswered(view: View) -> Reason | None:
    """No answer: a status in the exception's text speaks first, then the exception, then its words."""
    told = told_answer(view)
    reason = _answered(told) if told is not None else None
    if reason is None:
        reason = first(_FAILURES, view)
    worded = told_words(view) if reason is None else None
    return first(_WORDS, worded) if worded is not None else reason


def _answered(view: View) -> Reason | None:
    who = first(_WHO, view)
    if who is not None:
        return who
    if 200 <= (view.status or 0) < 300:
        return _good_status(view)
    return first(_asked_in_order(view), view)


def _asked_in_order(view: View) -> Iterable[Rule]:
    """Words count only in an error's own envelope or in plain text; a page is judged by who made it."""
    return (*_WORDS, *_LATE) if view.answer.said.strip() else _LATE


def _good_status(view: View) -> Reason | None:
    """2xx: the path first (a page, an unexpected endpoint), then the shape of what came."""
    if view.answer.is_sse and view.answer.is_error:
        return first(_WORDS, view) or Reason.CHOICES_MISSING_ERROR_BODY
    return first((*path.LATE, *_SHAPES), view)


def _with_inner(view: View, found: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """For an error inside a 200, add what the inner error means."""
    if found[0] is not Reason.CHOICES_MISSING_ERROR_BODY or not view.answer.is_error:
        return found
    inner = first(_WORDS, view)
    return found if inner is None else tuple(dict.fromkeys((*found, inner)))


def _facts(view: View) -> dict[str, str]:
    """Values the dictionary's sentences may name; none of them can hold a key."""
    facts = {
        "model": view.evidence.model[:120],
        "host": view.url.host[:120],
        "status": "" if view.status is None else str(view.status),
    }
    return {name: value for name, value in facts.items() if value}
