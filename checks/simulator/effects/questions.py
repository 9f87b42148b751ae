"""Refusals of what was asked: parameters, lengths, tools, tokens."""

from __future__ import annotations

from typing import Any

from checks.simulator.call import Call
from checks.simulator.completions import completion, reshaped
from checks.simulator.effects import Effect, Proceed, canned, error, flat, on_chat
from checks.simulator.families import engines
from checks.simulator.families.local import ollama_error
from checks.simulator.http import Answer

TEXT = "text/plain; charset=utf-8"


image_refused: dict[str, Effect] = {
    "deepseek": on_chat(
        canned(
            422,
            "Failed to deserialize the JSON body into the target type: messages[0]: unknown "
            "variant `image_url`, expected `text` at line 1 column 90",
            TEXT,
        )
    ),
    "vllm": on_chat(
        lambda call: engines.vllm_error(400, "BadRequestError", f"{call.model} is not a multimodal model")
    ),
}
LENGTH_NAMES = ("max_tokens", "max_completion_tokens")


def _no_length(call: Call) -> Answer:
    names = [name for name in LENGTH_NAMES if name in call.asked]
    if not names:
        return completion(call)
    text = f"Unsupported parameter: '{names[0]}' is not taken by this model."
    return canned(400, error(text, "invalid_request_error", "unsupported_parameter", names[0]))(call)


def _new_name_only(call: Call) -> Answer:
    return _no_length(call) if "max_tokens" in call.asked else completion(call)


length_refused = on_chat(_no_length)
length_renamed = on_chat(_new_name_only)
new_length_refused = on_chat(
    canned(
        400,
        flat(
            "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), "
            "'msg': 'Extra inputs are not permitted'}]"
        ),
    )
)
temperature_refused = on_chat(
    canned(
        400,
        error(
            "Unsupported value: 'temperature' takes only its default (1) with this model.",
            "invalid_request_error",
            "unsupported_value",
            "temperature",
        ),
    )
)
extra_refused: dict[str, Effect] = {
    "vllm": on_chat(
        canned(
            400,
            flat(
                "[{'type': 'extra_forbidden', 'loc': ('body', 'chat_template_kwargs'), "
                "'msg': 'Extra inputs are not permitted'}]"
            ),
        )
    ),
    "vendor": on_chat(
        canned(
            422,
            {
                "object": "error",
                "type": "invalid_request_error",
                "param": None,
                "code": None,
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "input": {},
                            "loc": ["body", "chat_template_kwargs"],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                },
            },
        )
    ),
}
schema_refused = on_chat(
    canned(
        422,
        "Failed to deserialize the JSON body into the target type: response_format: response_format.type "
        "`json_schema` is unavailable now at line 1 column 200",
        TEXT,
    )
)
parts_refused = on_chat(
    canned(
        422,
        "Failed to deserialize the JSON body into the target type: messages[0]: invalid type: sequence, "
        "expected a string at line 1 column 60",
        TEXT,
    )
)
role_refused: dict[str, Effect] = {
    "deepseek": on_chat(
        canned(
            400,
            error(
                "messages[0].role: unknown variant `developer`, expected one of `system`, "
                "`user`, `assistant`, `tool`",
                "invalid_request_error",
                "invalid_request_error",
            ),
        )
    ),
    "vllm": on_chat(canned(400, flat("Conversation roles must alternate user/assistant/user/assistant/..."))),
}
reasoning_wanted = on_chat(
    canned(
        400,
        error(
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "invalid_request_error",
            "invalid_request_error",
        ),
        "application/octet-stream",
    )
)
body_unread = on_chat(
    canned(
        400,
        error(
            "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed",
            "Bad Request",
            400,
        ),
    )
)

prompt_too_long: dict[str, Effect] = {
    "vllm": on_chat(
        lambda call: engines.vllm_error(
            400,
            "BadRequestError",
            "This model's maximum context length is 16 tokens. However, your prompt contains at least 17.",
            "input_tokens",
        )
    ),
    "sglang": on_chat(
        lambda call: engines.sglang_error(
            "The input (17 tokens) is longer than the model's context length (16 tokens)."
        )
    ),
    "openai": on_chat(
        canned(
            400,
            error(
                "This model's maximum context length is 16 tokens. However, you requested "
                "273 tokens (17 in the messages, 256 in the completion).",
                "invalid_request_error",
                "context_length_exceeded",
                "messages",
            ),
        )
    ),
}
answer_too_long = on_chat(
    canned(
        400,
        error(
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "invalid_request_error",
            "invalid_request_error",
        ),
    )
)

tools_refused = on_chat(lambda call: ollama_error(400, f"library/{call.model} does not support tools"))
tool_choice_refused = on_chat(
    canned(
        400,
        error(
            "Thinking mode does not support this tool_choice",
            "invalid_request_error",
            "invalid_request_error",
        ),
    )
)
history_refused = on_chat(
    canned(
        400,
        error(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. (insufficient tool messages)",
            "invalid_request_error",
            "invalid_request_error",
        ),
    )
)


def _calls_as_text(body: dict[str, Any]) -> None:
    choice = body["choices"][0]
    calls = choice["message"].get("tool_calls") or []
    written = [
        f"<tool_call>\n<function={one['function']['name']}>\n</function>\n</tool_call>" for one in calls
    ]
    choice["message"] = {"role": "assistant", "content": "\n".join(written), "tool_calls": []}
    choice["finish_reason"] = "stop"


def _arguments_cut(body: dict[str, Any]) -> None:
    for one in body["choices"][0]["message"].get("tool_calls") or []:
        one["function"]["arguments"] = '{"query": "SELECT '


calls_as_text = on_chat(lambda call: reshaped(completion(call), _calls_as_text))
arguments_cut = on_chat(lambda call: reshaped(completion(call), _arguments_cut))
parser_off = on_chat(
    lambda call: engines.vllm_error(
        400,
        "BadRequestError",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    )
)
template_missing = on_chat(
    canned(
        400,
        error(
            "As of transformers v4.44, default chat template is no longer allowed, so you must provide a "
            "chat template if the tokenizer does not define one.",
            "BadRequestError",
            400,
        ),
    )
)


def ids_dropped(call: Call, proceed: Proceed) -> Answer:
    """The healthy answer without the log-probs and token ids that were asked for."""
    return reshaped(proceed(), _without_ids)


def _without_ids(body: dict[str, Any]) -> None:
    body.pop("prompt_token_ids", None)
    for choice in body.get("choices", []):
        choice["logprobs"] = None
        for name in ("token_ids", "prompt_token_ids", "response_token_ids"):
            choice.pop(name, None)
