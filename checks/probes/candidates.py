"""Base URL candidates: the neighbours of a base URL that leads past the API, asked once each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin, urlsplit

from checks.addresses import AddressError, chat_url, clean_base_url, same_origin
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask
from checks.probes.chat import Chat, chat
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.verdict import classify

CANDIDATE_SECONDS: Final = 5.0
WORTH_BEGINNING: Final = 0.1  # seconds; with less left no answer could come back
MAX_CANDIDATES: Final = 6
SHORT_ANSWER: Final = (
    16  # tokens; whether the route is there is the question, and a slow engine has five seconds
)

# Refusals that only an API writes: it found the route, and something else was wrong.
_BEHIND_THE_ROUTE: Final = frozenset({"auth", "oauth", "quota", "rate", "model", "params", "context"})
_BEHIND_THE_KEY: Final = frozenset({401, 402, 429})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Search:
    """What the neighbours said. `siblings` are facts for the verdict on the lane's own base URL;
    `base_url` is the one neighbour that answered as an API, None when none or several did."""

    step: Step
    siblings: tuple[Mapping[str, object], ...]
    base_url: str | None


@dataclass(frozen=True, slots=True)
class _Tried:
    base_url: str
    chat: Chat
    reason: Reason | None

    @property
    def proves(self) -> bool:
        """Whether the answer is an API's own: a completion, or a refusal in its words."""
        return self.chat.completion is not None or _is_api_refusal(self.chat.evidence, self.reason)


async def search(ask: Ask, failed: Evidence, parameter: str) -> Search:
    """Ask the neighbours of the lane's base URL, stopping at the first completion, the deadline or the
    end of the budget. `failed` is the chat that ended in a path failure, `parameter` the name of the
    length field. No request leaves the lane's origin with the key, and none its host.
    """
    lanes = list(_lanes(ask.spec, failed))
    tried: list[_Tried] = []
    for lane in lanes:
        if ask.seconds() < WORTH_BEGINNING or not ask.affords(SHORT_ANSWER):
            break
        seconds = ask.seconds(CANDIDATE_SECONDS)
        asked = await chat(lane, parameter, seconds=seconds, length=SHORT_ANSWER)
        ask = ask.after(asked.tokens)
        reason = None if asked.completion is not None else classify(asked.evidence).reason
        tried.append(_Tried(lane.base_url, asked, reason))
        if asked.completion is not None:
            break
    return _concluded(tried, len(lanes))


def neighbours(base_url: str) -> Iterator[str]:
    """Yield what a person may have meant instead of `base_url`, likeliest first: without a pasted
    operation, without a second version segment, with `/v1`, without it."""
    whole = _without_operation(base_url)
    single = re.sub(r"/(v\d{1,2})(?:/\1)+(?=/|$)", r"/\1", whole)
    yield whole
    yield single
    if not re.search(r"/v\d{1,2}$", single):
        yield f"{single}/v1"
    yield single.removesuffix("/v1")


def location_base(url: str, location: str) -> str | None:
    """Return the base URL that a redirect of the chat at `url` points to.

    None where it leaves the host, gives up https or points to no chat route.
    """
    try:
        target = urljoin(url, location.strip())
        here, there = urlsplit(url), urlsplit(target)
        base = clean_base_url(target).url
    except ValueError:  # an AddressError too: a query, a user name, a port that is none
        return None
    if not there.path.rstrip("/").endswith("/chat/completions"):
        return None
    safe = there.scheme == "https" or here.scheme == "http"
    return base if safe and here.hostname == there.hostname else None


def _lanes(spec: LaneSpec, failed: Evidence) -> Iterator[LaneSpec]:
    """The lane at each candidate, without its key where that is not the key's own origin."""
    seen = {chat_url(spec.base_url)}
    for base in _bases(spec.base_url, failed):
        if chat_url(base) in seen or len(seen) > MAX_CANDIDATES:
            continue
        seen.add(chat_url(base))
        key = spec.key if same_origin(base, spec.base_url) else None
        yield replace(spec, base_url=base, key=key)


def _bases(base_url: str, failed: Evidence) -> Iterator[str]:
    if failed.status in _REDIRECTS:
        target = location_base(failed.url, failed.headers.get("location", ""))
        if target is not None:
            yield target
    yield from neighbours(base_url)


def _without_operation(base_url: str) -> str:
    try:
        return clean_base_url(base_url).url
    except AddressError:
        return base_url


def _is_api_refusal(evidence: Evidence, reason: Reason | None) -> bool:
    if reason is None or evidence.status is None or not evidence.body.lstrip().startswith(("{", "[")):
        return False
    return reason.layer in _BEHIND_THE_ROUTE or (
        evidence.status in _BEHIND_THE_KEY and reason.layer not in ("path", "proxy", "policy")
    )


def _concluded(tried: list[_Tried], found: int) -> Search:
    """Several refusals alike leave it open which path is meant; a completion, or one alone, does not."""
    proving = [one for one in tried if one.proves]
    completed = [one for one in proving if one.chat.completion is not None]
    chosen = completed or (proving if len(proving) == 1 else [])
    say = {"tried": str(len(tried)), "of": str(found)}
    if chosen:
        say |= {"base_url": chosen[0].base_url, "answered": str(chosen[0].chat.evidence.status)}
    elif proving:
        say["path"] = "open"
    shown = (chosen or proving or tried)[:1]
    step = Step(
        Rung.CHANNEL,
        "candidates",
        Status.OK if chosen else Status.NOT_TESTABLE,
        say=say,
        evidence=shown[0].chat.evidence if shown else None,
        duration_ms=sum(one.chat.evidence.timings.total_ms for one in tried),
        tokens=sum(one.chat.tokens for one in tried),
    )
    siblings = tuple(_fact(one, bool(chosen) and one is chosen[0]) for one in tried)
    return Search(step, siblings, chosen[0].base_url if chosen else None)


def _fact(one: _Tried, proves: bool) -> Mapping[str, object]:
    return {
        "url": one.chat.evidence.url,
        "status": one.chat.evidence.status,
        "verdict": "ok" if one.reason is None else str(one.reason),
        "proves": proves,
    }
