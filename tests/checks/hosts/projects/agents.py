"""Agents of every manner: honest ones, one that swallows errors, one that hangs, one that goes elsewhere."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from types import SimpleNamespace
from typing import Any

from talking import complete, reward


class Honest:
    """Answers; what fails is raised."""

    def answer(self, question: str) -> str:
        return complete(question)


class Swallowing:
    """Catches whatever happens, tries once more, and returns nothing: as sql_agent.py of 0.x does."""

    def answer(self, question: str) -> str | None:
        for _ in range(2):
            try:
                return complete(question)
            except Exception as error:  # noqa: BLE001 - what this agent is here for
                print(f"Error during agent invocation: {error}")
        return None


class Shaky:
    """Asks for a model that is not there first, and goes on with the right one."""

    def answer(self, question: str) -> str:
        right = os.environ["MODEL"]
        os.environ["MODEL"] = "no-such-model"
        try:
            complete(question)
        except OSError:
            os.environ["MODEL"] = right
        return complete(question)


class Demanding:
    """Cannot be built without being told where its data is."""

    def __init__(self, folder: str) -> None:
        self.folder = folder


class Hanging:
    """Ignores the request to end, and so does the child it starts."""

    def answer(self, question: str) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
        os.write(1, b"hanging %d\n" % os.getpid())
        time.sleep(60)


class Rollout:
    """As 1.x runs it: no arguments, the question in the environment, a reward as an event."""

    async def run(self) -> None:
        said = await asyncio.to_thread(
            complete, os.environ["QUESTION"], base="AGL_OPENAI_BASE_URL", key="AGL_KEY"
        )
        await asyncio.to_thread(reward, float(bool(said)))


class Unrewarded:
    """As 1.x runs it, and it forgets the reward."""

    def run(self) -> None:
        complete(os.environ["QUESTION"])


class Undefined:
    """As 1.x runs it, with a reward that is no number."""

    def run(self) -> None:
        complete(os.environ["QUESTION"])
        reward(float("nan"))


class Looping:
    """Asks again and again."""

    def answer(self, question: str) -> str:
        try:
            while True:
                complete(question)
        except OSError as error:
            return str(error)


class Older:
    """As 0.x runs it: the model's address comes as a resource, the reward is returned."""

    def rollout(self, task: dict[str, Any], resources: dict[str, Any], rollout: SimpleNamespace) -> float:
        model = resources["main_llm"]
        os.environ["FROM_RESOURCES"] = model.get_base_url(rollout.rollout_id, rollout.attempt.attempt_id)
        return 0.5 if complete(task["question"], base="FROM_RESOURCES") else 0.0


class Elsewhere:
    """Takes its base URL from a file of its own, past the profile."""

    def answer(self, question: str) -> str:
        os.environ["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
        return complete(question)


class Leaving:
    """Ends the process in the middle of its work, with success."""

    def answer(self, question: str) -> None:
        os._exit(0)


class Mute:
    """Answers from memory, without a call."""

    def answer(self, question: str) -> str:
        return "42"


class Talkative:
    """Prints its key, as debug output does."""

    def answer(self, question: str) -> str:
        print("using", os.environ["OPENAI_API_KEY"])
        return complete(question)


def asked(question: str) -> str:
    """A function is an agent too."""
    return complete(question)
