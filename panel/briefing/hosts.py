"""Hosts with their login keys, for readings and for the climbs that go there."""

from __future__ import annotations

from django.conf import settings

from checks import EgressPolicy
from checks.spec import HostSpec
from panel.briefing.keys import open_ssh_key
from panel.models import Host, Recipe, Team

WAY = "jump__jump__jump"
"""The machines on the way that one query brings; a longer way costs a query each."""


def brief_host(host_id: int) -> HostSpec | None:
    """Return the host with its login key; None when it is gone."""
    host = Host.objects.select_related("team", WAY).filter(pk=host_id).first()
    return host_spec(host, host.team) if host else None


def models_on(host_id: int) -> list[str]:
    """Return the folders of models that the host's profiles name, for the fit check."""
    recipes = Recipe.objects.filter(host=host_id).exclude(model_path="").order_by("model_path")
    return list(recipes.values_list("model_path", flat=True).distinct())


def host_spec(host: Host, team: Team) -> HostSpec:
    """Return the host as the engine takes it, with those that it is reached through."""
    return HostSpec(
        code=host.code,
        name=host.name,
        address=host.address,
        user=host.user,
        port=host.port,
        host_keys=(host.host_key,) if host.host_key else (),
        private_key=open_ssh_key(host, team),
        jump=host_spec(host.jump, team) if host.jump else None,
        python=host.python,
        workdir=host.workdir,
        activate=host.activate,
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
    )
