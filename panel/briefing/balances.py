"""The question for what is left on an endpoint's key."""

from __future__ import annotations

from django.conf import settings

import checks
from checks import EgressPolicy, EndpointKind
from panel.briefing.keys import open_key
from panel.models import Endpoint, KeyVersion


def brief_balance(endpoint_id: int) -> checks.BalanceSpec | None:
    """Return the question for an endpoint's balance; None when it is gone or its key cannot be used."""
    endpoint = Endpoint.objects.select_related("team").filter(pk=endpoint_id).first()
    if endpoint is None:
        return None
    version = KeyVersion.objects.filter(
        endpoint=endpoint, state=KeyVersion.State.ACTIVE, origin=endpoint.origin
    ).first()
    return checks.BalanceSpec(
        base_url=endpoint.base_url,
        key=open_key(version, endpoint, endpoint.team) if version else None,
        kind=EndpointKind(endpoint.kind),
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
    )
