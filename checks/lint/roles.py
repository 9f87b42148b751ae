"""What a setting means, told by its name: base URL, key, model, proxy."""

from __future__ import annotations

import re
from functools import lru_cache

from checks.lint.sheet import Role

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PUNCTUATION = re.compile(r"[^A-Za-z0-9]+")
# Services that are no model endpoints although their variables are named alike.
_OTHER_SERVICES = re.compile(
    r"(?:^|_)(?:otel|otlp|s3|aws|minio|sentry|redis|langsmith|langchain|langfuse|wandb|neo4j|qdrant|mlflow"
    r"|agentops|tavily|serp|database|postgres|mongo|mongodb|smtp|mail|webhook|callback|oauth|auth0|nextauth"
    r"|app|site|public|frontend|backend|web|github|gitlab|docker|slack|stripe|agl|searxng|elastic|milvus"
    r"|weaviate|pinecone|supabase|firebase|npm|pypi|index|mirror|store|hf)(?:_|$)"
)
_BASE = re.compile(
    r"(?:^|_)(?:base_?url|base_?uri|api_?base(?:_?url)?|api_?url|api_?host|api_?endpoint|openai_(?:base|url|host)"
    r"|openai_proxy_url|llm_(?:url|host|server)|model_url|ollama_(?:host|url)|rollout_base|vllm_url)$"
    r"|(?:^|_)(?:openai|azure|llm|model|vllm|embedding|chat)_?endpoint$|^(?:base_?url|endpoint)$"
)
_KEY = re.compile(
    r"(?:^|_)(?:api_?keys?|api_?token|auth_?token|bearer_?token|openai_(?:key|token|secret)|llm_key|rollout_key"
    r"|agl_key|master_key|hf_token|hugging_face_hub_token|oauth_token|secret_api_key|subscription_key)$"
)
_KEY_NAME = re.compile(r"(?:^|_)(?:env_key|api_?key_(?:env|var|name)(?:_var)?|key_env(?:_var)?|env_var)$")
_MODEL = re.compile(
    r"(?:^|_)(?:model|model_?id|model_?name|model_ids?|llm|embeddings?|embedder|deployment(?:_?name|_?id)?|reranker)$"
)
_ORG = re.compile(r"^openai_(?:org|org_id|organization|organization_id|project|project_id)$")
_CA = re.compile(
    r"^(?:ssl_cert_file|ssl_cert_dir|requests_ca_bundle|curl_ca_bundle|node_extra_ca_certs|ssl_ca_cert)$"
)
_PROVIDER = re.compile(r"(?:^|_)(?:provider|api_?type|llm_?type|custom_llm_provider|model_provider|backend)$")


@lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """Spell a name in one way: `apiKey`, `API-Key` and `api_key` are the same setting."""
    return _PUNCTUATION.sub("_", _CAMEL.sub("_", name[:200])).strip("_").lower()


@lru_cache(maxsize=4096)
def role_of(name: str) -> Role:
    """Tell the role of a setting by its name alone."""
    spelt = snake(name)
    if spelt in ("http_proxy", "https_proxy", "all_proxy", "openai_proxy", "socks_proxy"):
        return Role.PROXY
    if spelt == "no_proxy":
        return Role.NO_PROXY
    for role, pattern in _BY_PATTERN:
        if pattern.search(spelt) and not (role in _GUARDED and _OTHER_SERVICES.search(spelt)):
            return role
    return Role.OTHER


_BY_PATTERN = (
    (Role.CA, _CA),
    (Role.ORG, _ORG),
    (Role.KEY_NAME, _KEY_NAME),
    (Role.VERSION, re.compile(r"(?:^|_)api_?version$")),
    (Role.BASE, _BASE),
    (Role.KEY, _KEY),
    (Role.PROVIDER, _PROVIDER),
    (Role.MODEL, _MODEL),
)
_GUARDED = frozenset((Role.BASE, Role.MODEL))

_SUFFIX = re.compile(
    r"_?(?:api_?base(?:_?url)?|base_?url|base_?uri|api_?url|api_?host|host|endpoint|url|base"
    r"|api_?key|api_?token|auth_?token|token|key"
    r"|model_?id|model_?name|model|deployment(?:_?name)?|api_?version|provider|api_?type)$"
)


@lru_cache(maxsize=4096)
def stem(name: str) -> str:
    """The part of a name that its siblings share: "openai" of OPENAI_API_KEY and OPENAI_BASE_URL."""
    return _SUFFIX.sub("", snake(name))
