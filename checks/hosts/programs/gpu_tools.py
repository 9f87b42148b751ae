"""What the vendors' tools print of GPUs, and who holds their memory: goes before `facts.py`.

The text goes back as it is and is parsed by the panel (`checks.hosts.gpus`); of a process's arguments only
a script's or module's name leaves the host.
"""

# ruff: noqa: F821 - capture, side_by_side and their caps are of gathering.py

from __future__ import annotations

import os
import pwd
import re
import shutil
import time

# Shares of the request's seconds.
TOOL_SHARE = 0.25  # a healthy nvidia-smi takes 1 to 3 s; a hung driver never answers
MORE_SHARE = 0.1  # for the further questions, once it has answered
MAX_PROCESSES = 512

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
# Where a tool's list of processes has their numbers.
PIDS = {
    "nvidia_apps": r"(?m)^[^,\n]*,\s*(\d{1,9})\s*,",
    "rocm": r'"PID(\d{1,9})"',
    "npu": r"(?m)^\|\s*\d+\s+\d+\s*\|\s*(\d{1,9})\s*\|",
}
RACE_SECONDS = 1.0
HARMLESS = ("-u", "-B", "-I", "-E", "-s", "-O", "-jar")  # options without a value of their own
INTERPRETERS = re.compile(r"^(python|pypy|node|bash|sh|dash|zsh|perl|ruby|java)[\d.]*$")


def read_tools(request):
    """Return what each vendor's tool printed, and who the processes are that it lists.

    A process may end between the list and the look: what seems gone is believed only when the tool lists
    it once more afterwards.
    """
    run, seconds = request["run"], request["seconds"]
    found = asked(("nvidia_gpus", "rocm", "npu"), run, TOOL_SHARE * seconds)
    if found.get("nvidia_gpus", {}).get("state") == "ran":
        found.update(asked(("nvidia_apps", "nvidia_list", "nvidia_head"), run, MORE_SHARE * seconds))
    processes = read_processes(found)
    if not all(is_alive(process) for process in processes.values()):
        time.sleep(RACE_SECONDS)
        ran = [name for name in PIDS if found.get(name, {}).get("state") == "ran"]
        again = asked(ran, run, TOOL_SHARE * seconds)
        found.update((name, said) for name, said in again.items() if said["state"] == "ran")
        later = read_processes(again)
        sure = {pid: was if is_alive(was) or pid in later else {} for pid, was in processes.items()}
        processes = dict(later, **sure)
    return {"gpus": found, "processes": processes}


def asked(names, run, seconds):
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/local/bin", "/opt/rocm/bin"))

    def ask(name):
        program, *rest = TOOLS[name]
        return capture([shutil.which(program, path=path) or program, *rest], run, seconds)

    return side_by_side({name: lambda name=name: ask(name) for name in names}, seconds + 2 * TERM_SECONDS)


def read_processes(tools):
    """Return by pid who holds memory; None for a process that is not there."""
    pids = {pid for name in PIDS for pid in re.findall(PIDS[name], tools.get(name, {}).get("out", ""))}
    return {pid: process_of(int(pid)) for pid in sorted(pids, key=int)[:MAX_PROCESSES]}


def is_alive(process):
    return process is not None and process.get("state") not in ("Z", "X")


def process_of(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as line:
            fields = line.read().rpartition(b")")[2].split()
        owner = os.stat("/proc/%d" % pid).st_uid
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:  # hidden from this user (hidepid)
        return {}
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
    while rest and rest[0].startswith("-") and rest[0] in HARMLESS:
        rest = rest[1:]
    if len(rest) > 1 and rest[0] == "-m" and re.match(r"^[\w.]{1,80}$", rest[1]):
        return base + " " + rest[1]
    return base + " " + os.path.basename(rest[0])[:80] if rest and is_script(rest[0]) else base


def is_script(argument):
    """Tell a script's path from any other argument, which may be a secret."""
    known = argument.endswith((".py", ".sh", ".js", ".jar", ".pl", ".rb"))
    return not argument.startswith("-") and (known or (os.path.isabs(argument) and os.path.isfile(argument)))


def user_name(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
