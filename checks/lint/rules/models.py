"""Rules on model ids: prefixes that a client needs or sends on, deployments, blanks, stand-ins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.bases import bases_of
from checks.lint.finding import Hit, Rule, error, suspicion
from checks.lint.roles import snake
from checks.lint.sheet import Item, Kind, Role, Sheet
from checks.pasted import is_blank
from checks.reason import Reason

# The prefixes by which litellm tells a provider (its documented names).
_PROVIDERS: Final = frozenset(
    (
        *("ai21", "ai21_chat", "aiml", "aleph_alpha", "amazon_nova", "anthropic", "anyscale"),
        *("assemblyai", "azure", "azure_ai", "azure_text", "baseten", "bedrock", "bedrock_converse"),
        *("bytez", "cerebras", "clarifai", "cloudflare", "codestral", "cohere", "cohere_chat"),
        *("cometapi", "compactifai", "custom_openai", "dashscope", "databricks", "datarobot"),
        *("deepgram", "deepinfra", "deepseek", "docker_model_runner", "elevenlabs", "empower"),
        *("featherless_ai", "fireworks_ai", "friendliai", "galadriel", "gemini", "gigachat", "github"),
        *("github_copilot", "gradient_ai", "groq", "heroku", "hosted_vllm", "huggingface", "hyperbolic"),
        *("infinity", "jina_ai", "lambda_ai", "litellm_proxy", "llamafile", "lm_studio", "maritalk"),
        *("meta_llama", "minimax", "mistral", "modelscope", "moonshot", "morph", "nebius", "nlp_cloud"),
        *("novita", "nscale", "nvidia_nim", "oci", "ollama", "ollama_chat", "oobabooga", "openai"),
        *("openrouter", "ovhcloud", "palm", "perplexity", "petals", "predibase", "publicai", "recraft"),
        *("replicate", "sagemaker", "sagemaker_chat", "sambanova", "siliconflow", "snowflake"),
        *("text-completion-codestral", "text-completion-openai", "together_ai", "topaz", "triton", "v0"),
        *("vercel_ai_gateway", "vertex_ai", "vertex_ai_beta", "vllm", "volcengine", "voyage", "wandb"),
        *("watsonx", "xai", "xinference", "zai"),
    )
)
_KNOWN_BARE: Final = re.compile(
    r"(?:gpt-|o[134](?:-|$)|chatgpt-|text-embedding-|claude-|command|gemini-|davinci|babbage|whisper|tts|dall-e|ft:gpt)"
)
_PUBLIC_ID: Final = re.compile(
    r"(?:gpt-(?:3\.5|4|4o|4\.1|5)[\w.-]*|o[134](?:-[\w-]+)?|text-embedding-(?:3-(?:small|large)|ada-002)"
    r"|whisper-1|dall-e-[23]|tts-1(?:-hd)?)"
)
_AZURE: Final = re.compile(r"(?:azure|azure_openai)[:/](.+)")
_STAND_IN: Final = re.compile(
    r"<.*>|\{.*\}|(?:your|my|the)[-_ ]?(?:model|deployment)[\w-]*|model[-_]?(?:name|id)(?:[-_]here)?"
    r"|x{3,}|\.{3}|changeme|replace.*|insert.*|你的.*|填.*",
    re.IGNORECASE,
)
_SENT_ON: Final = re.compile(
    r"(?:openai|hosted_vllm|litellm_proxy|azure|custom_openai|ollama)/(?!gpt-oss)(.+)"
)
_PREFIXED: Final = re.compile(r"(?:^|_)(?:litellm|dspy)_model$")
_KEEPS_PREFIX: Final = ("openrouter.ai", "models.github.ai", "ai-gateway.vercel.sh", "router.huggingface.co")


def _ids(sheet: Sheet) -> Iterator[Item]:
    """Model ids that are sent; the alias of a litellm list is not."""
    for item in sheet.of(Role.MODEL):
        alias = sheet.kind is Kind.LITELLM and item.name == "model_name"
        if item.value.strip() and not item.is_reference and not alias and "\n" not in item.value.strip():
            yield item


def _for_litellm(sheet: Sheet) -> Iterator[Item]:
    has_own = any(_PREFIXED.search(snake(item.name)) for item in sheet.items)
    for item in _ids(sheet):
        named = bool(_PREFIXED.search(snake(item.name)))
        inside = sheet.kind is Kind.LITELLM and item.path[-2:] == ("litellm_params", "model")
        client = sheet.reading.client
        # OPENAI_MODEL is the plain id, to which the user's own code adds the prefix.
        stated = client is not None and client.prefixed and not item.name.upper().startswith("OPENAI_")
        told = any(other.name == "custom_llm_provider" for other in sheet.beside(item))
        stated = stated and not has_own and sheet.kind is not Kind.LITELLM
        if (named or inside or stated) and not told:
            yield item


def _prefix_unknown(sheet: Sheet) -> Iterator[Hit]:
    """What stands before the slash names no provider: litellm refuses before any request."""
    for item in _for_litellm(sheet):
        prefix, slash, _ = item.value.strip().partition("/")
        if slash and prefix.lower() not in _PROVIDERS and not _KNOWN_BARE.match(prefix) and prefix != "*":
            yield Hit(item.line, item.key)


def _prefix_missing(sheet: Sheet) -> Iterator[Hit]:
    for item in _for_litellm(sheet):
        value = item.value.strip()
        if "/" not in value and value != "*" and not _KNOWN_BARE.match(value.lower()):
            yield Hit(item.line, item.key)


def _prefix_sent(sheet: Sheet) -> Iterator[Hit]:
    """A litellm prefix for a client that sends the id as it stands."""
    client = sheet.reading.client
    if client is None or client.prefixed or client.name in ("appends-v1", "nextchat", "agent-lightning"):
        plain = [item for item in _ids(sheet) if item.name.upper() in ("OPENAI_MODEL", "OPENAI_MODEL_NAME")]
        if client is not None and client.prefixed:
            return
    else:
        plain = list(_ids(sheet))
    kept = any(base.host in _KEEPS_PREFIX for base in bases_of(sheet))
    for item in plain:
        match = _SENT_ON.fullmatch(item.value.strip())
        if match and not kept and not _PREFIXED.search(snake(item.name)):
            yield Hit(item.line, item.key, {"prefix": item.value.strip().partition("/")[0]})


def _deployment(sheet: Sheet) -> Iterator[Hit]:
    """Azure takes the name of a deployment; a model's public id may be none."""
    named = any("deployment" in snake(item.name) and item.value.strip() for item in sheet.items)
    for item in _ids(sheet):
        value = item.value.strip()
        match = _AZURE.fullmatch(value)
        model = match[1] if match else value if _of_azure(sheet, item) else ""
        if _PUBLIC_ID.fullmatch(model) and not named:
            yield Hit(item.line, item.key, {"model": model[:60]})


