"""Runs into specs of their lanes, and into outcomes where a lane cannot be asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db.models import Prefetch

from checks import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Outcome, Reason, Rung, Status, Step
from checks.spec import Where
from panel.briefing.hosts import WAY, host_spec
from panel.briefing.keys import Keys, Refusal
from panel.briefing.purses import Purses
from panel.briefing.recipes import clients_of, recipe_spec, shell_bundle
from panel.costs import deadline_of
from panel.ledger import SHALLOW
from panel.models import Endpoint, Lane, Recipe, Run, Team

# What a lane needs beyond a chat costs a dozen requests, so it is asked rarely: when a person asks,
# once in this time, and at every run while it is broken, since a chat alone must not turn the lane green.
# A rollout lane that lost its token ids trains nothing, so it is asked more often, within its day's tokens.
CONTRACT_EVERY = {
    Lane.Kind.AGENT: timedelta(hours=1),
    Lane.Kind.REPLAY: timedelta(hours=1),
    Lane.Kind.ROLLOUT: timedelta(minutes=15),
}
CLIMB_S, FULL_CLIMB_S = 30.0, 60.0


def brief(runs: Sequence[Run]) -> tuple[list[LaneSpec], list[Outcome]]:
    """Return a spec for each started run, and an outcome for each that cannot be asked.

    Both carry the run's code as their id. Notes on each run the profile version and the number of
    the key it goes with. Lanes without endpoint, model or usable key are not testable, and so is one
    whose key does not unseal; nothing is sent for them. A run whose lane is gone gets neither. The
    number of queries is fixed, but for two more for each deep run, whose bundle is made.
    """
    lanes = _lanes({run.check_order.lane_id for run in runs})
    keys, purses = Keys(lanes.values()), Purses(lanes.values())
    specs, refused = [], []
    for run in runs:
        if run.check_order.lane_id not in lanes:  # deleted with its runs since they were started
            continue
        try:
            specs.append(_spec(run, lanes[run.check_order.lane_id], keys, purses))
        except Refusal as refusal:
            refused.append(_not_asked(run, refusal.reason))
    return specs, refused


def brief_tidying(run_id: int) -> tuple[list[LaneSpec], list[Outcome]]:
    """Return what `brief` does for one run whose worker died; nothing when the run is gone."""
    run = Run.objects.select_related("check_order").filter(pk=run_id).first()
    return brief([run] if run else [])


def _lanes(pks: Collection[int]) -> dict[int, Lane]:
    """Return the lanes with all that says how they are asked; what they share is read and made once."""
    recipes = Recipe.objects.select_related("host", f"host__{WAY}")
    rows = Lane.objects.select_related("now", "profile")
    lanes = rows.prefetch_related(Prefetch("profile__recipe", queryset=recipes)).in_bulk(pks)
    teams = Team.objects.in_bulk({lane.profile.team_id for lane in lanes.values()})
    named = {pk for lane in lanes.values() for pk in (lane.endpoint_id, lane.profile.endpoint_id) if pk}
    endpoints = Endpoint.objects.in_bulk(named)
    for lane in lanes.values():
        lane.endpoint = endpoints.get(lane.endpoint_id or 0)
        lane.profile.endpoint = endpoints.get(lane.profile.endpoint_id or 0)
        if team := teams.get(lane.profile.team_id):  # deleted since: so are the lane and its runs
            lane.profile.team = team
    return lanes


def _spec(run: Run, lane: Lane, keys: Keys, purses: Purses) -> LaneSpec:
    run.profile_version = lane.profile.version
    endpoint, model = lane.effective_endpoint, lane.effective_model
    if endpoint is None:
        raise Refusal(Reason.KEY_MISSING)
    version = keys.usable(endpoint)
    if not model:
        raise Refusal(Reason.MODEL_MISSING)
    run.key_number = version.number if version else None
    in_full = _in_full(run, lane)
    spec = LaneSpec(
        id=run.code,
        base_url=endpoint.base_url,
        model=model,
        key=keys.unseal(version, endpoint, lane.profile.team) if version else None,
        lane=LaneKind(lane.kind),
        kind=EndpointKind(endpoint.kind),
        rungs=tuple(Rung(number) for number in range(1, run.top_rung + 1)),
        latency_limit_ms=lane.latency_limit_ms,
        prompt_length=lane.prompt_length,
        response_length=lane.response_length,
        token_budget=purses.left(run, lane, endpoint),
        token_parameter=lane.now.token_parameter or None,
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
        deadline=FULL_CLIMB_S if in_full else CLIMB_S,
        contract=in_full,
        negative=in_full,
        repeat=True,
        place=run.place,
    )
    return _further(spec, run, lane)


def _further(spec: LaneSpec, run: Run, lane: Lane) -> LaneSpec:
    """Add the host of the lane's profile, and to a deep run what the rungs above the second need."""
    profile = lane.profile
    recipe: Recipe | None = getattr(profile, "recipe", None)
    if recipe is not None:
        spec = replace(spec, recipe=recipe_spec(recipe, profile.generation))
        if recipe.host is not None:
            spec = replace(spec, host=host_spec(recipe.host, profile.team), where=Where(recipe.where))
    if run.top_rung <= SHALLOW:
        return spec
    (bundle, secrets), clients = shell_bundle(profile), clients_of(recipe)
    return replace(
        spec, bundle=bundle, secrets=secrets, clients=clients,
        deadline=FULL_CLIMB_S + deadline_of(recipe, run.top_rung, len(clients)),
    )  # fmt: skip


def _in_full(run: Run, lane: Lane) -> bool:
    """Tell whether this run asks for the lane's contract, and what must be refused, besides the chat."""
    if run.trigger == Run.Trigger.PERSON or lane.now.contract_broken or lane.now.contract_at is None:
        return True
    return (run.started_at or run.slot) - lane.now.contract_at >= CONTRACT_EVERY[Lane.Kind(lane.kind)]


def _not_asked(run: Run, reason: Reason) -> Outcome:
    step = Step(rung=Rung.CHANNEL, name="brief", status=Status.NOT_TESTABLE, reason=reason)
    return Outcome(
        spec_id=run.code, status=Status.NOT_TESTABLE, rung=Rung.CHANNEL, reason=reason, steps=(step,),
        started=run.started_at or run.slot, duration_ms=0.0,
    )  # fmt: skip
