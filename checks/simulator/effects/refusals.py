"""Refusals of the caller: key, login, policy, money, pace."""

from __future__ import annotations

from checks.simulator.call import Call
from checks.simulator.effects import Effect, anywhere, behind_the_key, canned, error, on_chat
from checks.simulator.families import azure, litellm, relays, vendors
from checks.simulator.families.nginx import error_page
from checks.simulator.http import Answer

ANTHROPIC = {"request_id": "req_000000000000000000000000"}
HTML = "text/html; charset=UTF-8"
CLOUDFLARE = {"server": "cloudflare", "cf-ray": "0000000000000000-XXX"}
UTF8_JSON = "application/json; charset=utf-8"


def relay_says(status: int, text: str, kind: str, **more: str) -> Effect:
    """A relay's error on the chat route."""
    return on_chat(lambda call: relays.relay_error(call, status, text, kind, **more))


def login_refused(text: str, kind: str = "authentication_error") -> Effect:
    """The 401 of an Anthropic-style door, for whatever credential came."""
    return behind_the_key(
        canned(401, {"type": "error", "error": {"type": kind, "message": text}} | ANTHROPIC)
    )


key_refused: dict[str, Effect] = {
    "vllm": behind_the_key(canned(401, {"error": "Unauthorized"})),
    "sglang": behind_the_key(canned(401, {"error": "Unauthorized"})),
    "openai": behind_the_key(vendors.openai_refusal),
    "vendor": behind_the_key(canned(401, error("The API key was not accepted.", "auth", "invalid_api_key"))),
    "deepseek": behind_the_key(
        canned(
            401,
            error(
                "Authentication Fails, Your api key is invalid",
                "authentication_error",
                "invalid_request_error",
            ),
        )
    ),
    "one-api": behind_the_key(lambda call: relays.relay_error(call, 401, "无效的令牌", "one_api_error")),
    "new-api": behind_the_key(lambda call: relays.relay_error(call, 401, "无效的令牌", "new_api_error")),
    "litellm-proxy": behind_the_key(litellm.refusal),
    "azure": behind_the_key(lambda call: azure.refusal()),
    "agl-gateway": behind_the_key(canned(401, {"detail": "Invalid or missing API key"})),
}
"""The key is refused though it is the right one here: each family in its own words."""

key_refused_in_a_400 = behind_the_key(
    canned(
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "API key not valid. Pass a valid API key.",
                    "status": "INVALID_ARGUMENT",
                    "details": [{"@type": "type.example/ErrorInfo", "reason": "API_KEY_INVALID"}],
                }
            }
        ],
    )
)
no_database = behind_the_key(litellm.refusal_without_database)
header_dropped: dict[str, Effect] = {
    "openai": behind_the_key(
        canned(
            401,
            error(
                "You didn't provide an API key. It belongs in an Authorization header, with Bearer auth.",
                "invalid_request_error",
            ),
        )
    ),
    "vendor": behind_the_key(
        canned(
            401,
            {"status": 401, "title": "Unauthorized", "detail": "Header of type `authorization` was missing"},
            "application/problem+json",
        )
    ),
}
key_expired: dict[str, Effect] = {
    "one-api": relay_says(401, "该令牌已过期", "one_api_error"),
    "new-api": relay_says(401, "该令牌状态不可用", "new_api_error"),
    "openai": on_chat(
        canned(
            401,
            error("The account of this key is deactivated.", "invalid_request_error", "account_deactivated"),
        )
    ),
}


def _quoted(call: Call) -> Answer:
    text = f'Incorrect API key provided: "{vendors.tail(call)}". Your keys are on the account page.'
    return vendors.error(401, text, "invalid_request_error", "invalid_api_key")


key_in_quotes = behind_the_key(_quoted)
key_of_plan = on_chat(
    canned(429, {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}, UTF8_JSON)
)
wrong_scheme = behind_the_key(
    canned(
        401,
        error(
            "Send the key in the header `api-key`; a bearer token is not accepted here.",
            "invalid_request_error",
            "invalid_auth_scheme",
        ),
        headers={"www-authenticate": "api-key"},
    )
)
scope_missing = on_chat(
    canned(
        401,
        error(
            "You have insufficient permissions for this operation. Missing scopes: model.request. "
            "Look at the key's own permissions.",
            "invalid_request_error",
        ),
    )
)
org_differs: dict[str, Effect] = {
    "openai": behind_the_key(
        canned(
            401,
            error(
                "OpenAI-Organization header should match organization for API key",
                "invalid_request_error",
                "mismatched_organization",
            ),
        )
    ),
    "vendor": on_chat(
        canned(
            403,
            error("Workspace access denied.", "Workspace.AccessDenied", "Workspace.AccessDenied"),
            UTF8_JSON,
        )
    ),
}
login_expired = login_refused("OAuth token has expired. Log in again to get a new one.")
login_mixed_up = login_refused("OAuth authentication is currently not supported.")

