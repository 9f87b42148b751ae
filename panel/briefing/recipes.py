"""What a climb above the second rung needs besides its lane: recipe, clients and bundle."""

from __future__ import annotations

from checks.dialects import Unwritable
from checks.spec import ClientSpec, Masked
from checks.spec import Recipe as RecipeSpec
from panel.briefing.keys import open_key
from panel.client_environments import available
from panel.exports.formats import FORMATS
from panel.exports.rows import bundle_of, lanes_of
from panel.models import KeyVersion, Lane, Profile, Recipe

KILOBYTE = 1024


def recipe_spec(recipe: Recipe, generation: str) -> RecipeSpec:
    """Return the recipe as the engine takes it."""
    return RecipeSpec(
        generation=generation,
        workdir=recipe.workdir,
        python=recipe.python,
        activate=recipe.activate,
        agent=recipe.agent,
        question=recipe.question,
        question_field=recipe.question_field,
        agent_deadline=float(recipe.agent_deadline_s),
        prompts=recipe.prompts,
        samples=recipe.samples,
        even_when_busy=recipe.even_when_busy,
        command=tuple(recipe.command),
        command_deadline=float(recipe.command_deadline_s),
        output_cap=recipe.output_cap_kb * KILOBYTE,
        gpus=tuple(int(number) for number in recipe.gpus.split(",") if number.strip()),
        model_path=recipe.model_path,
        tensor_parallel=recipe.tensor_parallel,
    )


def shell_bundle(profile: Profile) -> tuple[Masked | None, tuple[Masked, ...]]:
    """Return the file that the team would export for a shell, with its keys, and those keys: two queries.

    The file is None where a value does not fit a shell's file; the export page says which. A key that was
    sealed for another origin, or does not open, is left out.
    """
    opened: list[Masked] = []

    def key_of(version: KeyVersion) -> Masked | None:
        if version.origin != version.endpoint.origin:
            return None
        key = open_key(version, version.endpoint, profile.team)
        opened.extend([key] if key else [])
        return key

    bundle = bundle_of(
        profile, lanes_of(profile, Lane.Kind.values, key_of), team=profile.team.name, with_keys=True
    )
    try:
        text = Masked(FORMATS["sh"].render(bundle))
    except Unwritable:
        return None, tuple(opened)
    return text, tuple(opened)


def clients_of(recipe: Recipe | None) -> tuple[ClientSpec, ...]:
    """Return the client libraries that the recipe names, with their interpreters where installed."""
    return available(tuple(recipe.clients) if recipe else ())
