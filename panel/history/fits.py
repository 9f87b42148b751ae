"""Whether the models that profiles name fit their host, by what was read there last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from checks.hosts.facts import HostFacts
from checks.hosts.fit import ModelFacts, fit
from checks.hosts.shape import read
from checks.spec import Recipe as RecipeSpec
from panel.history.shapes_hosts import FitView
from panel.models import Lane, Recipe

Lengths = tuple[int | None, int | None]


def fits(
    recipes: Iterable[Recipe], facts: HostFacts | None, models: Mapping[str, Any]
) -> tuple[FitView, ...]:
    """Return a view for each recipe whose model's folder was read: one query, none without such a recipe."""
    read_ones = [recipe for recipe in recipes if recipe.model_path and recipe.model_path in models]
    if facts is None or not read_ones:
        return ()
    lanes = Lane.objects.filter(profile__in=[each.profile_id for each in read_ones], kind=Lane.Kind.ROLLOUT)
    lengths = {lane.profile_id: (lane.prompt_length, lane.response_length) for lane in lanes}
    return tuple(
        _view(recipe, facts, read(ModelFacts, models[recipe.model_path]), lengths.get(recipe.profile_id))
        for recipe in read_ones
    )


def _view(recipe: Recipe, facts: HostFacts, model: ModelFacts, lengths: Lengths | None) -> FitView:
    spec = RecipeSpec(
        generation=recipe.profile.generation,
        gpus=tuple(int(number) for number in recipe.gpus.split(",") if number.strip()),
        tensor_parallel=recipe.tensor_parallel,
    )
    report = fit(facts, model, spec, *(lengths or (None, None)))
    return FitView(
        profile_code=recipe.profile.code,
        profile_name=recipe.profile.name,
        model_path=recipe.model_path,
        status=str(report.status),
        reason=str(report.reason or ""),
        lines=tuple((line.name, str(line.status), line.say) for line in report.lines),
    )
