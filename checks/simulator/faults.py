"""Every way to misbehave, by name: what the server does, and the reason code that should come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from checks.simulator.effects import Effect, answers, models, questions, refusals
from checks.simulator.families import FAMILIES


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to misbehave.

    `what` says what the server does. `expects` is the reason code of the verdict, empty where the
    lane should stay green. `effects` names the families that can do it; an effect of None leaves
    their answers healthy, since the fault lies elsewhere: in `accept`, at the connection; in `url`,
    the address a person stored; in `certificate`, the one the caller's TLS context must carry.
    `asks` is the question (a name in `effects.asks.ASKS`) without which it does not show.
    `key` is what the caller must present instead of the site's key; None where that does not matter.
    `alive` marks an odd answer that still is one: the verdict names it, the lane stays green.
    """

    what: str
    expects: str
    effects: Mapping[str, Effect | None]
    accept: Literal["", "reset", "hang", "deaf"] = ""
    url: Literal["", "no_version", "double_version", "full_endpoint", "wrong_segment", "https", "http"] = ""
    certificate: Literal["", "good", "untrusted", "expired", "other_name"] = ""
    asks: str = ""
    key: str | None = None
    alive: bool = False


def by(families: str, effect: Effect | None = None) -> Mapping[str, Effect | None]:
    """The same effect for each of these families, named in one string."""
    return MappingProxyType(dict.fromkeys(families.split(), effect))


