"""The words of rungs 3 to 5, and of what a dry run saw there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy

from panel.history import RungView, StepView

UPPER_STEPS: dict[str, Promise] = {
    "host": pgettext_lazy("step", "Login to the host"),
    "environment": pgettext_lazy("step", "Environment on the host"),
    "env_file": pgettext_lazy("step", "Environment file"),
    "proxies": pgettext_lazy("step", "Proxies on the host"),
    "sdk": pgettext_lazy("step", "Client libraries"),
    "sdk_openai": pgettext_lazy("step", "openai"),
    "sdk_langchain": pgettext_lazy("step", "langchain-openai"),
    "sdk_litellm": pgettext_lazy("step", "litellm"),
    "agent": pgettext_lazy("step", "Agent"),
    "agent_import": pgettext_lazy("step", "Import of the agent"),
    "agent_construct": pgettext_lazy("step", "Construction of the agent"),
    "agent_answer": pgettext_lazy("step", "Agent's answer"),
    "dry_samples": pgettext_lazy("step", "Samples as in training"),
    "dry_reward": pgettext_lazy("step", "Rewards of the samples"),
    "gateway_health": pgettext_lazy("step", "Health of the gateway"),
    "gateway_state": pgettext_lazy("step", "State of the gateway"),
    "gateway_train": pgettext_lazy("step", "Training call through the gateway"),
    "gateway_val": pgettext_lazy("step", "Validation call through the gateway"),
    "gateway_reward": pgettext_lazy("step", "Reward at the gateway"),
    "triplets": pgettext_lazy("step", "Triplets read back"),
    "gateway_removed": pgettext_lazy("step", "Rollout removed"),
    "controller": pgettext_lazy("step", "Controller on the host"),
    "controller_triplets": pgettext_lazy("step", "Triplets of the controller"),
    "legacy": pgettext_lazy("step", "Recipe of 0.x"),
    "legacy_triplets": pgettext_lazy("step", "Triplets of 0.x"),
    "rollout": pgettext_lazy("step", "Rollout dry run"),
    "command": pgettext_lazy("step", "Command"),
    "leftovers": pgettext_lazy("step", "What was left running"),
    "gpu_memory": pgettext_lazy("step", "GPU memory before, at most, after"),
    "tidied_host": pgettext_lazy("step", "Host tidied up"),
    "tidied_gateway": pgettext_lazy("step", "Gateway tidied up"),
}
# What else a step says, by the names that the engine gives its facts; others stay in the evidence.
FACTS: dict[str, Promise] = {
    "version": pgettext_lazy("fact of a step", "version"),
    "base_url": pgettext_lazy("fact of a step", "base URL"),
    "base_urls": pgettext_lazy("fact of a step", "base URLs"),
    "key_tail": pgettext_lazy("fact of a step", "key ends in"),
    "model": pgettext_lazy("fact of a step", "model"),
    "retries": pgettext_lazy("fact of a step", "retries"),
    "agent": pgettext_lazy("fact of a step", "agent"),
    "turns": pgettext_lazy("fact of a step", "turns"),
    "calls": pgettext_lazy("fact of a step", "calls"),
    "failed": pgettext_lazy("fact of a step", "failed"),
    "answer": pgettext_lazy("fact of a step", "answer"),
    "reward": pgettext_lazy("fact of a step", "reward"),
    "rewards": pgettext_lazy("fact of a step", "rewards"),
    "mean": pgettext_lazy("fact of a step", "mean"),
    "asked": pgettext_lazy("fact of a step", "asked"),
    "passed": pgettext_lazy("fact of a step", "passed"),
    "usable": pgettext_lazy("fact of a step", "usable"),
    "longest_prompt": pgettext_lazy("fact of a step", "longest prompt"),
    "longest_answer": pgettext_lazy("fact of a step", "longest answer"),
    "cut": pgettext_lazy("fact of a step", "cut off"),
    "tokens_per_second": pgettext_lazy("fact of a step", "tokens a second"),
    "ttft_ms": pgettext_lazy("fact of a step", "first token after, ms"),
    "program": pgettext_lazy("fact of a step", "program"),
    "exit": pgettext_lazy("fact of a step", "exit code"),
    "errors": pgettext_lazy("fact of a step", "errors"),
    "processes": pgettext_lazy("fact of a step", "processes"),
    "rollouts": pgettext_lazy("fact of a step", "rollouts"),
}
FIRST_UPPER_RUNG = 3
LONGEST_FACT = 160


def step_details(step: StepView) -> str:
    """Return what a step of the upper rungs saw, in one line; empty for lower rungs, whose line says it."""
    if step.rung < FIRST_UPPER_RUNG:
        return ""
    if step.name == "gpu_memory":
        return _gpu_memory(step.say)
    pairs = ((FACTS[name], value) for name, value in step.say.items() if name in FACTS and value)
    return " · ".join(
        gettext("%(name)s: %(value)s") % {"name": name, "value": value[:LONGEST_FACT]}
        for name, value in pairs
    )


def places_worth_saying(rung: RungView, usual: str) -> list[str]:
    """Return from where a rung was climbed, where that is not the run's own place alone."""
    places = [place for place in getattr(rung, "places", ()) if place]
    return [] if places == [usual] else places


def leftover_said(leftover: object, now: datetime) -> str:
    """Say what became of what a dry run left elsewhere when its worker was lost."""
    settled, tried = getattr(leftover, "settled_at", None), getattr(leftover, "next_try_at", None)
    if settled is not None:
        return gettext("Its worker was lost; all was cleaned up by %(time)s") % {"time": _clock(settled)}
    if tried is not None:
        said = {"time": _clock(max(tried, now))}
        return gettext("Its worker was lost; what it left is cleaned up at %(time)s") % said
    return gettext("Its worker was lost, and what it left could not be removed: look at host and gateway")


def _clock(value: datetime) -> str:
    return f"{timezone.localtime(value):%H:%M:%S}"


def _gpu_memory(say: Mapping[str, str]) -> str:
    gpus = ((name.removeprefix("gpu"), value) for name, value in say.items() if name[3:].isdecimal())
    return " · ".join(gettext("GPU %(n)s: %(value)s") % {"n": n, "value": value} for n, value in gpus)