address_refused: dict[str, Effect] = {
    "new-api": relay_says(403, "您的 IP 不在令牌允许访问的列表中", "new_api_error"),
    "openai": on_chat(
        canned(
            401,
            error(
                "The address 203.0.113.7 is not on the project's list.",
                "invalid_request_error",
                "ip_not_authorized",
            ),
        )
    ),
}
country_refused: dict[str, Effect] = {
    "openai": on_chat(
        canned(
            403,
            error(
                "Country, region, or territory not supported",
                "request_forbidden",
                "unsupported_country_region_territory",
            ),
        )
    ),
    "one-api": relay_says(
        403,
        "Country, region, or territory not supported",
        "request_forbidden",
        param="",
        code="unsupported_country_region_territory",
    ),
}
BLOCKED = (
    '<!DOCTYPE html>\n<html lang="en-US">\n<head><title>Attention Required! | Cloudflare</title></head>\n'
    "<body><h1>Sorry, you have been blocked</h1><p>This site guards itself.</p></body>\n</html>\n"
)
firewall_block = anywhere(canned(403, BLOCKED, HTML, CLOUDFLARE))
firewall_challenge = anywhere(
    canned(
        403,
        "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>",
        HTML,
        CLOUDFLARE | {"cf-mitigated": "challenge"},
    )
)
no_allowed_route = on_chat(
    canned(
        404, error("No endpoints available matching your guardrail restrictions and data policy.", code=404)
    )
)
FILTERED = {
    "hate": {"filtered": True, "severity": "high"},
    "violence": {"filtered": False, "severity": "safe"},
}
filtered: dict[str, Effect] = {
    "azure": on_chat(
        canned(
            400,
            {
                "error": {
                    "message": "The prompt was stopped by the content management policy.",
                    "type": None,
                    "param": "prompt",
                    "code": "content_filter",
                    "status": 400,
                    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": FILTERED},
                }
            },
        )
    ),
    "vendor": on_chat(
        canned(
            400,
            error(
                "Input data may contain inappropriate content.",
                "data_inspection_failed",
                "data_inspection_failed",
            ),
        )
    ),
}

quota_empty: dict[str, Effect] = {
    "openai": on_chat(
        canned(
            429,
            error(
                "You exceeded your current quota. Look at plan and billing.",
                "insufficient_quota",
                "insufficient_quota",
            ),
        )
    ),
    "deepseek": on_chat(canned(402, error("Insufficient Balance", "unknown_error", "invalid_request_error"))),
    "vendor": on_chat(
        canned(400, error("Access denied: the account is not in good standing.", "Arrearage", "Arrearage"))
    ),
    "one-api": relay_says(403, "用户额度不足", "one_api_error", param="", code="insufficient_user_quota"),
    "new-api": relay_says(403, "该令牌额度已用尽", "new_api_error", param="", code="insufficient_user_quota"),
}
rate_limited: dict[str, Effect] = {
    "openai": on_chat(
        canned(
            429,
            error(
                "Rate limit reached for {model} on tokens per min (TPM): Limit 30000, "
                "Used 29990, Requested 385.",
                "tokens",
                "rate_limit_exceeded",
            ),
            headers={"retry-after": "7", "x-ratelimit-remaining-tokens": "10"},
        )
    ),
    "vendor": on_chat(
        canned(
            429,
            {
                "message": "Too many tokens in this minute.",
                "type": "too_many_tokens_error",
                "param": "quota",
                "code": "token_quota_exceeded",
            },
        )
    ),
    "one-api": relay_says(
        429, "当前分组上游负载已饱和，请稍后再试", "requests", param="", code="rate_limit_exceeded"
    ),
}

TOO_LARGE = error("Request body too large", "invalid_request_error", "request_too_large")
body_refused: dict[str, Effect] = {
    "nginx": anywhere(lambda call: error_page(413)),
    "vendor": on_chat(canned(413, TOO_LARGE)),
}
