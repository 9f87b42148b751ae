"""An agent of Agent-Lightning 0.x, for the real library: needs agentlightning 0.2 or 0.3."""

from __future__ import annotations

import os
from typing import Any

import agentlightning as agl  # type: ignore[import-not-found]
from talking import complete


class Lightning(agl.LitAgent):  # type: ignore[misc]
    """Asks the model that the resources name, and returns the reward."""

    def rollout(self, task: dict[str, Any], resources: dict[str, Any], rollout: Any) -> float:
        os.environ["FROM_RESOURCES"] = resources["main_llm"].endpoint
        return 0.25 if complete(task["question"], base="FROM_RESOURCES") else 0.0