ALL = " ".join(name for name in FAMILIES if name != "nginx")
VERSIONED_BASE = " ".join(name for name in ALL.split() if FAMILIES[name].base)
VERSIONED = "vllm sglang openai vendor one-api azure"
A, M, Q, R = answers, models, questions, refusals

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        # tcp
        "reset_on_accept": Fault("resets each new connection", "connection_reset", by(ALL), accept="reset"),
        "reset": Fault("resets the connection instead of answering", "connection_reset", by(ALL, A.reset)),
        "hang_up": Fault("closes without a byte", "connection_reset", by(ALL, A.hang_up)),
        "deaf": Fault(
            "lets its backlog fill up and completes no handshake", "connect_timeout", by(ALL), accept="deaf"
        ),
        "accept_and_hang": Fault("accepts and then says nothing", "request_timeout", by(ALL), accept="hang"),
        "hang": Fault("takes the chat request and never answers", "request_timeout", by(ALL, A.hang)),
        "drip": Fault("sends one byte of the answer a second", "request_timeout", by(ALL, A.drip)),
        "not_http": Fault(
            "speaks the protocol of a key-value store", "non_json_body", by("vendor", A.not_http)
        ),
        # tls
        "unknown_issuer": Fault(
            "shows a self-signed certificate", "tls_untrusted_ca", by(ALL), certificate="untrusted"
        ),
        "certificate_expired": Fault(
            "shows an expired certificate", "tls_expired", by(ALL), certificate="expired"
        ),
        "certificate_of_another": Fault(
            "shows a certificate for another name", "tls_hostname_mismatch", by(ALL), certificate="other_name"
        ),
        "https_url_to_plain_port": Fault(
            "speaks plain HTTP where the URL says https", "https_to_http_port", by(ALL), url="https"
        ),
        "http_url_to_tls_port": Fault(
            "speaks TLS where the URL says http",
            "http_to_https_port",
            by(ALL),
            url="http",
            certificate="good",
        ),
        # path
        "no_version": Fault(
            "was stored without its version segment",
            "base_url_missing_v1",
            by("vllm sglang openai vendor one-api lmstudio ollama"),
            url="no_version",
        ),
        "double_version": Fault(
            "was stored with the version twice", "base_url_double_v1", by(VERSIONED), url="double_version"
        ),
        "full_endpoint": Fault(
            "was stored with /chat/completions at its end",
            "base_url_full_endpoint",
            by(VERSIONED),
            url="full_endpoint",
        ),
        "wrong_segment": Fault(
            "was stored under another product's path",
            "base_url_wrong_path",
            by("azure vendor"),
            url="wrong_segment",
        ),
        "console_without_version": Fault(
            "answers its web console for want of /v1", "base_url_html_page", by("new-api"), url="no_version"
        ),
        "html_page": Fault("answers a web page to everything", "base_url_html_page", by(ALL, A.html_page)),
        "html_as_json": Fault(
            "answers a web page and calls it JSON", "base_url_html_page", by(ALL, A.html_as_json)
        ),
        "no_api": Fault("is a static site, not an API", "base_url_wrong_path", by("nginx")),
        "static_site": Fault(
            "is a site that shows its front page for every path",
            "base_url_html_page",
            by("nginx", A.static_site),
        ),
        "redirect_metadata": Fault(
            "redirects to the cloud's metadata address", "redirect_broken", by(ALL, A.redirect_metadata)
        ),
        "redirect_https": Fault(
            "redirects to https with a 301", "redirect_broken", by(ALL, A.redirect_https)
        ),
        "redirect_slash": Fault(
            "redirects to the path with a slash", "redirect_broken", by(ALL, A.redirect_slash)
        ),
        "other_dialect": Fault(
            "lists models and speaks only /responses",
            "api_dialect_mismatch",
            by("vendor openai", A.other_dialect),
        ),
        # auth
        "key_refused": Fault("refuses the key", "auth_invalid_key", R.key_refused),
        "key_refused_in_a_400": Fault(
            "refuses the key with a 400", "auth_invalid_key", by("vendor", R.key_refused_in_a_400)
        ),
        "no_database": Fault(
            "refuses the key by speaking of its database",
            "auth_invalid_key",
            by("litellm-proxy", R.no_database),
        ),
        "header_dropped": Fault("gets the request without its key", "auth_missing_header", R.header_dropped),
        "key_expired": Fault(
            "knows the key and has switched it off", "auth_key_disabled_or_expired", R.key_expired
        ),
        "key_in_quotes": Fault(
            "echoes the key with quotes around it", "auth_key_malformed", by("openai", R.key_in_quotes)
        ),
        "key_of_plan": Fault(
            "wants the plan's own root for this key", "auth_key_plan_mismatch", by("vendor", R.key_of_plan)
        ),
        "key_of_another_vendor": Fault(
            "is shown another vendor's key",
            "auth_key_wrong_provider",
            by("openai azure"),
            key="sk-ant-test-0123456789abcdef",
        ),
        "wrong_scheme": Fault(
            "wants the key in another header", "auth_scheme_mismatch", by("vendor", R.wrong_scheme)
        ),
        "scope_missing": Fault(
            "finds the key too restricted", "auth_insufficient_scope", by("openai", R.scope_missing)
        ),
        "org_differs": Fault("finds another organisation's key", "org_mismatch", R.org_differs),
        # oauth
        "login_expired": Fault(
            "was given a login token out of date", "oauth_token_expired", by("vendor", R.login_expired)
        ),
        "login_mixed_up": Fault(
            "was given a login token for a key", "oauth_env_conflict", by("vendor", R.login_mixed_up)
        ),
        # policy
        "address_refused": Fault("does not serve this address", "ip_not_allowed", R.address_refused),
        "country_refused": Fault("does not serve this country", "region_blocked", R.country_refused),
        "firewall_block": Fault(
            "is guarded by a firewall that blocks", "waf_challenge", by("vendor openai", R.firewall_block)
        ),
        "firewall_challenge": Fault(
            "is guarded by a firewall that asks for a browser",
            "waf_challenge",
            by("vendor", R.firewall_challenge),
        ),
        "no_allowed_route": Fault(
            "finds no route the account's rules allow",
            "account_policy_block",
            by("vendor", R.no_allowed_route),
        ),
        "filtered": Fault("filters the prompt", "content_filtered", R.filtered),
        "stopped_by_filter": Fault(
            "filters the answer",
            "content_filtered",
            by("azure vendor", A.stopped_by_filter),
            alive=True,
        ),
        # quota, rate
        "quota_empty": Fault("has no money left for the caller", "quota_exhausted", R.quota_empty),
        "rate_limited": Fault("limits the pace", "rate_limited", R.rate_limited),
        # gateway
        "upstream_arrears": Fault(
            "is itself refused by its vendor", "upstream_misconfigured", A.upstream_arrears
        ),
        "no_channel": Fault("has no channel for the model", "model_no_channel", M.no_channel),
        "bad_gateway": Fault("cannot reach what is behind it", "bad_gateway_upstream_down", A.bad_gateway),
        "gateway_gives_up": Fault(
            "waits too long for what is behind it", "gateway_timeout", A.gateway_gives_up
        ),
        "body_refused": Fault("takes no body of that size", "payload_too_large", R.body_refused),
        "gateway_empty": Fault(
            "has no model server registered", "server_not_ready", by("agl-gateway", A.gateway_empty)
        ),
        "gateway_paused": Fault(
            "is paused while training updates", "gateway_paused", by("agl-gateway", A.gateway_paused)
        ),
        # model
        "model_missing": Fault("does not serve the model", "model_not_found", M.model_missing),
        "model_retired": Fault("has retired the model", "model_deprecated", by("vendor", M.model_retired)),
        "prefix_wanted": Fault(
            "wants a routing prefix before the id",
            "model_provider_prefix",
            by("litellm-proxy", M.prefix_wanted),
        ),
        "deployment_missing": Fault(
            "has no deployment of that name", "azure_deployment_not_found", by("azure", M.deployment_missing)
        ),
        "model_forbidden": Fault(
            "does not let this key use the model", "model_no_permission", M.model_forbidden
        ),
        "model_not_open": Fault(
            "wants the model switched on first", "model_not_activated", by("vendor", M.model_not_open)
        ),
        "embedding_model": Fault("finds the model unfit for chat", "model_task_mismatch", M.embedding_model),
        "nothing_loaded": Fault("has loaded no model", "model_not_loaded", by("lmstudio", M.nothing_loaded)),
        # params
        "image_refused": Fault("takes no images", "vision_unsupported", Q.image_refused, asks="image"),
        "length_renamed": Fault("takes max_completion_tokens alone", "", by("openai", Q.length_renamed)),
        "length_refused": Fault(
            "takes neither name of the length", "max_tokens_param_unsupported", by("openai", Q.length_refused)
        ),
        "new_length_refused": Fault(
            "is older than max_completion_tokens",
            "max_tokens_param_unsupported",
            by("vllm", Q.new_length_refused),
            asks="new_length",
        ),
        "temperature_refused": Fault(
            "takes only its own temperature",
            "param_value_unsupported",
            by("openai", Q.temperature_refused),
            asks="temperature",
        ),
        "extra_refused": Fault(
            "takes no field it does not know", "param_unknown_rejected", Q.extra_refused, asks="extra_field"
        ),
        "schema_refused": Fault(
            "takes no JSON schema",
            "response_format_unsupported",
            by("deepseek", Q.schema_refused),
            asks="response_format",
        ),
        "parts_refused": Fault(
            "takes text content only as a string",
            "message_format_rejected",
            by("deepseek", Q.parts_refused),
            asks="content_parts",
        ),
        "role_refused": Fault(
            "knows no developer role", "role_unsupported", Q.role_refused, asks="developer_role"
        ),
        "reasoning_wanted": Fault(
            "wants earlier reasoning sent back",
            "reasoning_content_required",
            by("deepseek", Q.reasoning_wanted),
            asks="assistant_turn",
        ),
        "body_unread": Fault(
            "cannot read the body it was sent",
            "request_body_malformed",
            by("vllm", Q.body_unread),
            asks="no_json",
        ),
        # context
        "prompt_too_long": Fault(
            "has a window smaller than the prompt", "context_length_exceeded", Q.prompt_too_long
        ),
        "answer_too_long": Fault(
            "answers no longer than 8192 tokens",
            "output_tokens_out_of_range",
            by("deepseek", Q.answer_too_long),
            asks="long_answer",
        ),
        # tools
        "tools_refused": Fault(
            "has a model without tools",
            "tools_unsupported_by_model",
            by("ollama", Q.tools_refused),
            asks="tools",
        ),
        "tool_choice_refused": Fault(
            "lets no tool be forced",
            "tool_choice_unsupported",
            by("deepseek", Q.tool_choice_refused),
            asks="tool_choice",
        ),
        "history_refused": Fault(
            "finds a tool call without its answer",
            "tool_history_invalid",
            by("deepseek", Q.history_refused),
            asks="tool_history",
        ),
        "calls_as_text": Fault(
            "leaves the tool call in the text",
            "tool_calls_unparsed",
            by("vllm", Q.calls_as_text),
            asks="tools",
        ),
        "arguments_cut": Fault(
            "cuts the arguments of the tool call",
            "tool_args_invalid_json",
            by("vllm", Q.arguments_cut),
            asks="tools",
        ),
        # tokens
        "logprobs_dropped": Fault(
            "leaves out log-probs it was asked for",
            "logprobs_unsupported",
            by("vllm vendor", Q.ids_dropped),
            asks="logprobs",
        ),
        "ids_dropped": Fault(
            "leaves out token ids it was asked for",
            "token_ids_missing",
            by("vllm sglang litellm-proxy", Q.ids_dropped),
            asks="token_ids",
        ),
        # response
        "error_in_200": Fault("puts an error into a 200", "choices_missing_error_body", A.error_in_200),
        "not_a_completion": Fault(
            "answers JSON of its own kind", "choices_missing_error_body", by(ALL, A.not_a_completion)
        ),
        "no_choices": Fault(
            "answers with an empty list of choices", "choices_missing_error_body", by(ALL, A.no_choices)
        ),
        "text_answer": Fault(
            "answers a line of text", "non_json_body", by("one-api new-api vendor", A.text_answer)
        ),
        "empty_body": Fault("answers 200 and nothing", "non_json_body", by(VERSIONED_BASE, A.empty_body)),
        "bytes_answer": Fault(
            "answers packed bytes without saying so", "non_json_body", by(ALL, A.bytes_answer)
        ),
        "gzip_garbage": Fault("says gzip and sends something else", "non_json_body", by(ALL, A.gzip_garbage)),
        "nested_json": Fault(
            "answers brackets a hundred thousand deep", "non_json_body", by(ALL, A.nested_json)
        ),
        "text_plain_json": Fault(
            "sends its JSON as text/plain", "stream_framing_mismatch", by(ALL, A.text_plain_json)
        ),
        "reasoning_only": Fault(
            "spends the whole answer on reasoning",
            "content_empty_reasoning",
            by(ALL, A.reasoning_only),
            alive=True,
        ),
        "null_content": Fault("answers null", "content_empty_reasoning", by(ALL, A.null_content), alive=True),
        "body_50mb": Fault("sends fifty megabytes", "answer_too_large", by(ALL, A.body_50mb)),
        "gzip_bomb": Fault(
            "sends a small body that unpacks without end", "answer_too_large", by(ALL, A.gzip_bomb)
        ),
        "header_flood": Fault("sends a megabyte of headers", "answer_too_large", by(ALL, A.header_flood)),
        # streaming
        "thinking_refused": Fault(
            "thinks only in a stream",
            "thinking_requires_stream",
            by("vendor", A.thinking_refused),
            asks="thinking",
        ),
        "stream_only": Fault("answers only as a stream", "stream_only", by("vendor", A.stream_only)),
        "empty_chunk": Fault(
            "begins its stream without choices",
            "choices_empty_chunk",
            by("azure", A.empty_chunk),
            asks="stream",
        ),
        "stream_cut": Fault(
            "breaks off its stream", "stream_truncated", by(ALL, A.stream_cut), asks="stream"
        ),
        "stream_ignored": Fault(
            "answers a stream's question with one JSON",
            "stream_framing_mismatch",
            by("vendor one-api new-api", A.stream_ignored),
            asks="stream",
        ),
        "cut_body": Fault("breaks off its answer", "stream_truncated", by(ALL, A.cut_body)),
        "sse_unasked": Fault(
            "streams without being asked", "stream_framing_mismatch", by(ALL, A.sse_unasked)
        ),
        "done_glued_on": Fault(
            "ends plain JSON as if it were a stream", "stream_framing_mismatch", by("vendor", A.done_glued_on)
        ),
        # server
        "overloaded": Fault("is busy for everybody", "upstream_overloaded", A.overloaded),
        "loading": Fault("is loading its model", "server_not_ready", by("vllm vendor", A.loading)),
        "no_ready_pod": Fault("has no replica that is ready", "server_not_ready", by("vllm", A.no_ready_pod)),
        "engine_dead": Fault("has lost its engine", "engine_crashed", by("vllm", A.engine_dead)),
        "asleep": Fault("sleeps while training updates", "engine_asleep", by("vllm", A.asleep)),
        "development_mode": Fault(
            "shows its development routes to everyone", "", by("vllm", A.development_mode)
        ),
        "wedged": Fault("is stuck with a request running", "engine_wedged", by("vllm", A.wedged)),
        "crawling": Fault(
            "generates too slowly to answer in time", "request_timeout", by("vllm", A.crawling)
        ),
        "slow": Fault("takes seconds to answer", "", by(ALL, A.slow)),
        "flaky": Fault("refuses every second chat", "upstream_overloaded", by(ALL, A.flaky)),
        # server_flags
        "template_missing": Fault(
            "serves a base model without a chat template",
            "chat_template_missing",
            by("vllm", Q.template_missing),
        ),
        "parser_off": Fault(
            "was started without tool calling",
            "tool_parser_not_enabled",
            by("vllm", Q.parser_off),
            asks="tools",
        ),
    }
)

BEYOND_A_SERVER: Mapping[str, str] = MappingProxyType(
    {
        "connection_refused_loopback": "nothing listens: there is no server to script",
        "connection_refused_remote": "the simulator listens on loopback",
        "container_loopback": "a fact about the client's container",
        "auth_key_region_mismatch": "the refusal is that of any wrong key; only the sibling site tells",
    }
)
"""Codes of the same layers that no scripted server can bring about, and why."""
