"""What each rung of a profile does, in sentences, and what a dry run costs."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import template
from django.utils.translation import gettext, ngettext

from panel.templatetags import clock, words

register = template.Library()

RUNGS = (1, 2, 3, 4, 5)


class Planned(NamedTuple):
    """One rung as a recipe has it climbed: from where, and what happens there."""

    number: int
    places: list[str]
    lines: list[str]


@register.simple_tag
def plan(recipe: Any, generation: str, kind: str = "") -> list[Planned]:
    """Say what each rung does with a recipe (None: with none), for one kind of lane or, empty, for all."""
    lines = {1: [_network()], 2: [_channel(kind)], 3: [_sdk(recipe)], 4: [_agent(recipe)]}
    lines[5] = _rollout(recipe, generation, kind)
    return [Planned(number, _places(recipe, number), lines[number]) for number in RUNGS]


@register.filter
def cost_sentence(cost: Any) -> str:
    """Say the most that a dry run takes: tokens, GPU time, minutes."""
    minutes = max(1, -(-cost.seconds // 60))
    said = {"tokens": clock.tokens(cost.tokens), "minutes": minutes, "gpu": cost.gpu_seconds}
    if not cost.gpu_seconds:
        sentence = ngettext(
            "at most %(tokens)s tokens and %(minutes)d minute; no GPU time",
            "at most %(tokens)s tokens and %(minutes)d minutes; no GPU time",
            minutes,
        )
        return sentence % said
    sentence = ngettext(
        "at most %(tokens)s tokens, %(gpu)d GPU seconds and %(minutes)d minute",
        "at most %(tokens)s tokens, %(gpu)d GPU seconds and %(minutes)d minutes",
        minutes,
    )
    return sentence % said


def _places(recipe: Any, number: int) -> list[str]:
    """Return from where a rung is climbed: the first two as the recipe says, others where their parts are."""
    panel = gettext("the panel")
    if recipe is None or recipe.host is None:
        return [panel]
    host = gettext("host %(name)s") % {"name": recipe.host.name}
    if number <= 2:
        return {"worker": [panel], "host": [host]}.get(recipe.where, [panel, host])
    if number == 4:
        return [host if recipe.agent else panel]
    return [host] if number == 3 else [panel, host]


def _network() -> str:
    return gettext("Looks the name up, connects, and checks certificate and proxies.")


def _channel(kind: str) -> str:
    if kind == "rollout":
        return gettext("Asks for one small completion with token ids and log-probabilities.")
    return gettext("Asks for one small completion, and for what the lane needs besides it.")


def _sdk(recipe: Any) -> str:
    clients = words.listed(recipe.clients) if recipe and recipe.clients else ""
    if not clients:
        return gettext("Loads the exported bundle in a clean process and calls with the client of the lane.")
    return gettext("Loads the exported bundle in a clean process and calls with %(clients)s.") % {
        "clients": clients
    }


def _agent(recipe: Any) -> str:
    if recipe is None or recipe.host is None or not recipe.agent:
        return gettext("The reference agent answers a question over a small database, with tools.")
    said = {"agent": recipe.agent, "n": recipe.agent_deadline_s}
    return gettext("Imports %(agent)s, builds it, and asks it one question within %(n)d s.") % said


def _rollout(recipe: Any, generation: str, kind: str) -> list[str]:
    lines = []
    prompts, samples = (recipe.prompts, recipe.samples) if recipe else (2, 2)
    if kind in ("", "rollout"):
        lines.append(
            gettext("Draws %(samples)d samples of each of %(prompts)d prompts; reads ids, lengths and speed.")
            % {"prompts": prompts, "samples": samples}
        )
    if generation == "1.x":
        lines.append(
            gettext("At a gateway: makes a rollout of its own, calls, reads what was kept, and deletes it.")
        )
    if recipe and recipe.host and recipe.command:
        lines.append(
            gettext("Runs %(program)s for at most %(n)d s and ends all that it started.")
            % {"program": recipe.command[0], "n": recipe.command_deadline_s}
        )
    return lines or [gettext("Nothing is asked of this lane here.")]
