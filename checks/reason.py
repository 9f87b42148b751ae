"""The closed list of reasons: why a rung broke, one stable code each, with its layer and family.

Codes and families are those of the failure taxonomy (94 codes in 46 families); the layer
`preflight` holds what the product itself has to say (a refused address, a spent budget).
The sentences a person reads are in `checks/reasons/<layer>.toml`.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """A cause, by its stable code. The value is what the database, the API and reports carry."""

    layer: str
    family: str

    def __new__(cls, code: str, layer: str, family: str) -> Reason:
        member = str.__new__(cls, code)
        member._value_ = code
        member.layer = layer
        member.family = family
        return member

    # dns
    DNS_NXDOMAIN = "dns_nxdomain", "dns", "dns_failure"
    DNS_RESOLVER_UNAVAILABLE = "dns_resolver_unavailable", "dns", "dns_failure"
    DNS_POISONED = "dns_poisoned", "dns", "dns_poisoned"

    # tcp
    CONNECTION_REFUSED_LOOPBACK = "connection_refused_loopback", "tcp", "connection_refused"
    CONNECTION_REFUSED_REMOTE = "connection_refused_remote", "tcp", "connection_refused"
    CONTAINER_LOOPBACK = "container_loopback", "tcp", "container_loopback"
    CONNECT_TIMEOUT = "connect_timeout", "tcp", "timeout_or_reset"
    CONNECTION_RESET = "connection_reset", "tcp", "timeout_or_reset"

    # tls
    TLS_UNTRUSTED_CA = "tls_untrusted_ca", "tls", "tls_certificate"
    TLS_EXPIRED = "tls_expired", "tls", "tls_certificate"
    TLS_HOSTNAME_MISMATCH = "tls_hostname_mismatch", "tls", "tls_certificate"
    HTTPS_TO_HTTP_PORT = "https_to_http_port", "tls", "tls_plaintext_mismatch"
    HTTP_TO_HTTPS_PORT = "http_to_https_port", "tls", "tls_plaintext_mismatch"

    # proxy
    PROXY_ENV_INTERCEPTS_LOOPBACK = "proxy_env_intercepts_loopback", "proxy", "proxy_intercepts"
    PROXY_UNREACHABLE = "proxy_unreachable", "proxy", "proxy_broken"
    PROXY_AUTH_REQUIRED = "proxy_auth_required", "proxy", "proxy_broken"
    PROXY_SCHEME_UNSUPPORTED = "proxy_scheme_unsupported", "proxy", "proxy_broken"
    LOCAL_PROXY_UPSTREAM_FAILED = "local_proxy_upstream_failed", "proxy", "local_proxy_upstream_failed"

    # path
    BASE_URL_MISSING_V1 = "base_url_missing_v1", "path", "base_url_path"
    BASE_URL_DOUBLE_V1 = "base_url_double_v1", "path", "base_url_path"
    BASE_URL_FULL_ENDPOINT = "base_url_full_endpoint", "path", "base_url_path"
    BASE_URL_WRONG_PATH = "base_url_wrong_path", "path", "base_url_path"
    BASE_URL_HTML_PAGE = "base_url_html_page", "path", "base_url_path"
    REDIRECT_BROKEN = "redirect_broken", "path", "redirect_broken"
    API_DIALECT_MISMATCH = "api_dialect_mismatch", "path", "api_dialect_mismatch"

    # client_config
    REQUEST_TIMEOUT = "request_timeout", "client_config", "timeout_or_reset"
    BASE_URL_MALFORMED = "base_url_malformed", "client_config", "base_url_path"
    BASE_URL_NOT_APPLIED = "base_url_not_applied", "client_config", "config_not_effective"
    ENV_SHADOWED = "env_shadowed", "client_config", "config_not_effective"
    ENV_KEY_UNSET = "env_key_unset", "client_config", "auth_missing"
    SDK_INCOMPATIBLE = "sdk_incompatible", "client_config", "sdk_incompatible"

    # auth
    AUTH_MISSING_HEADER = "auth_missing_header", "auth", "auth_missing"
    AUTH_INVALID_KEY = "auth_invalid_key", "auth", "auth_key_bad"
    AUTH_KEY_DISABLED_OR_EXPIRED = "auth_key_disabled_or_expired", "auth", "auth_key_bad"
    AUTH_KEY_MALFORMED = "auth_key_malformed", "auth", "auth_key_malformed"
    AUTH_KEY_REGION_MISMATCH = "auth_key_region_mismatch", "auth", "auth_key_elsewhere"
    AUTH_KEY_PLAN_MISMATCH = "auth_key_plan_mismatch", "auth", "auth_key_elsewhere"
    AUTH_KEY_WRONG_PROVIDER = "auth_key_wrong_provider", "auth", "auth_key_elsewhere"
    AUTH_SCHEME_MISMATCH = "auth_scheme_mismatch", "auth", "auth_scheme_mismatch"
    AUTH_INSUFFICIENT_SCOPE = "auth_insufficient_scope", "auth", "auth_scope"
    ORG_MISMATCH = "org_mismatch", "auth", "auth_scope"

    # oauth
    OAUTH_TOKEN_EXPIRED = "oauth_token_expired", "oauth", "oauth"
    OAUTH_ENV_CONFLICT = "oauth_env_conflict", "oauth", "oauth"

    # policy
    IP_NOT_ALLOWED = "ip_not_allowed", "policy", "access_policy"
    REGION_BLOCKED = "region_blocked", "policy", "access_policy"
    WAF_CHALLENGE = "waf_challenge", "policy", "access_policy"
    ACCOUNT_POLICY_BLOCK = "account_policy_block", "policy", "access_policy"
    CONTENT_FILTERED = "content_filtered", "policy", "content_filtered"

    # quota
    QUOTA_EXHAUSTED = "quota_exhausted", "quota", "quota_exhausted"

    # rate
    RATE_LIMITED = "rate_limited", "rate", "rate_limited"

    # gateway
    UPSTREAM_MISCONFIGURED = "upstream_misconfigured", "gateway", "upstream_fault"
    MODEL_NO_CHANNEL = "model_no_channel", "gateway", "model_no_channel"
    BAD_GATEWAY_UPSTREAM_DOWN = "bad_gateway_upstream_down", "gateway", "gateway_failure"
    GATEWAY_TIMEOUT = "gateway_timeout", "gateway", "gateway_failure"
    PAYLOAD_TOO_LARGE = "payload_too_large", "gateway", "gateway_failure"

    # model
    MODEL_NOT_FOUND = "model_not_found", "model", "model_id"
    MODEL_DEPRECATED = "model_deprecated", "model", "model_id"
    MODEL_PROVIDER_PREFIX = "model_provider_prefix", "model", "model_id"
    AZURE_DEPLOYMENT_NOT_FOUND = "azure_deployment_not_found", "model", "model_id"
    MODEL_NO_PERMISSION = "model_no_permission", "model", "model_access"
    MODEL_NOT_ACTIVATED = "model_not_activated", "model", "model_access"
    MODEL_TASK_MISMATCH = "model_task_mismatch", "model", "model_unfit"
    MODEL_NOT_LOADED = "model_not_loaded", "model", "model_not_loaded"

    # params
    VISION_UNSUPPORTED = "vision_unsupported", "params", "model_unfit"
    MAX_TOKENS_PARAM_UNSUPPORTED = "max_tokens_param_unsupported", "params", "param_unsupported"
    PARAM_VALUE_UNSUPPORTED = "param_value_unsupported", "params", "param_unsupported"
    PARAM_UNKNOWN_REJECTED = "param_unknown_rejected", "params", "param_unsupported"
    RESPONSE_FORMAT_UNSUPPORTED = "response_format_unsupported", "params", "param_unsupported"
    MESSAGE_FORMAT_REJECTED = "message_format_rejected", "params", "message_shape"
    ROLE_UNSUPPORTED = "role_unsupported", "params", "message_shape"
    REASONING_CONTENT_REQUIRED = "reasoning_content_required", "params", "message_shape"
    REQUEST_BODY_MALFORMED = "request_body_malformed", "params", "request_body_malformed"

    # context
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded", "context", "token_budget"
    OUTPUT_TOKENS_OUT_OF_RANGE = "output_tokens_out_of_range", "context", "token_budget"

    # tools
    TOOLS_UNSUPPORTED_BY_MODEL = "tools_unsupported_by_model", "tools", "tool_calling_off"
    TOOL_CHOICE_UNSUPPORTED = "tool_choice_unsupported", "tools", "tool_calling_off"
    TOOL_HISTORY_INVALID = "tool_history_invalid", "tools", "tool_payload"
    TOOL_CALLS_UNPARSED = "tool_calls_unparsed", "tools", "tool_payload"
    TOOL_ARGS_INVALID_JSON = "tool_args_invalid_json", "tools", "tool_payload"

    # tokens
    LOGPROBS_UNSUPPORTED = "logprobs_unsupported", "tokens", "rollout_tokens"
    TOKEN_IDS_MISSING = "token_ids_missing", "tokens", "rollout_tokens"

    # response
    CHOICES_MISSING_ERROR_BODY = "choices_missing_error_body", "response", "answer_shape"
    NON_JSON_BODY = "non_json_body", "response", "answer_shape"
    CONTENT_EMPTY_REASONING = "content_empty_reasoning", "response", "content_empty_reasoning"

    # streaming
    THINKING_REQUIRES_STREAM = "thinking_requires_stream", "streaming", "stream_mode_required"
    STREAM_ONLY = "stream_only", "streaming", "stream_mode_required"
    CHOICES_EMPTY_CHUNK = "choices_empty_chunk", "streaming", "answer_shape"
    STREAM_TRUNCATED = "stream_truncated", "streaming", "stream_broken"
    STREAM_FRAMING_MISMATCH = "stream_framing_mismatch", "streaming", "stream_broken"

    # server
    UPSTREAM_OVERLOADED = "upstream_overloaded", "server", "upstream_fault"
    SERVER_NOT_READY = "server_not_ready", "server", "server_not_ready"
    ENGINE_CRASHED = "engine_crashed", "server", "engine_crashed"

    # server_flags
    CHAT_TEMPLATE_MISSING = "chat_template_missing", "server_flags", "message_shape"
    TOOL_PARSER_NOT_ENABLED = "tool_parser_not_enabled", "server_flags", "tool_calling_off"

    # host
    HOST_KEY_UNKNOWN = "host_key_unknown", "host", "host_key_unknown"
    HOST_KEY_CHANGED = "host_key_changed", "host", "host_key_changed"
    HOST_LOGIN_REFUSED = "host_login_refused", "host", "host_login_refused"
    HOST_SILENT = "host_silent", "host", "host_silent"
    HOST_NOT_SSH = "host_not_ssh", "host", "host_not_ssh"
    HOST_JUMP_REFUSED = "host_jump_refused", "host", "host_jump_refused"
    HOST_PYTHON_MISSING = "host_python_missing", "host", "host_python_missing"
    HOST_DISCONNECTED = "host_disconnected", "host", "host_disconnected"
    HOST_CLOCK_SKEW = "host_clock_skew", "host", "host_clock_skew"
    GPU_DRIVER_BROKEN = "gpu_driver_broken", "host", "gpu_driver_broken"
    GPU_MEMORY_HELD = "gpu_memory_held", "host", "gpu_memory_held"
    GPU_MISSING = "gpu_missing", "host", "gpu_missing"
    VERSIONS_CLASH = "versions_clash", "host", "versions_clash"
    PORT_TAKEN = "port_taken", "host", "port_taken"
    OPEN_PORT_EXPOSED = "open_port_exposed", "host", "open_port_exposed"
    DISK_NEARLY_FULL = "disk_nearly_full", "host", "disk_nearly_full"
    DOES_NOT_FIT = "does_not_fit", "host", "does_not_fit"
    LANE_LIVES_ON_HOST = "lane_lives_on_host", "host", "lane_lives_on_host"
    ENV_FILE_STALE = "env_file_stale", "host", "config_not_effective"

    # sdk
    CLIENT_MISSING = "client_missing", "sdk", "client_missing"
    CLIENT_ENVIRONMENT_BROKEN = "client_environment_broken", "sdk", "client_environment_broken"

    # agent
    AGENT_IMPORT_FAILED = "agent_import_failed", "agent", "agent_code"
    AGENT_CONSTRUCTION_FAILED = "agent_construction_failed", "agent", "agent_code"
    AGENT_OVERRAN = "agent_overran", "agent", "agent_overran"
    AGENT_NO_ANSWER = "agent_no_answer", "agent", "agent_no_answer"
    AGENT_WRONG_ANSWER = "agent_wrong_answer", "agent", "agent_wrong_answer"

    # rollout
    SAMPLES_TRUNCATED = "samples_truncated", "rollout", "samples_truncated"
    REWARD_MISSING = "reward_missing", "rollout", "reward_missing"
    COMMAND_FAILED = "command_failed", "rollout", "command_failed"
    COMMAND_OVERRAN = "command_overran", "rollout", "command_overran"
    PROCESSES_LEFT = "processes_left", "rollout", "processes_left"
    GPU_MEMORY_LEFT = "gpu_memory_left", "rollout", "gpu_memory_left"
    DRY_RUN_INTERRUPTED = "dry_run_interrupted", "rollout", "dry_run_interrupted"
    NOT_A_GATEWAY = "not_a_gateway", "rollout", "not_a_gateway"
    GATEWAY_PAUSED = "gateway_paused", "rollout", "gateway_occupied"
    GATEWAY_BUSY = "gateway_busy", "rollout", "gateway_occupied"
    GATEWAY_DROPS_KEY = "gateway_drops_key", "rollout", "gateway_drops_key"
    TRIPLETS_MISSING = "triplets_missing", "rollout", "rollout_tokens"
    ROLLOUTS_LEFT = "rollouts_left", "rollout", "rollouts_left"
    LIGHTNING_VERSION_UNFIT = "lightning_version_unfit", "rollout", "lightning_version_unfit"

    # preflight
    EGRESS_DENIED = "egress_denied", "preflight", "egress_denied"
    KEY_MISSING = "key_missing", "preflight", "key_missing"
    MODEL_MISSING = "model_missing", "preflight", "model_missing"
    BUDGET_SPENT = "budget_spent", "preflight", "budget_spent"
    LATENCY_OVER_LIMIT = "latency_over_limit", "preflight", "latency_over_limit"
    ANSWER_TOO_LARGE = "answer_too_large", "preflight", "answer_too_large"
    ENDPOINT_OPEN = "endpoint_open", "preflight", "endpoint_open"
    ENGINE_ASLEEP = "engine_asleep", "preflight", "engine_asleep"
    ENGINE_WEDGED = "engine_wedged", "preflight", "engine_wedged"
    DEVELOPMENT_ROUTES_OPEN = "development_routes_open", "preflight", "development_routes_open"
    TOOL_NOT_CALLED = "tool_not_called", "preflight", "tool_not_called"
    DEADLINE_SPENT = "deadline_spent", "preflight", "deadline_spent"
    RUN_MISSED = "run_missed", "preflight", "run_missed"
    ENGINE_FAULT = "engine_fault", "preflight", "engine_fault"
    UNEXPLAINED = "unexplained", "preflight", "unexplained"
