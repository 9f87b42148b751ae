"""The bundle: what one version of a profile says of its lanes, frozen, keys masked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from checks.addresses import host_of
from checks.hostnames import is_private
from checks.outcome import Status
from checks.spec import EndpointKind, LaneKind, Masked

Generation = Literal["0.x", "1.x"]


@dataclass(frozen=True, slots=True)
class Proof:
    """The newest run of a lane, by its code. `finished_at` is aware and says its own offset."""

    run: str
    status: Status
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class BundleLane:
    """One lane as it is in effect, inherited or not.

    `base_url` is normalised. `model` is empty where nobody named one. `key_name` says which key of the
    endpoint is in use ("v3") and is empty where there is none; `key` holds it only where the bundle is
    made with keys. `proof` is None for a lane that never ran.
    """

    kind: LaneKind
    base_url: str
    model: str
    endpoint_name: str
    endpoint_kind: EndpointKind
    needs_key: bool
    key_name: str = ""
    key: Masked | None = None
    proof: Proof | None = None

    @property
    def host(self) -> str:
        """The host of the base URL, an IPv6 address without brackets."""
        return host_of(self.base_url)

    @property
    def is_keyed(self) -> bool:
        """Whether calls carry a key: the server asks for one, or the team stored one all the same."""
        return self.needs_key or bool(self.key_name)

    @property
    def is_private(self) -> bool:
        """Whether the host is known inside a network only."""
        return is_private(self.host)

    @property
    def is_gateway(self) -> bool:
        """Whether an Agent-Lightning 1.x gateway answers there."""
        return self.endpoint_kind is EndpointKind.GATEWAY

    def same_channel(self, other: BundleLane) -> bool:
        """Whether both lanes call one base URL with one key."""
        return (self.base_url, self.endpoint_name, self.key_name) == (
            other.base_url,
            other.endpoint_name,
            other.key_name,
        )


@dataclass(frozen=True, slots=True)
class Bundle:
    """One version of one profile. `lanes` holds those in use, each kind at most once.

    `made_at` is aware, in the zone that the reader of the file should see. Without `with_keys` no file
    made of it holds a key, whatever its lanes carry.
    """

    team: str
    profile: str
    code: str
    version: int
    generation: Generation
    lanes: tuple[BundleLane, ...]
    made_at: datetime
    with_keys: bool = False

    def lane(self, kind: LaneKind) -> BundleLane | None:
        """The lane of that kind; None where the profile does not use it."""
        return next((lane for lane in self.lanes if lane.kind is kind), None)
