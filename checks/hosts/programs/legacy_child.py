"""Runs in the project's own Python: one dry run of Agent-Lightning 0.x with its Trainer, proxy and store.

Its text goes to that Python as an argument, after the project's environment was loaded; two descriptors
follow: one to read what is asked, one to tell on. Standard library, and agentlightning 0.3.x where the
project has it. Told, one JSON object a line: "versions", "unfit", "stage", "rollout", "error".

The recipe is the one that yields token ids without a GPU (measured with 0.3.0): `Trainer.dev`, an `LLMProxy`
before the endpoint, and a `ProxyLLM` as the resource "main_llm". Nothing is trained.
"""

import importlib
import importlib.metadata
import json
import os
import socket
import sys
import traceback

MAX_TEXT = 2000
GENERATION = ("0", "3")
# What breaks 0.3.0 (measured): from litellm 1.104 its proxy refuses to start without a master key; exporters
# of 1.45 lose every span.
BELOW = {"litellm": (1, 104), "opentelemetry-sdk": (1, 43), "opentelemetry-exporter-otlp": (1, 43)}
PINS = ("agentlightning==0.3.0", "litellm[proxy]<1.104", "opentelemetry-*<=1.42.1")
UPSTREAM_KEY = "PREFLIGHT_UPSTREAM_KEY"
TOLD = None


def tell(event, **values):
    """One line on the descriptor that was given."""
    TOLD.write((json.dumps(dict(values, event=event), default=str) + "\n").encode())


def main(asked):
    """Go through the stages; what fails is told with its stage."""
    versions = {name: _version(name) for name in ("agentlightning", *BELOW)}
    tell("versions", versions=versions, python=".".join(map(str, sys.version_info[:3])))
    unfit = _unfit(versions)
    if unfit:
        tell("unfit", packages=unfit, pins=PINS)
        return
    os.environ[UPSTREAM_KEY] = asked["key"] or "none"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the internet for prices, for 30 s
    os.environ.pop("LITELLM_MASTER_KEY", None)  # with one the proxy's own health check is refused
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1", "localhost")))
    stage = "import"
    try:
        agl = importlib.import_module("agentlightning")
        agent = _agent(agl, asked)
        tell("stage", stage="import")
        stage = "run"
        _dev(agl, agent, asked)
        tell("stage", stage="end")
    except Exception as error:  # noqa: BLE001 - told to who asked, whatever it is
        text = traceback.format_exc()[-MAX_TEXT:]
        tell("error", stage=stage, error=type(error).__name__, text=str(error)[:MAX_TEXT], trace=text)


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _unfit(versions):
    """The packages that cannot do it, with what they are."""
    found = {}
    if tuple(versions["agentlightning"].split(".")[:2]) != GENERATION:
        found["agentlightning"] = versions["agentlightning"] or "none"
    for name, limit in BELOW.items():
        numbers = tuple(int(part) for part in versions[name].split(".")[:2] if part.isdigit())
        if numbers and numbers >= limit:
            found[name] = versions[name]
    return found


def _agent(agl, asked):
    """The team's agent, or one of ours that asks one question and is content with any answer."""
    if not asked["agent"]:
        return agl.rollout(ask_once)
    sys.path[0:1] = [os.getcwd()]
    module, _, name = asked["agent"].replace(":", ".").rpartition(".")
    found = getattr(importlib.import_module(module), name)
    agent = found() if isinstance(found, type) else found
    if not isinstance(agent, agl.LitAgent):
        raise TypeError("%s is no agentlightning.LitAgent" % asked["agent"])
    return agent


def ask_once(task, llm):
    """One short question through the proxy; the reward is that an answer came."""
    from openai import OpenAI

    client = OpenAI(base_url=llm.endpoint, api_key=llm.api_key or "none", max_retries=0)
    question = [{"role": "user", "content": next(iter(task.values()))}]
    answer = client.chat.completions.create(model=llm.model, messages=question, max_tokens=64)
    return 1.0 if answer.choices else 0.0


def _dev(agl, agent, asked):
    ports = [_free_port(), _free_port()]
    model = asked["model"]
    upstream = {
        "model": "hosted_vllm/" + model,
        "api_base": asked["base_url"],
        # By name: the proxy writes its settings to a file.
        "api_key": "os.environ/" + UPSTREAM_KEY,
    }
    proxy = agl.LLMProxy(
        port=ports[0],
        host="127.0.0.1",
        model_list=[{"model_name": model, "litellm_params": upstream}],
    )
    resource = agl.ProxyLLM(endpoint="http://127.0.0.1:%d" % ports[0], model=model)
    trainer = agl.Trainer(
        n_runners=1,
        llm_proxy=proxy,
        initial_resources={"main_llm": resource},
        port=ports[1],
        algorithm=_telling(agl)(polling_interval=1.0, span_verbosity="none"),
    )
    sample = {asked["question_field"] or "question": asked["question"]}
    trainer.dev(agent, [sample], val_dataset=[sample])


def _telling(agl):
    """The usual development algorithm, which also tells what a trainer would make of each rollout."""

    class Telling(agl.Baseline):
        async def _handle_rollout_finish(self, rollout):
            spans = await self.get_store().query_spans(rollout_id=rollout.rollout_id, attempt_id="latest")
            triplets = self.get_adapter().adapt(spans)
            tell(
                "rollout",
                mode=rollout.mode,
                status=rollout.status,
                spans=len(spans),
                triplets=[_counts(one) for one in triplets[:20]],
            )

    return Telling


def _counts(triplet):
    """How many ids a triplet holds, and its reward."""
    lengths = {
        name: len((part or {}).get("token_ids") or []) if isinstance(part, dict) else 0
        for name, part in (("prompt", triplet.prompt), ("response", triplet.response))
    }
    return dict(lengths, reward=triplet.reward)


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1]), "rb") as pipe:
        request = json.loads(pipe.read().decode())
    TOLD = os.fdopen(int(sys.argv[2]), "wb", 0)
    main(request)
