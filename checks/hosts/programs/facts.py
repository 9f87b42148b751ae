"""Reads what a GPU host is: clock, GPUs, memory, disks, Pythons, ports, environment; changes nothing.

`gathering.py`, `gpu_tools.py` and `software.py` go before it. Every part runs beside the others, within a
share of the request's seconds, and may fail alone: its name is then in `failed`.
"""

# ruff: noqa: F821 - what it calls is of the files that are sent with it

from __future__ import annotations

import os
import platform
import socket
import struct
import sys
import time

PARTS_SHARE = 0.65
LAST_SHARE = 0.15
MAX_LISTENERS = 256
FIRST_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of Linux: there all processes have their pid
PARTS = ("system", "memory", "gpus", "ports", "environment", "team", "conda", "disks", "processes")


def main(request, tell):
    """Tell the clock at once (UTC seconds), then return all parts by name."""
    tell("time", utc=time.time())
    seconds = request["seconds"]
    parts = {
        "system": read_system,
        "memory": read_memory,
        "tools": lambda: read_tools(request),
        "ports": read_ports,
        "login": lambda: read_login(request),
        "conda": read_conda,
    }
    found = side_by_side(parts, PARTS_SHARE * seconds)
    found.update(found.pop("login", {}))
    found.update(found.pop("tools", {}))
    known = {item["name"]: item["value"] for item in found.get("environment", [])}
    found.update(side_by_side({"disks": lambda: read_disks(request, known)}, LAST_SHARE * seconds))
    found["python"] = {"path": sys.executable, "version": platform.python_version()}
    return dict(found, failed=[name for name in PARTS if name not in found])


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
