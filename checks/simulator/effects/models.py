"""Refusals of the model id: unknown, retired, forbidden, unfit, not loaded."""

from __future__ import annotations

from checks.simulator.effects import Effect, canned, error, on_chat
from checks.simulator.families import azure, engines, relays
from checks.simulator.families.local import lmstudio_error, ollama_error

UTF8_JSON = "application/json; charset=utf-8"

model_missing: dict[str, Effect] = {
    "vllm": on_chat(
        lambda call: engines.vllm_error(
            404, "NotFoundError", f"The model `{call.model}` does not exist.", "model"
        )
    ),
    "openai": on_chat(
        canned(
            404,
            error(
                "The model `{model}` does not exist or you do not have access to it.",
                "invalid_request_error",
                "model_not_found",
            ),
        )
    ),
    "deepseek": on_chat(
        canned(400, error("Model Not Exist", "invalid_request_error", "invalid_request_error"))
    ),
    "litellm-proxy": on_chat(
        canned(
            400,
            {
                "error": {
                    "message": "/chat/completions: Invalid model name passed in model={model}.",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "400",
                }
            },
        )
    ),
    "ollama": on_chat(
        lambda call: ollama_error(404, f'model "{call.model}" not found, try pulling it first')
    ),
    "vendor": on_chat(canned(400, {"code": 20012, "message": "Model does not exist.", "data": None})),
}
no_channel: dict[str, Effect] = {
    "one-api": on_chat(lambda call: relays.no_channel(call, "one_api_error")),
    "new-api": on_chat(lambda call: relays.no_channel(call, "new_api_error")),
}
model_retired = on_chat(
    canned(
        400,
        error(
            "The model `{model}` has been decommissioned. Move to its successor.",
            "invalid_request_error",
            "model_decommissioned",
        ),
    )
)
prefix_wanted = on_chat(
    canned(
        400,
        error(
            "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying "
            "to call. You passed model={model}",
            "invalid_request_error",
            "400",
        ),
    )
)
deployment_missing = on_chat(
    lambda call: azure.error(
        404, "DeploymentNotFound", "The API deployment for this resource does not exist."
    )
)
model_forbidden: dict[str, Effect] = {
    "openai": on_chat(
        canned(
            403,
            error(
                "Project `proj_000000` does not have access to model `{model}`",
                "invalid_request_error",
                "model_not_found",
            ),
        )
    ),
    "one-api": on_chat(
        lambda call: relays.relay_error(call, 403, f"该令牌无权使用模型：{call.model}", "one_api_error")
    ),
}
model_not_open = on_chat(
    canned(
        404,
        {
            "error": {
                "code": "ModelNotOpen",
                "message": "This account has not activated the model {model}. Activate it first.",
                "param": "",
                "type": "NotFound",
            }
        },
        UTF8_JSON,
    )
)
embedding_model: dict[str, Effect] = {
    "vendor": on_chat(
        canned(
            400,
            error(
                "Model '{model}' is an embedding model and cannot be used with the "
                "chat/completions endpoint. Use the /embeddings endpoint instead.",
                "invalid_request_error",
            ),
        )
    ),
    "ollama": on_chat(lambda call: ollama_error(400, f'"{call.model}" does not support chat')),
}
nothing_loaded = on_chat(
    lambda call: lmstudio_error(404, "No models loaded. Load one on the developer page.")
)
