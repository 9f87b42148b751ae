"""What a deep climb may take at most: tokens, seconds, seconds of GPUs. Upper bounds, not forecasts."""

from __future__ import annotations

from dataclasses import dataclass

from panel.models import Endpoint, Lane, Recipe

CLIMB_S = 60.0  # rungs 1 and 2 with all that a lane promises (`panel.briefing.lanes.FULL_CLIMB_S`)
# Seconds that a rung may take beyond the deadlines that a recipe names.
SDK_S, CLIENT_S = 30.0, 30.0
AGENT_S, AGENT_WITHOUT_RECIPE_S = 20.0, 120.0
SAMPLES_S, GATEWAY_S, COMMAND_S, TRAINER_S = 120.0, 120.0, 60.0, 90.0
USUAL_CLIENTS = 3
# Tokens, of the engine's own caps: a question with its answer, the turns of the reference agent
# (`checks.probes.reference`), a sample (`checks.probes.samples`), the gateway's two calls, the two of 0.x.
ROOM = 256
ASKED = 256 + ROOM
CHANNEL = 12 * ASKED
AGENT = 6 * (1024 + 4 * ROOM)
SAMPLE_MOST = 1024
GATEWAY = 2 * (64 + ROOM)
LEGACY = 2 * 512  # `checks.probes.legacy.TOKENS`


@dataclass(frozen=True, slots=True)
class Estimate:
    """At most so many tokens, seconds of GPUs (a command's deadline times its GPUs), and seconds."""

    tokens: int
    gpu_seconds: int
    seconds: int


def estimate(lane: Lane, endpoint: Endpoint | None, recipe: Recipe | None, top_rung: int) -> Estimate:
    """Return what a climb of the lane up to this rung may cost. What the team's agent and command call by
    themselves, nobody can bound: only their time is."""
    tokens = CHANNEL
    if top_rung >= 3:
        tokens += ASKED * _clients(recipe)
    if top_rung >= 4:
        tokens += AGENT
    if top_rung >= 5:
        tokens += _gateway(endpoint, recipe)
        tokens += _samples(lane, recipe)
    seconds = CLIMB_S + deadline_of(recipe, top_rung, _clients(recipe))
    return Estimate(tokens, _gpu_seconds(recipe, top_rung), round(seconds))


def deadline_of(recipe: Recipe | None, top_rung: int, clients: int) -> float:
    """Return the seconds that the rungs above the second may take together."""
    seconds = 0.0
    if top_rung >= 3:
        seconds += SDK_S + CLIENT_S * max(1, clients)
    if top_rung >= 4:
        seconds += AGENT_S + (recipe.agent_deadline_s if recipe else AGENT_WITHOUT_RECIPE_S)
    if top_rung >= 5:
        seconds += SAMPLES_S + GATEWAY_S
        if recipe and recipe.agent:  # again, for training and for validation, or by the trainer of 0.x
            seconds += 2 * recipe.agent_deadline_s + TRAINER_S
        if recipe and recipe.command:
            seconds += recipe.command_deadline_s + COMMAND_S
    return seconds


def _clients(recipe: Recipe | None) -> int:
    return len(recipe.clients) if recipe and recipe.clients else USUAL_CLIENTS


def _gateway(endpoint: Endpoint | None, recipe: Recipe | None) -> int:
    """Our own two calls; what a controller lets the team's agent call is the agent's."""
    if endpoint is not None and endpoint.kind == Endpoint.Kind.GATEWAY:
        return GATEWAY
    return LEGACY if recipe and recipe.host_id and recipe.profile.generation == "0.x" else 0


def _samples(lane: Lane, recipe: Recipe | None) -> int:
    if lane.kind != Lane.Kind.ROLLOUT:
        return 0
    drawn = (recipe.prompts * recipe.samples) if recipe else 4
    return drawn * (ROOM + min(lane.response_length or SAMPLE_MOST, SAMPLE_MOST))


def _gpu_seconds(recipe: Recipe | None, top_rung: int) -> int:
    """An unsaid GPU list is counted as one GPU."""
    if recipe is None or top_rung < 5 or not recipe.command:
        return 0
    gpus = len([number for number in recipe.gpus.split(",") if number.strip()])
    return recipe.command_deadline_s * max(1, gpus)
