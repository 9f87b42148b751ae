"""What is wrong with a bundle, or between its lanes, before anybody loads it: closed codes; the pages have
the sentences."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from checks.addresses import same_origin
from checks.hostnames import is_loopback
from checks.outcome import Status
from checks.spec import EndpointKind, LaneKind
from panel.exports.bundle import Bundle, BundleLane

_HOSTED = (EndpointKind.OPENAI, EndpointKind.AZURE, EndpointKind.LITELLM)
_VERSION_SEGMENT = re.compile(r"/v[0-9]+[a-z0-9]*")


class ProblemCode(StrEnum):
    """A warning; none of them stops an export."""

    LOOPBACK_ADDRESS = "loopback_address"
    EMPTY_MODEL = "empty_model"
    LANE_WITHOUT_KEY = "lane_without_key"
    LANE_NOT_PROVEN = "lane_not_proven"
    HOSTED_ROLLOUT = "hosted_rollout"
    GATEWAY_PASSES_NO_KEY = "gateway_passes_no_key"
    UPSTREAM_WITHOUT_VERSION = "upstream_without_version"
    PAST_THE_GATEWAY = "past_the_gateway"
    SAME_HOST_DIFFERENT_KEYS = "same_host_different_keys"
    MIXED_IDS = "mixed_ids"
    GATEWAY_OPEN = "gateway_open"
    MODEL_NAMES_UNEQUAL = "model_names_unequal"


@dataclass(frozen=True, slots=True)
class Problem:
    """One code and the lane that it is about."""

    code: ProblemCode
    lane: LaneKind


def problems(bundle: Bundle) -> tuple[Problem, ...]:
    """All that a reader of the bundle should be warned of, in the order of its lanes."""
    return tuple(
        Problem(code, lane.kind)
        for lane in bundle.lanes
        for code, is_so in _RULES.items()
        if is_so(bundle, lane)
    )


def _is_upstream(bundle: Bundle, lane: BundleLane) -> bool:
    """Whether a 1.x gateway calls the lane: it sends no key, and appends to the base as it stands."""
    return bundle.generation == "1.x" and lane.kind is not LaneKind.AGENT and not lane.is_gateway


def _loopback(bundle: Bundle, lane: BundleLane) -> bool:
    return is_loopback(lane.host)


def _no_model(bundle: Bundle, lane: BundleLane) -> bool:
    return not lane.model


def _no_key(bundle: Bundle, lane: BundleLane) -> bool:
    return lane.needs_key and not lane.key_name


def _not_proven(bundle: Bundle, lane: BundleLane) -> bool:
    return lane.proof is None or lane.proof.status not in (Status.OK, Status.DEGRADED)


def _hosted_rollout(bundle: Bundle, lane: BundleLane) -> bool:
    """A hosted channel takes no new weights and returns no token ids: the trainer drops every sample."""
    return lane.kind is LaneKind.ROLLOUT and lane.endpoint_kind in _HOSTED and not lane.is_private


def _keyed_upstream(bundle: Bundle, lane: BundleLane) -> bool:
    return _is_upstream(bundle, lane) and lane.is_keyed


def _unversioned_upstream(bundle: Bundle, lane: BundleLane) -> bool:
    last_segment = "/" + lane.base_url.rpartition("/")[2]
    return _is_upstream(bundle, lane) and not _VERSION_SEGMENT.fullmatch(last_segment)


def _past_the_gateway(bundle: Bundle, lane: BundleLane) -> bool:
    return bundle.generation == "1.x" and lane.kind is LaneKind.AGENT and not lane.is_gateway


def _same_host_different_keys(bundle: Bundle, lane: BundleLane) -> bool:
    """Two lanes call one server with two keys: one of them tends to be the forgotten one."""
    return lane.is_keyed and any(
        other.is_keyed
        and same_origin(other.base_url, lane.base_url)
        and (other.endpoint_name, other.key_name) != (lane.endpoint_name, lane.key_name)
        for other in bundle.lanes
    )


def _mixed_ids(bundle: Bundle, lane: BundleLane) -> bool:
    """One server is asked for one model by two spellings: in another case, or with a prefix in front."""
    return any(
        other.model != lane.model
        and same_origin(other.base_url, lane.base_url)
        and _bare(other.model) == _bare(lane.model)
        for other in bundle.lanes
    )


def _bare(model: str) -> str:
    return model.lower().rpartition("/")[2]


def _open_gateway(bundle: Bundle, lane: BundleLane) -> bool:
    """A gateway whose key is empty serves whoever reaches it (Agent-Lightning 1.0.2 starts that way)."""
    return lane.is_gateway and not lane.is_keyed and not is_loopback(lane.host)


def _unequal_names(bundle: Bundle, lane: BundleLane) -> bool:
    """The gateway's model name, the trainer's path and the served name must be one string; "auto" is
    replaced by the gateway."""
    agent = bundle.lane(LaneKind.AGENT)
    return (
        bundle.generation == "1.x"
        and lane.kind is LaneKind.ROLLOUT
        and agent is not None
        and agent.is_gateway
        and agent.model not in ("", "auto", lane.model)
    )


_RULES: dict[ProblemCode, Callable[[Bundle, BundleLane], bool]] = {
    ProblemCode.LOOPBACK_ADDRESS: _loopback,
    ProblemCode.EMPTY_MODEL: _no_model,
    ProblemCode.LANE_WITHOUT_KEY: _no_key,
    ProblemCode.LANE_NOT_PROVEN: _not_proven,
    ProblemCode.HOSTED_ROLLOUT: _hosted_rollout,
    ProblemCode.GATEWAY_PASSES_NO_KEY: _keyed_upstream,
    ProblemCode.UPSTREAM_WITHOUT_VERSION: _unversioned_upstream,
    ProblemCode.PAST_THE_GATEWAY: _past_the_gateway,
    ProblemCode.SAME_HOST_DIFFERENT_KEYS: _same_host_different_keys,
    ProblemCode.MIXED_IDS: _mixed_ids,
    ProblemCode.GATEWAY_OPEN: _open_gateway,
    ProblemCode.MODEL_NAMES_UNEQUAL: _unequal_names,
}
