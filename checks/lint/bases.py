"""Base URLs of a sheet, each taken apart once, with what its client will append."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from checks.addresses import AddressError, CleanUrl, clean_base_url
from checks.hostnames import is_loopback, is_private
from checks.lint.clients import CLIENTS, Client, Speech
from checks.lint.reading import client_of_image
from checks.lint.roles import snake, stem
from checks.lint.sheet import Item, Kind, Role, Sheet

VERSION: Final = re.compile(r"/v\d+[a-z0-9]*(?=/|$)")
_NATIVE: Final = (
    (re.compile(r"(?:^|_)anthropic(?:_|$)|(?:^|_)claude(?:_|$)"), Speech.ANTHROPIC),
    (re.compile(r"(?:^|_)ollama(?:_|$)"), Speech.OLLAMA),
    (re.compile(r"(?:^|_)azure(?:_|$)"), Speech.AZURE),
    (re.compile(r"(?:^|_)(?:gemini|google|vertex|bedrock|cohere|tgi|huggingface)(?:_|$)"), Speech.OTHER),
)
_OPENAI: Final = re.compile(r"(?:^|_)(?:openai|vllm|litellm|deepseek|groq|moonshot|openrouter)(?:_|$)")


@dataclass(frozen=True, slots=True)
class Base:
    """One base URL. `clean` is None where `problem` says why it is none; host, port and path are then what
    could still be read. `speech` is the API that its client speaks, `client` None where nobody knows."""

    item: Item
    clean: CleanUrl | None
    problem: AddressError | None
    scheme: str
    host: str
    port: int | None
    path: str
    speech: Speech
    client: Client | None

    @property
    def usable(self) -> bool:
        """Whether the value is an address at all."""
        return self.clean is not None and bool(self.host)

    @property
    def loopback(self) -> bool:
        """Whether the host means the machine itself."""
        return self.usable and is_loopback(self.host)

    @property
    def private(self) -> bool:
        """Whether the host is known inside a network only."""
        return self.usable and is_private(self.host)

    @property
    def has_version(self) -> bool:
        """Whether the path holds a version segment."""
        return bool(VERSION.search(self.path))


def bases_of(sheet: Sheet) -> tuple[Base, ...]:
    """Return the base URLs of a sheet, references and empty values left out."""
    return sheet.once(_all)


def _all(sheet: Sheet) -> tuple[Base, ...]:
    return tuple(_each(sheet))


def _each(sheet: Sheet) -> Iterator[Base]:
    for item in sheet.of(Role.BASE):
        value = item.value
        if not value.strip() or item.is_reference or "${" in value or "{{" in value:
            continue
        if item.name == "BASE_URL" and not any(sheet.of(Role.KEY)):
            continue  # too general a name, in a file that calls no model
        if sheet.kind is Kind.LITELLM and item.path[:1] != ("model_list",):
            continue  # guardrails, tools and callbacks are no models
        yield _base(sheet, item)


def _base(sheet: Sheet, item: Item) -> Base:
    clean: CleanUrl | None = None
    problem: AddressError | None = None
    try:
        clean = clean_base_url(item.value)
    except AddressError as error:
        problem = error
    scheme, host, port, path = _parts(clean.url if clean else item.value)
    speech = _speech(sheet, item)
    return Base(item, clean, problem, scheme, host, port, path, speech, _client(sheet, item, speech))


def _parts(url: str) -> tuple[str, str, int | None, str]:
    try:
        split = urlsplit(url.strip())
        return split.scheme, (split.hostname or ""), split.port, split.path.rstrip("/")
    except ValueError:
        return "", "", None, ""


def _speech(sheet: Sheet, item: Item) -> Speech:
    """Tell the API from the setting's name, its mapping, what stands beside it, the stated client."""
    own = snake(item.name)
    for pattern, speech in _NATIVE:
        if pattern.search(own):
            return speech
    if _OPENAI.search(own):
        return Speech.OPENAI
    around = snake("_".join(str(part) for part in item.path[:-1]))
    told = " ".join(snake(value) for value in _providers(sheet, item))
    for pattern, speech in _NATIVE:
        if pattern.search(around) or any(pattern.search(word) for word in told.split()):
            return speech
    return sheet.reading.client.speech if sheet.reading.client else Speech.OPENAI


def _providers(sheet: Sheet, item: Item) -> Iterator[str]:
    """Yield providers named beside a base URL: a provider setting, or the prefix of the model's id."""
    mine = stem(item.name)
    for other in sheet.beside(item):
        if other.role is Role.PROVIDER and stem(other.name) in (mine, ""):
            yield other.value[:60]
        elif other.role is Role.MODEL and stem(other.name) == mine and "/" in other.value:
            yield other.value.partition("/")[0][:60]


def _client(sheet: Sheet, item: Item, speech: Speech) -> Client | None:
    if speech is Speech.ANTHROPIC:
        return CLIENTS["anthropic"]  # litellm, too, appends /v1/messages to such a base
    if sheet.kind is Kind.COMPOSE:
        name = client_of_image(_image(sheet, item))
        if name and sheet.reading.client is None:
            return CLIENTS[name]
    if item.name == "BASE_URL" and sheet.reading.client is None:
        return CLIENTS["nextchat"]
    return sheet.reading.client


def _image(sheet: Sheet, item: Item) -> str:
    service = item.path[:2]
    return next((other.value for other in sheet.items if other.path == (*service, "image")), "")
