"""The way to one gateway: its address, its key, and one request at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from checks.egress import Exchange, exchange
from checks.gateway_urls import gateway_root
from checks.outcome import Evidence, Rung, Step
from checks.probes.asking import Ask, Probe
from checks.probes.chat import key_context, lane_evidence, lane_headers
from checks.probes.completion import read_json
from checks.probes.places import from_places
from checks.spec import EndpointKind, LaneSpec, Where

CALL_SECONDS: Final = 5.0  # for what the gateway answers by itself


@dataclass(frozen=True, slots=True)
class Door:
    """A gateway as this lane reaches it, from wherever the lane is asked."""

    spec: LaneSpec

    @property
    def root(self) -> str:
        """The gateway's own address, without a path of a rollout."""
        return gateway_root(self.spec.base_url)

    async def send(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        seconds: float = CALL_SECONDS,
        with_key: bool = True,
    ) -> Exchange:
        """Send one request, with the lane's key unless told otherwise; never raises but on cancellation."""
        spec = self.spec if with_key else replace(self.spec, key=None)
        headers = lane_headers(spec)
        content = b""
        if document is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(document).encode()
        return await exchange(
            method,
            self.root + path,
            policy=spec.egress,
            deadline=seconds,
            headers=headers,
            content=content,
            ca_file=spec.ca_file,
        )

    def evidence(self, got: Exchange, **context: object) -> Evidence:
        """Return an exchange with the gateway as evidence."""
        known: Mapping[str, object] = {**key_context(self.spec), **context}
        shown = replace(self.spec, kind=EndpointKind.GATEWAY)
        return lane_evidence(shown, got, {}, known)


async def at_one_place(ask: Ask, first_step: str, probe: Probe) -> tuple[Step, ...]:
    """Return the steps of `probe`, asked from the worker or, where the lane is climbed from its host at all,
    from there: two dry runs side by side would take each other's rollouts away."""
    where = Where.HOST if ask.spec.where is Where.BOTH else ask.spec.where
    one = replace(ask, spec=replace(ask.spec, where=where))
    found = await from_places(Rung.ROLLOUT, first_step, probe)(one)
    return tuple(replace(step, place=step.place or ask.spec.place) for step in found.steps)


def object_of(got: Exchange) -> Mapping[str, object]:
    """The JSON object of a 2xx answer; empty where there is none."""
    body = read_json(got)
    return body if isinstance(body, Mapping) else {}


def objects_of(got: Exchange) -> list[Mapping[str, object]]:
    """The objects in the JSON list of a 2xx answer; empty where there is none."""
    body = read_json(got)
    return [one for one in body if isinstance(one, Mapping)] if isinstance(body, list) else []
