"""Which reason a spoilt or lost setting leads to, by its role."""

from __future__ import annotations

from typing import Final

from checks.lint.finding import CONFIG_SYNTAX
from checks.lint.sheet import Role
from checks.reason import Reason

_SPOILT: Final = {
    Role.KEY: Reason.AUTH_KEY_MALFORMED,
    Role.BASE: Reason.BASE_URL_MALFORMED,
    Role.MODEL: Reason.MODEL_NOT_FOUND,
}
_LOST: Final = {
    Role.KEY: Reason.ENV_KEY_UNSET,
    Role.BASE: Reason.BASE_URL_NOT_APPLIED,
    Role.MODEL: Reason.MODEL_MISSING,
}
VITAL: Final = frozenset((Role.KEY, Role.BASE, Role.MODEL, Role.PROXY, Role.NO_PROXY))


def spoilt(role: Role) -> str:
    """The code of a value that arrives, but not as it was meant."""
    return str(_SPOILT.get(role, CONFIG_SYNTAX))


def lost(role: Role) -> str:
    """The code of a setting that does not arrive at all."""
    return str(_LOST.get(role, CONFIG_SYNTAX))
