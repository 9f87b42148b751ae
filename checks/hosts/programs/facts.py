"""Reads what a GPU host is: clock, GPUs, memory, disks, Pythons, ports, environment; changes nothing.

What the vendors' tools print goes back as text and is parsed by the panel (`checks.hosts.gpus`). Every
part runs beside the others, with a deadline of its own, and may fail alone: its name is then in `failed`.
No value of a key leaves the host, and of a process's arguments only a script's or module's name.
"""

# ruff: noqa: F821 - `start` is defined by frame.py, which is sent before this text

from __future__ import annotations

import json
import os
import platform
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

# Shares of the request's seconds (30 by default), so that an answer always comes before the deadline.
TOOL_SHARE = 0.25  # a healthy nvidia-smi takes 1 to 3 s; a hung driver never answers
MORE_SHARE = 0.1  # for the further questions, once it has answered
SHELL_SHARE = 0.4  # login shells may initialise conda
PARTS_SHARE = 0.5
LAST_SHARE = 0.15
TERM_SECONDS = 0.5
MAX_TEXT = 65536  # characters kept of a tool's output
MAX_ENVIRONMENT = 262144  # bytes
MAX_LISTENERS = 256
MAX_PROCESSES = 512
MAX_ENVIRONMENTS = 40
MAX_VALUE = 500
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of Linux: there all processes have their pid
MAX_FILES = 20000  # names looked at in one site-packages

PARTS = ("system", "memory", "smi", "ports", "environment", "team", "conda", "disks", "processes")
GPUS = "index,uuid,name,memory.total,memory.used,memory.free,utilization.gpu,driver_version,mig.mode.current"
APPS = "gpu_uuid,pid,used_memory,process_name"
CSV = "--format=csv,noheader,nounits"
ROCM = "--showproductname --showmeminfo vram --showuse --showdriverversion --showpids --json"
TOOLS = {
    "nvidia_gpus": ["nvidia-smi", "--query-gpu=" + GPUS, CSV],
    "nvidia_apps": ["nvidia-smi", "--query-compute-apps=" + APPS, CSV],
    "nvidia_list": ["nvidia-smi", "-L"],
    "nvidia_head": ["nvidia-smi"],
    "rocm": ["rocm-smi", *ROCM.split()],
    "npu": ["npu-smi", "info"],
}
PROCESS_LISTS = ("nvidia_apps", "rocm", "npu")
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
INTERPRETERS = re.compile(r"^(python|pypy|node|bash|sh|dash|zsh|perl|ruby|java)[\d.]*$")
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


def main(request, tell):
    """Tell the clock at once (UTC seconds), then return all parts by name."""
    tell("time", utc=time.time())
    seconds = request["seconds"]
    parts = {
        "system": read_system,
        "memory": read_memory,
        "smi": lambda: read_tools(request),
        "ports": read_ports,
        "login": lambda: read_login(request),
        "conda": read_conda,
    }
    found = side_by_side(parts, PARTS_SHARE * seconds)
    found.update(found.pop("login", {}))
    known = {item["name"]: item["value"] for item in found.get("environment", [])}
    last = {
        "disks": lambda: read_disks(request, known),
        "processes": lambda: read_processes(found.get("smi", {})),
    }
    found.update(side_by_side(last, LAST_SHARE * seconds))
    found["python"] = {"path": sys.executable, "version": platform.python_version()}
    return dict(found, failed=[name for name in PARTS if name not in found])


def side_by_side(parts, seconds):
    """Run all at once; return by name what ended in time and well."""
    found = {}

    def run_one(name):
        try:
            found[name] = parts[name]()
        except Exception:  # noqa: BLE001 - a part may fail alone
            pass

    threads = [threading.Thread(target=run_one, args=(name,), daemon=True) for name in parts]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(found)


