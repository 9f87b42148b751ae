"""Temporary rollouts on a gateway, under names of our own, removed whatever happens.

Ids are known before they are made ("preflight-", the run, what it is for): what a killed worker left is
removed by name, without reading a busy gateway's list, which grows with every sample of a training run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self

from checks.egress import Exchange
from checks.gateway_urls import event_path, proxy_path, rollout_path
from checks.probes.gateway.door import Door

PREFIX: Final = "preflight-"
REMOVE_TRIES: Final = 3
REMOVE_SECONDS: Final = 3.0  # for one try
REMOVE_PAUSE: Final = 0.5
CREATED: Final = 201
GONE: Final = frozenset({200, 204, 404})
INPUT_NOTE: Final = "A rollout of Preflight's dry run; it is removed at once."


class Purpose(StrEnum):
    """What a temporary rollout of ours is for: the last part of its id."""

    TRAIN = "train"
    VAL = "val"
    SDK = "sdk"
    AGENT = "agent"
    AGENT_TRAIN = "agent-train"
    AGENT_VAL = "agent-val"

    @property
    def mode(self) -> str:
        """How the gateway treats its calls: in "train" it asks for log-probabilities, in "val" not."""
        return "train" if self in (Purpose.TRAIN, Purpose.AGENT_TRAIN) else "val"


def rollout_id(run: str, purpose: Purpose) -> str:
    """The id of that rollout of that run."""
    return f"{PREFIX}{run}-{purpose}"


class RolloutRefused(Exception):
    """The gateway made no rollout; `got` is what it answered."""

    def __init__(self, got: Exchange) -> None:
        super().__init__("The gateway made no rollout.")
        self.got = got


class GatewayRollout:
    """One temporary rollout, for the length of an `async with`. Raises RolloutRefused on entry.

    It is made without `config`, so that no controller can run anything for it; the proxy serves it all the
    same, also once a controller has marked it as failed (1.0.2). `removed` says afterwards whether the
    gateway confirmed that it is gone.
    """

    def __init__(self, door: Door, purpose: Purpose, *, seconds: float) -> None:
        self._door = door
        self._seconds = seconds
        self.purpose = purpose
        self.id = rollout_id(door.spec.id, purpose)
        self.removed = False

    @property
    def base_url(self) -> str:
        """What an agent is given as its base URL."""
        return self._door.root + proxy_path(self.id, self.purpose.mode)

    @property
    def event_url(self) -> str:
        """Where an agent posts its reward."""
        return self._door.root + event_path(self.id)

    async def __aenter__(self) -> Self:
        document = [
            {"rollout_id": self.id, "input": {"note": INPUT_NOTE}, "is_train": self.purpose.mode == "train"}
        ]
        try:
            got = await self._door.send("POST", "/api/rollouts", document, seconds=self._seconds)
        except asyncio.CancelledError:
            await self._remove()
            raise
        if got.status != CREATED:
            await self._remove()
            raise RolloutRefused(got)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._remove()

    async def _remove(self) -> None:
        self.removed = await to_its_end(_removed(self._door, self.id))


async def remove_all(door: Door) -> tuple[str, ...]:
    """Remove what an earlier attempt of the same run left; return the ids that were still there.

    Removing what is not there changes nothing, so this may be repeated. Never raises but on cancellation.
    """
    ids = [rollout_id(door.spec.id, purpose) for purpose in Purpose]
    found = await asyncio.gather(*(to_its_end(_found_and_removed(door, one)) for one in ids))
    return tuple(one for one, was_there in zip(ids, found, strict=True) if was_there)


async def _found_and_removed(door: Door, ident: str) -> bool:
    got = await door.send("GET", rollout_path(ident), seconds=REMOVE_SECONDS)
    return got.status == 200 and await _removed(door, ident)


async def _removed(door: Door, ident: str) -> bool:
    for attempt in range(REMOVE_TRIES):
        await asyncio.sleep(REMOVE_PAUSE * attempt)
        got = await door.send("DELETE", rollout_path(ident), seconds=REMOVE_SECONDS)
        if got.status in GONE:
            return True
    return False


_unfinished: set[asyncio.Task[Any]] = set()


async def to_its_end(work: Coroutine[Any, Any, bool]) -> bool:
    """Await `work`, which goes on to its own bounded end where the caller is cancelled meanwhile."""
    task = asyncio.get_running_loop().create_task(work)
    _unfinished.add(task)
    task.add_done_callback(_unfinished.discard)
    return await asyncio.shield(task)
