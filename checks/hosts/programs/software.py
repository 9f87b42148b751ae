"""What a team's login shell finds, its variables and its Python, and conda environments: before `facts.py`.

No value of a key leaves the host.
"""

# ruff: noqa: F821 - capture and its caps are of gathering.py

from __future__ import annotations

import json
import os
import re
import shutil

SHELL_SHARE = 0.4  # login shells may initialise conda
MAX_ENVIRONMENTS = 40
MAX_FILES = 20000  # names looked at in one site-packages

PACKAGES = (
    *("agentlightning", "verl", "vllm", "torch", "sglang", "litellm", "openai", "langchain"),
    *("langchain-openai", "langgraph", "opentelemetry-exporter-otlp", "opentelemetry-sdk", "ray"),
    *("transformers", "httpx"),
)
PLAIN = (
    *("NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    *("ASCEND_RT_VISIBLE_DEVICES", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "OPENAI_MODEL", "MODEL"),
    *("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"),
    *("VLLM_SERVER_DEV_MODE", "RAY_ADDRESS", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "TMPDIR"),
    *("AGL_SERVER_HOST", "AGL_SERVER_PORT", "AGL_MANAGED_STORE", "AGL_CURRENT_ROLE"),
)
ADDRESSES = (
    *("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"),
    *("OPENAI_BASE_URL", "OPENAI_API_BASE", "HOSTED_VLLM_API_BASE", "AGL_BASE_URL", "HF_ENDPOINT"),
    *("AGL_OPENAI_BASE_URL", "AGL_EVENT_URL", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT"),
)
SECRETS = (
    *("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "LITELLM_MASTER_KEY", "AGL_KEY", "VLLM_API_KEY", "HF_TOKEN"),
    *("WANDB_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_API_KEY"),
)
PUBLIC_HEAD = re.compile(r"^(sk-(?:proj-|ant-|or-)?|hf_|gsk_|pf_|xai-|nvapi-)")
ASK_VERSIONS = """
import json, sys
from importlib import metadata
found = {}
for name in %r:
    try:
        found[name] = str(metadata.version(name))
    except Exception:
        pass
told = {"path": sys.executable, "version": sys.version.split()[0], "packages": found}
print("PREFLIGHT" + json.dumps(told))
""" % (PACKAGES,)
LOGIN = r"""
if [ -n "$PREFLIGHT_ACTIVATE" ]; then eval "$PREFLIGHT_ACTIVATE" >/dev/null 2>&1; fi
printf 'PREFLIGHT\0'; env -0; printf 'PREFLIGHT\1'
exec "$PREFLIGHT_PYTHON" -c "$PREFLIGHT_ASK"
"""


def read_login(request):
    """Return what one login shell of the team's finds after its activation: its variables and its Python.

    The texts go through the environment, so that no list of processes shows them.
    """
    shell = shutil.which("bash") or "/bin/sh"
    variables = dict(
        os.environ,
        PREFLIGHT_ACTIVATE=request.get("activate") or "",
        PREFLIGHT_PYTHON=request.get("python") or "python3",
        PREFLIGHT_ASK=ASK_VERSIONS,
    )
    workdir = request.get("workdir") or ""
    place = workdir if os.path.isdir(workdir) else None
    argv = [shell, "-lc", LOGIN]
    answer = capture(argv, request["run"], SHELL_SHARE * request["seconds"], variables, place)
    _, mark, text = answer["out"].partition("PREFLIGHT\0")
    if not mark:
        complaint = answer["state"] if answer["state"] == "hung" else answer["err"][-MAX_VALUE:]
        return {"team": {"complaint": complaint}}
    environment, _, python = text.rpartition("PREFLIGHT\1")
    return {"environment": variables_in(environment), "team": team_in(python, answer)}


def team_in(text, answer):
    """Return path, version and packages of the team's Python, or its complaint."""
    _, mark, told = text.rpartition("PREFLIGHT{")
    if mark:
        return json.loads("{" + told)
    return {"complaint": "hung" if answer["state"] == "hung" else answer["err"][-MAX_VALUE:].strip()}


def variables_in(text):
    """Return the variables that steer model clients, of the login shell and of the plain session."""
    login = dict(item.split("=", 1) for item in text.split("\0") if "=" in item)
    found = []
    for name in PLAIN + ADDRESSES + SECRETS:
        if name in login or name in os.environ:
            value = login.get(name, os.environ.get(name, ""))
            where = (
                "both" if name in login and name in os.environ else "login" if name in login else "session"
            )
            found.append({"name": name, "value": shown(name, value), "length": len(value), "where": where})
    return found


def shown(name, value):
    """Return what may leave the host: a vendor's public prefix of a key, an address without user-info."""
    if name in SECRETS:
        head = PUBLIC_HEAD.match(value)
        return head.group(0) if head else ""
    if name in ADDRESSES:
        scheme, mark, rest = value.partition("://")
        place = rest if mark else scheme
        host = place.split("?")[0].split("#")[0]
        if "@" in host:
            host = "[masked]@" + host.rpartition("@")[2]
        value = scheme + mark + host if mark else host
    return value[:MAX_VALUE]


def read_conda():
    """Return the conda environments, with the versions that stand in their site-packages' folder names."""
    home = os.path.expanduser("~")
    known = []
    try:
        with open(os.path.join(home, ".conda", "environments.txt"), encoding="utf-8") as lines:
            known = [line.strip() for line in lines][:MAX_ENVIRONMENTS]
    except (OSError, ValueError):
        pass
    bases = [os.path.join(home, name) for name in ("miniconda3", "anaconda3", "miniforge3", "mambaforge")]
    bases += ["/opt/conda", "/opt/miniconda3", "/opt/anaconda3", "/opt/miniforge3"]
    folders = [os.path.join(base, "envs") for base in bases] + [os.path.join(home, ".conda", "envs")]
    for folder in folders:
        try:
            known += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        except OSError:
            continue
    places = [path for path in dict.fromkeys(known) if os.path.isdir(os.path.join(path, "conda-meta"))]
    return [conda_environment(path) for path in places[:MAX_ENVIRONMENTS]]


def conda_environment(path):
    wanted = {name.replace("-", "_"): name for name in PACKAGES}
    version, packages = "", {}
    for name in sorted(os.listdir(os.path.join(path, "conda-meta")))[:MAX_FILES]:
        match = re.match(r"^python-(\d+\.\d+\.\d+)-", name)
        version = match.group(1) if match else version
    library = os.path.join(path, "lib")
    for folder in sorted(os.listdir(library)) if os.path.isdir(library) else []:
        site = os.path.join(library, folder, "site-packages")
        if re.match(r"^python\d", folder) and os.path.isdir(site):
            for name in os.listdir(site)[:MAX_FILES]:
                match = re.match(r"^([\w.]+)-([\w.+!]+)\.dist-info$", name)
                key = re.sub(r"[-_.]+", "_", match.group(1)).lower() if match else ""
                if key in wanted:
                    packages[wanted[key]] = match.group(2)
    return {"path": path, "name": os.path.basename(path), "version": version, "packages": packages}