def capture(argv, run, seconds, env=None, cwd=None):
    """Run a command; return its state ("ran", "absent", "hung", "failed"), code and capped output."""
    try:
        process = start(argv, run=run, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        return {"state": "absent", "code": None, "out": "", "err": ""}
    except OSError as error:
        return {"state": "failed", "code": None, "out": "", "err": str(error)[:MAX_VALUE]}
    kept = {"out": b"", "err": b""}

    def read(name, stream):
        kept[name] = stream.read(MAX_ENVIRONMENT)
        stream.close()  # whoever floods us gets SIGPIPE

    streams = (("out", process.stdout), ("err", process.stderr))
    readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in streams]
    until = time.monotonic() + seconds
    for reader in readers:
        reader.start()
    try:
        process.wait(seconds)
        state = "ran"
    except subprocess.TimeoutExpired:
        state = "hung"
        give_up(process)
    for reader in readers:
        reader.join(max(0.2, until - time.monotonic()))
    texts = {name: raw.decode("utf-8", "replace")[:MAX_TEXT] for name, raw in kept.items()}
    return dict(texts, state=state, code=process.returncode)


def give_up(process):
    """Ask a whole session to end, so that a shell may take its locks away, then end it; stuck in a driver,
    it cannot die, and nobody waits for that."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(TERM_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            continue


def read_system():
    """Return what the kernel says of itself; `sees_all` tells whether other users' processes are seen."""
    with open("/proc/stat", "rb") as lines:
        boot = [int(line.split()[1]) for line in lines if line.startswith(b"btime ")]
    return {
        "hostname": socket.gethostname(),
        "user": user_name(os.getuid()),
        "system": distribution(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "boot_time": boot[0] if boot else 0,
        "container": os.readlink("/proc/self/ns/pid") != FIRST_PID_NAMESPACE,
        "sees_all": os.path.isdir("/proc/1"),
    }


def distribution():
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as lines:
            pairs = dict(line.rstrip().split("=", 1) for line in lines if "=" in line)
        return pairs.get("PRETTY_NAME", "").strip("\"'") or platform.system()
    except OSError:
        return platform.system()


def read_memory():
    with open("/proc/meminfo", "rb") as lines:
        pairs = dict(line.split(b":", 1) for line in lines if b":" in line)
    return {
        "total": int(pairs[b"MemTotal"].split()[0]) * 1024,
        "available": int(pairs[b"MemAvailable"].split()[0]) * 1024,
    }


def read_tools(request):
    """Return what each vendor's tool printed; nvidia-smi is asked for more only once it has answered."""
    run = request["run"]
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/local/bin", "/opt/rocm/bin"))

    def asked(names, seconds):
        def ask(name):
            argv = TOOLS[name]
            return capture([shutil.which(argv[0], path=path) or argv[0], *argv[1:]], run, seconds)

        return side_by_side({name: lambda name=name: ask(name) for name in names}, seconds + 2 * TERM_SECONDS)

    found = asked(("nvidia_gpus", "rocm", "npu"), TOOL_SHARE * request["seconds"])
    if found.get("nvidia_gpus", {}).get("state") == "ran":
        found.update(asked(("nvidia_apps", "nvidia_list", "nvidia_head"), MORE_SHARE * request["seconds"]))
    return found


def read_processes(tools):
    """Return, for every number in the lists of processes that may be a pid, what that process is; None
    where there is none."""
    text = " ".join(tools.get(name, {}).get("out", "") for name in PROCESS_LISTS)
    pids = sorted({int(word) for word in re.findall(r"(?<![\d.:-])(?:PID)?(\d{1,7})(?![\d.:])", text)})
    return {str(pid): process_of(pid) for pid in pids[:MAX_PROCESSES] if pid > 1}


def process_of(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as line:
            fields = line.read().rpartition(b")")[2].split()
        owner = os.stat("/proc/%d" % pid).st_uid
    except OSError:
        return None
    with open("/proc/uptime", "rb") as line:
        uptime = float(line.read().split()[0])
    age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return {
        "state": fields[0].decode("ascii", "replace"),
        "user": user_name(owner),
        "age": max(0.0, age),
        "name": name_of(pid),
    }


def arguments_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as line:
            return [part.decode("utf-8", "replace") for part in line.read(8192).split(b"\0")]
    except OSError:
        return []


def name_of(pid):
    """Return the program's name and, for an interpreter, its script's or module's; never an argument."""
    arguments = arguments_of(pid)
    if not arguments or not arguments[0].strip():
        try:
            with open("/proc/%d/comm" % pid, "rb") as line:
                return line.read(64).decode("utf-8", "replace").strip()
        except OSError:
            return ""
    base = os.path.basename(arguments[0].split()[0])[:80]
    if not INTERPRETERS.match(base):
        return base
    rest = arguments[1:]
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if not rest or rest[0] == "-c":
        return base
    script = rest[1] if rest[0] == "-m" and len(rest) > 1 else os.path.basename(rest[0])
    return base + " " + script[:80] if re.match(r"^[\w.+-]{1,80}$", script) else base


def user_name(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def read_ports():
    """Return who listens for TCP and where. Sockets of other users have an owner, and a process only for
    root."""
    listeners = {}
    for name, size in (("tcp", 8), ("tcp6", 32)):
        try:
            with open("/proc/net/" + name) as lines:
                next(lines)
                for line in lines:
                    fields = line.split()
                    if fields[3] == "0A":
                        address, _, port = fields[1].rpartition(":")
                        listeners[fields[9]] = (numeric(address, size), int(port, 16), int(fields[7]))
        except OSError:
            continue
    owners = holders_of({"socket:[%s]" % inode for inode in listeners})
    found = [described(*listeners[inode], owners.get("socket:[%s]" % inode)) for inode in listeners]
    return sorted(found, key=lambda item: (item["port"], item["address"]))[:MAX_LISTENERS]


def numeric(text, size):
    """Return the address that the kernel writes as 32-bit words in the machine's own order."""
    words = [struct.pack("=I", int(text[at : at + 8], 16)) for at in range(0, size, 8)]
    family = socket.AF_INET if size == 8 else socket.AF_INET6
    address = socket.inet_ntop(family, b"".join(words))
    return address[7:] if address.startswith("::ffff:") and "." in address else address


def holders_of(sockets):
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                for handle in os.listdir("/proc/%s/fd" % name):
                    target = os.readlink("/proc/%s/fd/%s" % (name, handle))
                    if target in sockets:
                        found.setdefault(target, int(name))
            except OSError:
                continue
    return found


def described(address, port, uid, pid):
    name, traits = (name_of(pid), traits_of(pid)) if pid else ("", [])
    owner = user_name(uid)
    return {"address": address, "port": port, "user": owner, "pid": pid, "name": name, "traits": traits}


def traits_of(pid):
    """Return what makes an open port of this process matter; no value leaves the host."""
    line = arguments_of(pid)
    names = {os.path.basename(part) for part in line[:4]}
    traits = []
    if "agl-server" in names or "agentlightning.server" in names:
        keys = [part[4:] for part in line if part.startswith("key=")]
        if not any(key.strip("'\"") for key in keys):
            traits.append("gateway_no_key")
    if any("vllm" in part.lower() for part in line[:4]):
        try:
            with open("/proc/%d/environ" % pid, "rb") as environment:
                if b"VLLM_SERVER_DEV_MODE=1" in environment.read(MAX_ENVIRONMENT).split(b"\0"):
                    traits.append("vllm_dev")
        except OSError:
            pass
    return traits


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


def read_disks(request, homes):
    """Return room on the file systems a training run writes to; a folder that is not yet there counts as
    its nearest parent."""
    hub = homes.get("HF_HUB_CACHE") or os.path.join(
        homes.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface"), "hub"
    )
    places = [("root", "/"), ("workdir", request.get("workdir") or "")]
    places += [("models", hub), ("temporary", homes.get("TMPDIR") or "/tmp"), ("shared", "/dev/shm")]  # noqa: S108
    found = []
    for role, path in places:
        if path:
            try:
                found.append(disk_at(role, path))
            except OSError:
                continue
    return found


def disk_at(role, path):
    place = os.path.expanduser(path)
    while not os.path.exists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    room = os.statvfs(place)
    size = room.f_frsize
    return {
        "role": role,
        "path": path,
        "device": str(os.stat(place).st_dev),
        "total": room.f_blocks * size,
        "free": room.f_bavail * size,
        "writable": os.access(place, os.W_OK),
    }
