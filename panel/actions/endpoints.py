"""What people do to endpoints and their keys."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from checks.addresses import origin_of
from checks.keys import describe
from checks.spec import Masked
from panel import history, ledger, tasks, vault
from panel.actions import Refused, within_limits
from panel.actions.audit import record
from panel.actions.checks import run_lanes_of
from panel.actions.versions import bump_users_of
from panel.models import Endpoint, KeyVersion, Membership, Run, RunSteps


@transaction.atomic
def create(
    *,
    actor: Membership,
    name: str,
    kind: str,
    base_url: str,
    needs_key: bool = True,
    key: Masked | None = None,
    expires_at: datetime | None = None,
    tokens_a_day: int | None = None,
) -> Endpoint:
    """Make an endpoint; `base_url` is normalised already. A key, when given, is sealed with it.
    `tokens_a_day` caps what checks spend there, None leaves it open."""
    endpoint = Endpoint(
        team=actor.team, name=name.strip(), kind=kind, base_url=base_url, origin=origin_of(base_url),
        needs_key=needs_key, tokens_a_day=tokens_a_day,
    )  # fmt: skip
    _save_named(endpoint)
    _record(actor, "create", endpoint, base_url=base_url, kind=kind, tokens_a_day=tokens_a_day)
    if key is not None:
        add_key(actor=actor, endpoint=endpoint, key=key, expires_at=expires_at)
    return endpoint


@transaction.atomic
def change(
    *,
    actor: Membership,
    endpoint: Endpoint,
    name: str,
    kind: str,
    base_url: str,
    needs_key: bool = True,
    tokens_a_day: int | None = None,
) -> bool:
    """Change an endpoint. Returns True when another origin dropped the key that was in use:
    a key belongs to the scheme, host and port it was given for."""
    before = endpoint.base_url
    endpoint.name, endpoint.kind, endpoint.needs_key = name.strip(), kind, needs_key
    endpoint.base_url, endpoint.origin = base_url, origin_of(base_url)
    endpoint.tokens_a_day = tokens_a_day
    _save_named(endpoint)
    dropped = bool(
        endpoint.key_versions.filter(state=KeyVersion.State.ACTIVE)
        .exclude(origin=endpoint.origin)
        .update(state=KeyVersion.State.DROPPED, sealed="", ended_at=datetime.now(UTC))
    )
    bump_users_of(endpoint, actor.user)
    _record(
        actor, "change", endpoint, base_url=base_url, base_url_before=before, key_dropped=dropped,
        tokens_a_day=tokens_a_day,
    )  # fmt: skip
    run_lanes_of(endpoint, actor)
    return dropped


@transaction.atomic
def apply_offered(*, actor: Membership, endpoint: Endpoint, run: Run) -> bool:
    """Store the base URL that a run found to answer. Returns True when that dropped the key.

    The address is taken from the run, never from a form. Raises Refused when the run offers none, or the
    endpoint was changed since.
    """
    steps = RunSteps.objects.filter(run=run).values_list("steps", flat=True).first() or []
    offered = history.offered_base_url(steps)
    if not offered:
        raise Refused(_("This run offers no other base URL."))
    if run.check_order.lane.effective_endpoint != endpoint or run.slot < endpoint.changed_at:
        raise Refused(_("The endpoint was changed since this run. Run the ladder again."))
    return change(
        actor=actor, endpoint=endpoint, name=endpoint.name, kind=endpoint.kind, base_url=offered,
        needs_key=endpoint.needs_key, tokens_a_day=endpoint.tokens_a_day,
    )  # fmt: skip


@transaction.atomic
def add_key(
    *, actor: Membership, endpoint: Endpoint, key: Masked, expires_at: datetime | None = None
) -> KeyVersion:
    """Seal a key and put it to use; the one before it is retired. The first runs start at once.

    Raises Refused when the same key is in use already.
    """
    within_limits(actor, "key")
    Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    fingerprint = vault.fingerprint(key, team=actor.team)
    active = endpoint.key_versions.filter(state=KeyVersion.State.ACTIVE)
    newest = endpoint.key_versions.order_by("-number").first()
    if same := active.filter(fingerprint=fingerprint).first():
        raise Refused(_("This is v%(number)s again. Paste the new key.") % {"number": same.number}, "key")
    active.update(state=KeyVersion.State.RETIRED, ended_at=datetime.now(UTC))
    number = newest.number + 1 if newest else 1
    shape = describe(key)
    version = KeyVersion.objects.create(
        endpoint=endpoint,
        number=number,
        sealed=vault.seal(
            key, team=actor.team, context=vault.key_context(endpoint.code, number, endpoint.origin)
        ),
        origin=endpoint.origin,
        last_four=shape.last_four,
        length=shape.length,
        fingerprint=fingerprint,
        sealed_by=actor.user,
        expires_at=expires_at,
    )
    if not endpoint.needs_key:
        endpoint.needs_key = True
        endpoint.save(update_fields=["needs_key", "changed_at"])
    bump_users_of(endpoint, actor.user)
    record(
        team=actor.team, actor=actor.user, verb="add", noun="key", code=endpoint.code,
        label=f"{endpoint.name} v{number}", fingerprint=fingerprint,
    )  # fmt: skip
    run_lanes_of(endpoint, actor)
    return version


@transaction.atomic
def ask_balance(*, actor: Membership, endpoint: Endpoint) -> None:
    """Let the worker ask what is left on the endpoint's key. Raises Refused when asked very often."""
    within_limits(actor, "balance")
    ledger.begin_balance(endpoint, datetime.now(UTC))
    _record(actor, "ask", endpoint, about="balance")
    pk = endpoint.pk
    transaction.on_commit(lambda: tasks.ask_balance.apply_async(args=(pk,)), robust=True)


@transaction.atomic
def destroy_key(*, actor: Membership, endpoint: Endpoint) -> None:
    """Destroy the key in use: its sealed value is gone for good."""
    keys = KeyVersion.objects.select_for_update().filter(endpoint=endpoint)
    active = keys.filter(state=KeyVersion.State.ACTIVE).first()
    if active is None:
        raise Refused(_("%(name)s has no key in use.") % {"name": endpoint.name})
    active.sealed, active.state = "", KeyVersion.State.DESTROYED
    active.ended_at = datetime.now(UTC)
    active.save(update_fields=["sealed", "state", "ended_at"])
    bump_users_of(endpoint, actor.user)
    record(
        team=actor.team, actor=actor.user, verb="destroy", noun="key", code=endpoint.code,
        label=f"{endpoint.name} v{active.number}", fingerprint=active.fingerprint,
    )  # fmt: skip
    run_lanes_of(endpoint, actor)


@transaction.atomic
def delete(*, actor: Membership, endpoint: Endpoint) -> None:
    """Delete an endpoint that no profile uses."""
    _record(actor, "delete", endpoint, base_url=endpoint.base_url)
    try:
        with transaction.atomic():
            endpoint.delete()
    except ProtectedError as error:
        raise Refused(
            _("A profile uses %(name)s. Change the profile first.") % {"name": endpoint.name}
        ) from error


def _save_named(endpoint: Endpoint) -> None:
    try:
        with transaction.atomic():
            endpoint.save()
    except IntegrityError as error:
        raise Refused(
            _("The team has an endpoint named %(name)s.") % {"name": endpoint.name}, "name"
        ) from error


def _record(actor: Membership, verb: str, endpoint: Endpoint, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="endpoint", code=endpoint.code,
        label=endpoint.name, **data,
    )  # fmt: skip
