"""Negative steps: what must be refused. A lane with a key is asked without it, and with a made-up one."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from checks.keys import describe
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask
from checks.probes.chat import Chat, chat
from checks.reason import Reason
from checks.spec import LaneSpec, Masked
from checks.verdict import classify

NEGATIVE_SECONDS: Final = 10.0
SHORT_ANSWER: Final = 16  # tokens; whether there is an answer at all is the question
ADDED: Final = 16  # characters, where there is nothing to change
BOTH: Final = 2  # requests

_REFUSED: Final = frozenset({401, 403})
_REFUSING_LAYERS: Final = frozenset({"auth", "oauth"})
_NOT_OF_KEYS: Final = frozenset({"path", "policy", "proxy"})  # a firewall's 403 refuses everybody
_CLASSES: Final = (string.digits, string.ascii_lowercase, string.ascii_uppercase)

# What people type where a client insists on a key and the server wants none.
_NO_KEYS: Final = frozenset(
    {"empty", "dummy", "fake", "test", "none", "no-key", "not-needed", "no-key-required"}
    | {"sk-no-key-required", "fake-api-key", "token-abc123", "anything", "unused", "ollama", "lm-studio"}
)


async def negative(ask: Ask, parameter: str) -> Step | None:
    """Ask without the key, then with a wrong one, and say whether both were refused.

    None where the lane has no key worth the name: a server open by design is no finding. An answer to
    either makes the step "open_endpoint", degraded; else it is "negative", which never decides. The
    lane's key is in neither request. `parameter` is the name of the length field that passed.
    """
    key = ask.spec.key
    if not key or key.reveal().lower() in _NO_KEYS:
        return None
    chats: dict[str, Chat] = {}
    for name, wrong in (("no_key", None), ("wrong_key", wrong_key(key))):
        if not ask.affords(SHORT_ANSWER):
            break
        asked = await _ask_with(ask, wrong, parameter)
        ask = ask.after(asked.tokens)
        chats[name] = asked
        if asked.completion is not None:
            break
    return _step(ask.spec, chats)


def wrong_key(key: Masked) -> Masked:
    """Return a random key of the same shape: the vendor's public beginning, the same length, letters for
    letters and digits for digits. Never the same key; longer by a few characters if need be."""
    value = key.reveal()
    prefix = describe(key).prefix
    made = prefix + "".join(_random_like(character) for character in value[len(prefix) :])
    if made == value:  # too short, or without a letter to change
        made += "".join(secrets.choice(string.ascii_lowercase) for _ in range(ADDED))
    return Masked(made)


def _random_like(character: str) -> str:
    alphabet = next((known for known in _CLASSES if character in known), character)
    return secrets.choice(alphabet)


async def _ask_with(ask: Ask, key: Masked | None, parameter: str) -> Chat:
    lane = replace(ask.spec, key=key)
    return await chat(lane, parameter, seconds=ask.seconds(NEGATIVE_SECONDS), length=SHORT_ANSWER)


def _step(spec: LaneSpec, chats: dict[str, Chat]) -> Step:
    said = {name: _said(asked) for name, asked in chats.items()}
    say = said | {f"{name}_status": str(asked.evidence.status or "") for name, asked in chats.items()}
    answered = "answered" in said.values()
    if len(chats) < BOTH and not answered:
        say["budget"] = "spent"
    step = Step(
        Rung.CHANNEL,
        "negative",
        Status.OK if _all_refused(said.values(), len(chats)) else Status.NOT_TESTABLE,
        say=say,
        evidence=next(reversed(chats.values())).evidence if chats else None,
        duration_ms=sum(asked.evidence.timings.total_ms for asked in chats.values()),
        tokens=sum(asked.tokens for asked in chats.values()),
    )
    return _found_open(step, spec) if answered else step


def _found_open(step: Step, spec: LaneSpec) -> Step:
    reason = Reason.ENDPOINT_OPEN
    say = {"model": spec.model, **step.say}
    return replace(
        step, name="open_endpoint", status=Status.DEGRADED, reason=reason, candidates=(reason,), say=say
    )


def _all_refused(said: Iterable[str], asked: int) -> bool:
    return asked == BOTH and all(word == "refused" for word in said)


def _said(asked: Chat) -> str:
    """ "answered", "refused", or "unclear": a crowded or broken server says nothing of its keys."""
    if asked.completion is not None:
        return "answered"
    verdict = classify(asked.evidence)
    if asked.evidence.status in _REFUSED and verdict.reason.layer not in _NOT_OF_KEYS:
        return "refused"
    layers = {reason.layer for reason in (verdict.reason, *verdict.candidates)}
    return "refused" if layers & _REFUSING_LAYERS else "unclear"
