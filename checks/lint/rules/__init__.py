"""All rules by name, in the order in which they are asked: the most telling word on a line comes first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from checks.lint.finding import Rule
from checks.lint.rules import (
    accounts,
    bytes,
    endpoints,
    lines,
    models,
    names,
    proxies,
    routes,
    secrets,
    structure,
    tls,
    values,
)

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        **bytes.RULES,
        **structure.RULES,
        **lines.RULES,
        **values.RULES,
        **secrets.RULES,
        **accounts.RULES,
        **endpoints.RULES,
        **routes.RULES,
        **names.RULES,
        **proxies.RULES,
        **tls.RULES,
        **models.RULES,
    }
)