def _of_azure(sheet: Sheet, item: Item) -> bool:
    """Whether the mapping's provider is Azure; in an environment file it is told of the embedding alone,
    which people forget to deploy."""
    told = any(other.role is Role.PROVIDER and "azure" in other.value.lower() for other in sheet.beside(item))
    return told and (not sheet.format.by_lines or "embed" in item.name.lower())


def _blank(sheet: Sheet) -> Iterator[Hit]:
    for item in _ids(sheet):
        if any(is_blank(sign) for sign in item.value):
            yield Hit(item.line, item.key)


def _stand_in(sheet: Sheet) -> Iterator[Hit]:
    if sheet.is_template:
        return
    for item in _ids(sheet):
        if _STAND_IN.fullmatch(item.value.strip()):
            yield Hit(item.line, item.key)


def _api_version(sheet: Sheet) -> Iterator[Hit]:
    right = re.compile(r"20\d\d-\d\d-\d\d(?:-preview)?|preview|latest|v\d.*")
    for item in sheet.of(Role.VERSION):
        value = item.value.strip()
        azure = "azure" in snake(item.name) or "azure" in snake(" ".join(str(p) for p in item.path))
        if value and azure and not item.is_reference and not right.fullmatch(value):
            yield Hit(item.line, item.key)


RULES: Final[Mapping[str, Rule]] = {
    "prefix_unknown": error(Reason.MODEL_PROVIDER_PREFIX, _prefix_unknown),
    "prefix_missing": suspicion(Reason.MODEL_PROVIDER_PREFIX, _prefix_missing),
    "prefix_sent": suspicion(Reason.MODEL_PROVIDER_PREFIX, _prefix_sent),
    "deployment": suspicion(Reason.AZURE_DEPLOYMENT_NOT_FOUND, _deployment),
    "model_blank": error(Reason.MODEL_NOT_FOUND, _blank),
    "model_stand_in": error(Reason.MODEL_MISSING, _stand_in),
    "api_version": suspicion(Reason.BASE_URL_WRONG_PATH, _api_version),
}
