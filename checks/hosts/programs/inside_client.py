"""What runs in the client library's own interpreter: builds the real client, asks one question, tells all.

Python 3.8+, given as text to `python -c` by `client.py`, never by itself. It tells no key, only its end; it
sends nothing to another place than the lane's, since the key would go there too.
"""

from __future__ import annotations

import errno
import ipaddress
import json
import os
import re
import sys
import time

MAX_BODY = 32768  # characters
MAX_TEXT = 2000
MAX_HEADERS = 60
MAX_CHAIN = 12
SHOWN_KEY_FROM = 12  # characters; shorter keys show no end
NAMES = (
    *("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_MODEL", "LITELLM_MODEL", "OPENAI_ORG_ID"),
    *("OPENAI_ORGANIZATION", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"),
)
OPERATION = "/chat/completions"
USER = re.compile(r"(://)[^/\s@]*@")


class Elsewhere(Exception):
    """The client was about to ask another base URL than the lane's."""


class Story:
    """What is told, line by line, with the key taken out of every text."""

    def __init__(self, descriptor):
        self.out = os.fdopen(descriptor, "w")
        self.forms = []

    def hide(self, key):
        whole = {key, key.strip()} if isinstance(key, str) else set()
        self.forms = [form for form in whole | {repr(text)[1:-1] for text in whole} if len(form) >= 4]

    def tell(self, **values):
        self.out.write(json.dumps(self.masked(values), default=str) + "\n")
        self.out.flush()

    def masked(self, value):
        if isinstance(value, dict):
            return {name: self.masked(part) for name, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.masked(part) for part in value]
        if isinstance(value, str):
            for form in self.forms:
                value = value.replace(form, "[masked]")
        return value


def main():
    asked = json.loads(sys.stdin.read())
    story = Story(int(sys.argv[1]))
    story.hide(asked["key"])
    watch = {"dialled": [], "seen": {}, "elsewhere": "", "wait_ms": 0.0}
    watch_sockets(asked["allowed"], watch["dialled"])
    stage = "import"
    try:
        name = asked["client"]
        import_client(name)
        stage = "build"
        given = what_is_given(asked)
        story.tell(version=version_of(name), given=bool(given), python=sys.executable, env=environment())
        client = BUILDERS[name](asked, given)
        story.hide(client["key"])
        story.tell(**told_of(client))
        stage = "ask"
        watch_exchanges(asked["base_url"], watch)
        began = time.monotonic()
        answer = client["ask"]()
        story.tell(answered=True, wait_ms=(time.monotonic() - began) * 1000, **answer)
    except BaseException as error:  # noqa: BLE001 - told to who asked, whatever it is
        story.tell(stage=stage, chain=chain_of(error), response=response_of(error))
    story.tell(seen=watch["seen"], dialled=watch["dialled"][-8:], elsewhere=shown(watch["elsewhere"]))


def import_client(name):
    __import__({"openai": "openai", "langchain-openai": "langchain_openai", "litellm": "litellm"}[name])


def version_of(name):
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def what_is_given(asked):
    """Base URL and key as arguments where no variable that a client reads sets them; else nothing."""
    values = {"base_url": asked["base_url"], "api_key": asked["key"] or "EMPTY", "model": asked["model"]}
    values["litellm_model"] = "openai/" + asked["model"]  # litellm strips exactly one prefix
    if asked["lane"] == "rollout":
        return values
    if asked["lane"] != "replay":
        return {}
    base = os.environ.get("PREFLIGHT_REPLAY_BASE_URL")
    if base:
        named = os.environ.get("PREFLIGHT_REPLAY_LITELLM_MODEL") or values["litellm_model"]
        key = os.environ.get("PREFLIGHT_REPLAY_API_KEY") or "EMPTY"
        return dict(values, base_url=base, api_key=key, litellm_model=named)
    if litellm_base().rstrip("/") == asked["base_url"].rstrip("/"):
        return {}
    return values


def build_openai(asked, given):
    import openai

    arguments = {name: given[name] for name in ("base_url", "api_key") if name in given}
    client = openai.OpenAI(max_retries=0, timeout=asked["wait"], **arguments)
    model = given.get("model") or os.environ.get("OPENAI_MODEL") or asked["model"]

    def ask():
        limit = {asked["parameter"]: asked["length"]}
        answer = client.chat.completions.create(model=model, messages=messages(asked), **limit)
        return {"text": answer.choices[0].message.content, "tokens": total_of(answer)}

    base, retries = str(client.base_url), client.max_retries
    return {"base_url": base, "key": client.api_key, "model": model, "retries": retries, "ask": ask}


def build_langchain(asked, given):
    from langchain_openai import ChatOpenAI

    arguments = {name: given[name] for name in ("base_url", "api_key") if name in given}
    model = given.get("model") or os.environ.get("OPENAI_MODEL") or asked["model"]
    if asked["parameter"] == "max_tokens":  # the library itself sends the newer name
        arguments["extra_body"] = {"max_tokens": asked["length"]}
    else:
        arguments["max_tokens"] = asked["length"]
    client = ChatOpenAI(model=model, max_retries=0, timeout=asked["wait"], **arguments)

    def ask():
        answer = client.invoke(asked["question"])
        usage = getattr(answer, "usage_metadata", None) or {}
        return {"text": answer.content, "tokens": usage.get("total_tokens")}

    key = client.openai_api_key
    return {
        "base_url": str(client.root_client.base_url),
        "key": key.get_secret_value() if hasattr(key, "get_secret_value") else key,
        "model": client.model_name,
        "retries": client.root_client.max_retries,
        "ask": ask,
    }


def build_litellm(asked, given):
    import litellm

    names = {"base_url": "api_base", "api_key": "api_key"}
    arguments = {names[name]: given[name] for name in names if name in given}
    model = given.get("litellm_model") or os.environ.get("LITELLM_MODEL") or "openai/" + asked["model"]

    def ask():
        limit = {asked["parameter"]: asked["length"]}
        answer = litellm.completion(
            model=model,
            messages=messages(asked),
            num_retries=0,
            max_retries=0,
            timeout=asked["wait"],
            **limit,
            **arguments,
        )
        return {"text": answer.choices[0].message.content, "tokens": total_of(answer)}

    key = given.get("api_key") or os.environ.get("OPENAI_API_KEY", "")
    base = given.get("base_url") or litellm_base()
    return {"base_url": base, "key": key, "model": model, "retries": 0, "ask": ask}


BUILDERS = {"openai": build_openai, "langchain-openai": build_langchain, "litellm": build_litellm}


def litellm_base():
    """What litellm reads, in its order; it keeps no client that would tell."""
    return os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or ""


def messages(asked):
    return [{"role": "user", "content": asked["question"]}]


def total_of(answer):
    return getattr(getattr(answer, "usage", None), "total_tokens", None)


def told_of(client):
    key = client["key"] if isinstance(client["key"], str) else ""
    return {
        "base_url": shown(client["base_url"]),
        "key_tail": key[-4:] if len(key) >= SHOWN_KEY_FROM else "",
        "key_length": len(key),
        "model": shown(client["model"]),
        "retries": client["retries"],
    }


def environment():
    """The variables that decide where a request goes; none of them is a key."""
    found = {}
    for name in NAMES:
        for written in (name, name.lower()) if name.endswith("_PROXY") else (name,):
            if written in os.environ:
                found[written] = shown(os.environ[written])
    return found


def shown(text):
    return USER.sub(r"\1", str(text))[:MAX_TEXT]


def watch_sockets(allowed, dialled):
    """Note each address that is dialled; refuse what is not allowed, where that is said."""

    def hook(event, arguments):
        if event != "socket.connect" or not isinstance(arguments[1], tuple):
            return
        host, port = str(arguments[1][0]).partition("%")[0], arguments[1][1]
        dialled.append("[%s]:%s" % (host, port) if ":" in host else "%s:%s" % (host, port))
        if allowed is not None and not is_listed(host, allowed):
            raise PermissionError(errno.EACCES, "Preflight does not dial " + host + " from here")

    sys.addaudithook(hook)


def is_listed(host, allowed):
    try:
        return ipaddress.ip_address(host) in [ipaddress.ip_address(one) for one in allowed]
    except ValueError:
        return False


def watch_exchanges(base_url, watch):
    """See each exchange of the HTTP libraries below the clients, and stop one that would go elsewhere."""
    for name in ("httpx", "httpx2"):
        module = sys.modules.get(name)
        if module is not None:
            module.Client.send = watched(module.Client.send, base_of(module, base_url), watch)


def base_of(module, base_url):
    """The base as that library writes it: default ports dropped, the host in lower case."""
    try:
        return str(module.URL(base_url.rstrip("/"))).rstrip("/") + "/"
    except Exception:  # noqa: BLE001 - an address that is none is told by the client itself
        return base_url.rstrip("/") + "/"


def watched(send, base, watch):
    def watching(client, request, *rest, **named):
        url = str(request.url)
        if not url.startswith(base):
            watch["elsewhere"] = url
            raise Elsewhere("Preflight sent nothing to " + shown(url))
        watch["seen"].update(url=url, method=request.method)
        response = send(client, request, *rest, **named)
        watch["seen"].update(read_response(response))
        return response

    return watching


def read_response(response):
    """Status, headers and body of an answer, and whether it holds what every client needs to find."""
    found = {
        "status": response.status_code,
        "headers": [
            (name.lower(), value[:MAX_TEXT])
            for name, value in list(response.headers.items())[:MAX_HEADERS]
            if name.lower() != "set-cookie"
        ],
    }
    try:
        found["body"] = response.text[:MAX_BODY]
        found["is_completion"] = is_completion(response.text)
    except Exception:  # noqa: BLE001 - a body that is still to come, or cut
        found["body"] = ""
    return found


def is_completion(text):
    try:
        body = json.loads(text)
        return not body.get("error") and isinstance(body["choices"][0]["message"], dict)
    except Exception:  # noqa: BLE001 - whatever it is, a completion it is not
        return False


def chain_of(error):
    """Class, text and system error number of an exception and what caused it, outermost first."""
    links = []
    while error is not None and len(links) < MAX_CHAIN:
        kind = type(error)
        number = error.errno if isinstance(error, OSError) else None
        links.append([kind.__module__ + "." + kind.__qualname__, shown(error), number])
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return links


def response_of(error):
    """What an exception carries of an answer, for a library below that is not watched."""
    while error is not None:
        response = getattr(error, "response", None)
        if response is not None and isinstance(getattr(response, "status_code", None), int):
            return read_response(response)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return {}


main()
