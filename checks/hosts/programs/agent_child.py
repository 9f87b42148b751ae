"""Runs in the project's own Python: imports the agent, builds it, asks it one question, tells each stage.

Its text goes to that Python as an argument, after the project's environment was loaded; two descriptors
follow: one to read what is asked, one to tell on. Standard library, Python 3.8+, and agentlightning where
the project has it.

How the question finds its way in, the first that fits:

1. An instance of `agentlightning.LitAgent` (0.x), where agentlightning brings `LitAgentRunner`: one
   `runner.step` with an in-memory store and the relay as resource "main_llm". The reward is the one that
   the spans carry.
2. Something with `rollout` or `training_rollout` (or either with `_async`) but no such runner: called
   with (task, resources, rollout) as 0.x does. What it returns is the reward where it is a number.
3. Something with `run`: as the 1.x controller does, without an argument; the question stands in the
   environment under the field's name in capitals (QUESTION), and as JSON in PREFLIGHT_INPUT. A `run` that
   wants an argument is given the question. The reward is the event that it posts to AGL_EVENT_URL.
4. Something with `answer`, `ask`, `invoke` or `predict`, or that can be called itself: given the question.

What is awaitable is awaited. A class is built without arguments first; a function or an instance is taken
as it is.
"""

import asyncio
import importlib
import inspect
import json
import math
import os
import sys
import time
import traceback
import types

MAX_TEXT = 2000
MAX_FRAMES = 6
MAX_CHAIN = 8
MAX_SHOWN = 500
BASE_URLS = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "AGL_OPENAI_BASE_URL", "AGL_BASE_URL")
ROLLOUTS = ("rollout", "training_rollout", "rollout_async", "training_rollout_async")
ASKED = ("answer", "ask", "invoke", "predict")


def main(asked, tell):
    """Go through the stages up to the first that fails; each is told once, with its seconds."""
    tell({"stage": "environment", "base_urls": _point_at_relay(asked)})
    workdir = os.getcwd()
    if workdir not in sys.path[:1]:
        sys.path[0:1] = [workdir]
    found = _stage(tell, "import", lambda: _imported(asked["agent"]))
    if found is None:
        return
    agent = _stage(tell, "construct", lambda: _constructed(found[0], found[1]))
    if agent is None:
        return
    _stage(tell, "answer", lambda: _answered(agent[0], asked), _shown)


def _stage(tell, name, work, shown=None):
    """Do one part; tell that it began, and how it ended. Returns None where it failed."""
    tell({"stage": name, "begun": True})
    begun = time.monotonic()
    try:
        value = work()
    except BaseException as error:  # noqa: BLE001 - whatever a project raises, SystemExit too, is told
        tell(dict({"stage": name, "ok": False, "seconds": time.monotonic() - begun}, **_told_of(error)))
        return None
    extra = shown(value) if shown else {}
    tell(dict({"stage": name, "ok": True, "seconds": time.monotonic() - begun}, **extra))
    return (value,) if name != "import" else value


def _told_of(error):
    chain, link = [], error
    while link is not None and len(chain) < MAX_CHAIN:
        chain.append(["%s.%s" % (type(link).__module__, type(link).__qualname__), str(link)[:MAX_TEXT]])
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    last = error.__traceback__
    frames = traceback.extract_tb(last)[-MAX_FRAMES:] if last else []
    places = ["%s:%s in %s" % (_brief(one.filename), one.lineno, one.name) for one in frames]
    return {"error": type(error).__name__, "chain": chain, "frames": places}


def _brief(path):
    inside = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path
    return inside[-160:]


def _point_at_relay(asked):
    """Let every variable that names the lane's base URL name the relay; return where the known ones led."""
    lane = asked["base_url"].rstrip("/")
    led = {name: os.environ[name][:300] for name in BASE_URLS if name in os.environ}
    for name, value in list(os.environ.items()):
        if value.rstrip("/") == lane:
            os.environ[name] = asked["relay"]
    os.environ["AGL_OPENAI_BASE_URL"] = asked["relay"]  # a controller overwrites these three as well
    os.environ["AGL_EVENT_URL"] = asked["event_url"]
    os.environ.setdefault("AGL_KEY", os.environ.get("OPENAI_API_KEY", ""))
    os.environ[asked["question_field"].upper()] = asked["question"]
    os.environ["PREFLIGHT_INPUT"] = json.dumps({asked["question_field"]: asked["question"]})
    return led


