"""What a failure is put down to: one cause over all lanes that it explains."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from checks import Reason
from panel.dictionary import BY_CODE

KEY_LAYERS: Final = frozenset({"auth", "oauth"})
# What these layers tell of is the same for every lane that calls the endpoint.
ENDPOINT_LAYERS: Final = frozenset(
    {"dns", "tcp", "tls", "proxy", "path", "gateway", "policy", "quota", "rate", "server"}
)
OF_THE_ENDPOINT: Final = frozenset(
    {
        Reason.ANSWER_TOO_LARGE, Reason.DEVELOPMENT_ROUTES_OPEN, Reason.EGRESS_DENIED, Reason.ENDPOINT_OPEN,
        Reason.ENGINE_ASLEEP, Reason.ENGINE_WEDGED, Reason.REQUEST_TIMEOUT,
    }
)  # fmt: skip
OF_THE_MODEL: Final = frozenset({Reason.MODEL_NO_CHANNEL, Reason.MODEL_NOT_LOADED})
SHALLOW: Final = 2  # above this rung a failure belongs to the profile's own code and recipe
MODEL_SHOWN: Final = 40  # of a model id, so that a cause fits its column


@dataclass(frozen=True, slots=True)
class Setting:
    """What a lane stood on when it broke. Codes are empty and pks None where it has no such thing."""

    profile: str
    model: str
    key_number: int | None
    endpoint: str = ""
    endpoint_id: int | None = None
    host: str = ""
    host_id: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """`text` is equal for two failures that have the same cause (see `panel.models.Incident`)."""

    text: str
    endpoint_id: int | None = None
    host_id: int | None = None


def cause_of(code: str, rung: int | None, on: Setting) -> Cause:
    """Return what a failure with this reason, at this rung, is put down to.

    A refused key is the key's, wherever it was refused, and what is wrong with a host is the host's. Of the
    rest, what broke above the second rung is the profile's; below it, what any lane would meet is the
    endpoint's, and what comes of the model or of how it is asked is the model's at this endpoint.
    """
    reason = BY_CODE.get(code, Reason.UNEXPLAINED)
    if reason.layer in KEY_LAYERS and on.endpoint:
        return Cause(f"key|{on.endpoint}|v{on.key_number or 0}", on.endpoint_id)
    if reason.layer == "host" and on.host:
        return Cause(f"host|{on.host}|{reason.family}", host_id=on.host_id)
    if (rung or 0) > SHALLOW or not on.endpoint:
        return Cause(f"profile|{on.profile}|{reason.family}", on.endpoint_id, on.host_id)
    if _of_the_endpoint(reason):
        return Cause(f"endpoint|{on.endpoint}|{reason.family}", on.endpoint_id)
    return Cause(f"endpoint|{on.endpoint}|model {_short(on.model)}|{reason.family}", on.endpoint_id)


def of_whole_endpoint(text: str) -> bool:
    """Tell whether this cause takes everything at its endpoint down, whatever model is asked for."""
    return text.startswith("endpoint|") and text.count("|") == 2


def _of_the_endpoint(reason: Reason) -> bool:
    return reason in OF_THE_ENDPOINT or (reason.layer in ENDPOINT_LAYERS and reason not in OF_THE_MODEL)


def _short(model: str) -> str:
    """Return a model id that keeps a cause within its column; two ids never become one."""
    plain = model.replace("|", "/")
    if plain == model and len(model) <= MODEL_SHOWN:
        return model
    return f"{plain[:MODEL_SHOWN]}~{hashlib.sha256(model.encode()).hexdigest()[:8]}"