def _imported(name):
    """Import the module of "package.module:Class" or "package.module.Class"; return it and the rest."""
    module, colon, attribute = name.partition(":")
    if not colon:
        module, _, attribute = name.rpartition(".")
    return importlib.import_module(module), attribute


def _constructed(module, attribute):
    found = module
    for part in attribute.split("."):
        found = getattr(found, part)
    return found() if inspect.isclass(found) else found


def _answered(agent, asked):
    """Ask by the first way that fits, as the docstring of this module lists them."""
    task = {asked["question_field"]: asked["question"]}
    runner = _runner_for(agent)
    if runner is not None:
        return "runner", _finished(_stepped(runner, agent, task, asked))
    for name in ROLLOUTS:
        if _has(agent, name):
            return "rollout", _finished(getattr(agent, name)(task, *_stand_ins(asked)))
    if _has(agent, "run"):
        wanted = [asked["question"]] if _wants_argument(agent.run) else []
        return "run", _finished(agent.run(*wanted))
    for name in ASKED:
        if _has(agent, name):
            return name, _finished(getattr(agent, name)(asked["question"]))
    return "call", _finished(agent(asked["question"]))


def _has(agent, name):
    return callable(getattr(agent, name, None))


def _finished(value):
    if not inspect.isawaitable(value):
        return value

    async def wait():
        return await value

    return asyncio.run(wait())


def _wants_argument(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(one.kind in positional and one.default is inspect.Parameter.empty for one in parameters)


def _runner_for(agent):
    """agentlightning 0.2 or 0.3 where the agent is one of its own; None otherwise."""
    library = sys.modules.get("agentlightning")
    needed = ("LitAgent", "LitAgentRunner", "InMemoryLightningStore", "LLM", "OtelTracer")
    if library is None or not all(hasattr(library, name) for name in needed):
        return None
    return library if isinstance(agent, library.LitAgent) else None


async def _stepped(library, agent, task, asked):
    """One rollout through the project's own runner; returns its final reward, None where it has none."""
    store = library.InMemoryLightningStore()
    runner = library.LitAgentRunner(library.OtelTracer())
    model = library.LLM(
        endpoint=asked["relay"], model=asked["model"], api_key=os.environ.get("OPENAI_API_KEY")
    )
    with runner.run_context(agent=agent, store=store):
        rollout = await runner.step(task, resources={"main_llm": model}, mode="val")
        spans = await store.query_spans(rollout.rollout_id)
    return library.find_final_reward(spans)


def _stand_ins(asked):
    """What a 0.x agent looks at in its resources and its rollout."""
    model = types.SimpleNamespace(
        endpoint=asked["relay"],
        model=asked["model"],
        api_key=os.environ.get("OPENAI_API_KEY"),
        sampling_parameters={},
        get_base_url=lambda *_: asked["relay"],
    )
    attempt = types.SimpleNamespace(attempt_id="0", sequence_id=1)
    rollout = types.SimpleNamespace(
        rollout_id="preflight", attempt=attempt, mode="val", task={}, input={}, metadata={}
    )
    return {"main_llm": model}, rollout


def _shown(answered):
    """The way that was taken, what came back, and the number in it where the way gives a reward."""
    way, value = answered[0], answered[1]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    reward = repr(float(value)) if number and way in ("runner", "rollout", "run") else None
    try:
        text = repr(value)[:MAX_SHOWN]
    except Exception:  # noqa: BLE001 - a project's own __repr__ may raise anything
        text = type(value).__name__
    return {"way": way, "empty": _is_empty(value), "value": text, "reward": reward}


def _is_empty(value):
    if isinstance(value, float) and math.isnan(value):
        return True
    return value is None or (isinstance(value, (str, bytes, list, tuple, dict)) and not value)


def _begin():
    """Take over the two descriptors; no process that the project starts shall hold them."""
    reading, writing = int(sys.argv[1]), int(sys.argv[2])
    for descriptor in (reading, writing):
        os.set_inheritable(descriptor, False)
    with os.fdopen(reading, "rb") as pipe:
        asked = json.loads(pipe.read().decode())
    out = os.fdopen(writing, "wb", 0)
    sys.argv[1:] = []

    def tell(event):
        out.write(json.dumps(event, ensure_ascii=True, default=str).encode() + b"\n")

    main(asked, tell)


if __name__ == "__main__":
    _begin()
