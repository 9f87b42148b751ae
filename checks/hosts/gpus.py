"""What the vendors' tools say of GPUs, read from what they print: nvidia-smi, rocm-smi, npu-smi."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

MIB: Final = 1 << 20
MAX_GPUS: Final = 64
MAX_HOLDERS: Final = 256
MAX_OUTPUT: Final = 65_536  # characters of one tool
MAX_COMPLAINT: Final = 300
TOOLS: Final = ("nvidia_gpus", "nvidia_apps", "nvidia_list", "nvidia_head", "rocm", "npu")
SHORTEST_ROW: Final = 9  # columns asked for in checks/hosts/programs/facts.py


class Driver(StrEnum):
    """How the GPUs' driver answers. `ABSENT`: no tool of any vendor is installed; `EMPTY`: the tool is
    there and finds no GPU; `MISMATCH`: library and kernel module have different versions, until a reboot;
    `HUNG`: the tool never ended; `BROKEN`: anything else it complained about."""

    OK = "ok"
    ABSENT = "absent"
    EMPTY = "empty"
    MISMATCH = "mismatch"
    HUNG = "hung"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, in the order of its vendor's tool. Memory is in bytes, None where the tool could not say;
    `utilization` in percent. `slices` are the MIG instances it is cut into ("3g.40gb")."""

    index: int = 0
    uuid: str = ""
    name: str = ""
    vendor: str = ""
    total: int | None = None
    used: int | None = None
    free: int | None = None
    utilization: int | None = None
    mig: bool = False
    slices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds memory on a GPU: `gpu` is its index, -1 where the tool does not say; `used` in
    bytes, `age` in seconds. `alive` is False for a process that is gone or a zombie, None where this user
    cannot see. `name` holds no arguments."""

    pid: int = 0
    gpu: int = -1
    used: int | None = None
    name: str = ""
    user: str = ""
    age: float | None = None
    alive: bool | None = None


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """All GPUs of a host. `driver` is the driver's version, `cuda` the newest CUDA it serves; `complaint`
    is what the tool said where `state` is not ok."""

    state: Driver = Driver.ABSENT
    driver: str = ""
    cuda: str = ""
    gpus: tuple[Gpu, ...] = ()
    holders: tuple[Holder, ...] = ()
    complaint: str = ""


def read_gpus(tools: object, processes: object, *, sees_all: bool = True) -> GpuFacts:
    """Return what the tools said. `tools` are their outputs and `processes` what each pid is, as
    programs/facts.py tells them; with `sees_all` False (a container, hidden processes) a pid that is not
    found says nothing."""
    said = {name: _Said.of(tools, name) for name in TOOLS}
    if said["nvidia_gpus"].state != "absent":
        facts = _nvidia(said)
    elif said["rocm"].state != "absent":
        facts = _rocm(said["rocm"])
    elif said["npu"].state != "absent":
        facts = _npu(said["npu"])
    else:
        facts = GpuFacts()
    known = processes if isinstance(processes, Mapping) else {}
    holders = tuple(_known(holder, known, sees_all) for holder in facts.holders[:MAX_HOLDERS])
    return replace(facts, gpus=facts.gpus[:MAX_GPUS], holders=holders)


@dataclass(frozen=True, slots=True)
class _Said:
    state: str = "absent"
    code: int | None = None
    out: str = ""
    err: str = ""

    @classmethod
    def of(cls, tools: object, name: str) -> _Said:
        found = tools.get(name) if isinstance(tools, Mapping) else None
        if not isinstance(found, Mapping):
            return cls()
        code = found.get("code")
        texts = [str(found.get(part, ""))[:MAX_OUTPUT] for part in ("state", "out", "err")]
        return cls(texts[0], code if isinstance(code, int) else None, texts[1], texts[2])

    @property
    def trouble(self) -> GpuFacts | None:
        """Facts of a tool that could not say anything; None for one that could."""
        text = f"{self.out}\n{self.err}".strip()
        complaint = text[:MAX_COMPLAINT]
        if self.state == "hung":
            return GpuFacts(Driver.HUNG)
        if "driver/library version mismatch" in text.lower():
            return GpuFacts(Driver.MISMATCH, complaint=complaint)
        if "no devices were found" in text.lower():
            return GpuFacts(Driver.EMPTY)
        if self.state != "ran" or self.code != 0:
            return GpuFacts(Driver.BROKEN, complaint=complaint)
        return None


def _nvidia(said: Mapping[str, _Said]) -> GpuFacts:
    trouble = said["nvidia_gpus"].trouble
    if trouble is not None:
        return trouble
    rows = [row for row in _rows(said["nvidia_gpus"].out) if len(row) >= SHORTEST_ROW]
    slices = _slices(said["nvidia_list"].out)
    gpus = tuple(_nvidia_gpu(row, slices) for row in rows)
    lost = next((gpu for gpu in gpus if gpu.total is None), None)
    cuda = re.search(r"CUDA (?:UMD )?Version: *([\d.]+)", said["nvidia_head"].out)
    by_uuid = {gpu.uuid: gpu.index for gpu in gpus}
    return GpuFacts(
        state=Driver.BROKEN if lost else Driver.OK if gpus else Driver.EMPTY,
        driver=rows[0][7] if rows else "",
        cuda=cuda[1] if cuda else "",
        gpus=gpus,
        holders=tuple(_nvidia_holders(said["nvidia_apps"].out, by_uuid)),
        complaint=f"GPU {lost.index}: {lost.name}" if lost else "",
    )


def _nvidia_gpu(row: list[str], slices: Mapping[str, tuple[str, ...]]) -> Gpu:
    return Gpu(
        index=_number(row[0]) or 0,
        uuid=row[1],
        name=row[2],
        vendor="nvidia",
        total=_mib(row[3]),
        used=_mib(row[4]),
        free=_mib(row[5]),
        utilization=_number(row[6]),
        mig=row[8].lower() == "enabled",
        slices=slices.get(row[1], ()),
    )


def _nvidia_holders(text: str, by_uuid: Mapping[str, int]) -> Iterator[Holder]:
    for row in _rows(text):
        pid = _number(row[1]) if len(row) >= 4 else None
        if pid is not None:
            yield Holder(pid, by_uuid.get(row[0], -1), _mib(row[2]), _base_name(",".join(row[3:])))


def _slices(text: str) -> dict[str, tuple[str, ...]]:
    """Return the MIG profiles by the UUID of the GPU that `nvidia-smi -L` lists them under."""
    found: dict[str, tuple[str, ...]] = {}
    current = ""
    for line in text.splitlines():
        whole = re.match(r"GPU \d+: .*\(UUID: ([\w-]+)\)", line)
        part = re.match(r"\s+MIG (\S+)\s+Device", line)
        if whole:
            current = whole[1]
        elif part and current:
            found[current] = (*found.get(current, ()), part[1])
    return found


def _rocm(said: _Said) -> GpuFacts:
    trouble = said.trouble
    if trouble is not None:
        return trouble
    try:
        cards = json.loads(said.out[said.out.index("{") :])
    except (ValueError, RecursionError):
        return GpuFacts(Driver.BROKEN, complaint=said.out[:MAX_COMPLAINT])
    found = {name: card for name, card in cards.items() if isinstance(card, Mapping)}
    names = [name for name in found if re.fullmatch(r"card\d{1,3}", name)]
    gpus = [_rocm_gpu(int(name[4:]), found[name]) for name in names]
    system = found.get("system", {})
    return GpuFacts(
        state=Driver.OK if gpus else Driver.EMPTY,
        driver=str(system.get("Driver version", "")),
        gpus=tuple(sorted(gpus, key=lambda gpu: gpu.index)),
        holders=tuple(_rocm_holders(system)),
    )


def _rocm_gpu(index: int, card: Mapping[str, Any]) -> Gpu:
    texts = {name.lower(): str(value) for name, value in card.items()}
    total = _number(texts.get("vram total memory (b)", ""))
    used = _number(texts.get("vram total used memory (b)", ""))
    names = [texts.get(name, "") for name in ("card series", "card model", "device name")]
    return Gpu(
        index=index,
        uuid=texts.get("unique id", ""),
        name=next((name for name in names if name not in ("", "N/A")), "AMD GPU"),
        vendor="amd",
        total=total,
        used=used,
        free=total - used if total is not None and used is not None else None,
        utilization=_number(texts.get("gpu use (%)", "")),
    )


def _rocm_holders(system: Mapping[str, Any]) -> Iterator[Holder]:
    """Read `"PID1234": "python, 1, 4096, 0, 0"`: name, number of GPUs, VRAM in bytes, SDMA, occupancy."""
    for name, value in system.items():
        pid = re.fullmatch(r"PID(\d{1,9})", name)
        parts = [part.strip() for part in str(value).split(",")]
        if pid and len(parts) >= 3:
            yield Holder(int(pid[1]), -1, _number(parts[2]), _base_name(parts[0]))


def _npu(said: _Said) -> GpuFacts:
    """Read the boxes of `npu-smi info`: two lines a chip, then a table of processes."""
    trouble = said.trouble
    if trouble is not None:
        return trouble
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in said.out.splitlines()]
    gpus: list[Gpu] = []
    holders: list[Holder] = []
    by_chip: dict[tuple[str, str], int] = {}
    for above, row in zip([[], *rows], rows, strict=False):
        chip = _npu_chip(above, row, len(gpus))
        if chip is not None:
            by_chip[(above[0].split()[0], row[0].split()[0])] = chip.index
            gpus.append(chip)
        elif len(row) == 4 and re.fullmatch(r"\d+\s+\d+", row[0]) and row[1].isdigit():
            place = by_chip.get(tuple(row[0].split()), -1)  # type: ignore[arg-type]
            holders.append(Holder(int(row[1]), place, _mib(row[3]), _base_name(row[2])))
    version = re.search(r"npu-smi\s+\S+\s+Version:\s*([\w.]+)", said.out)
    state = Driver.OK if gpus else Driver.EMPTY
    return GpuFacts(state, version[1] if version else "", "", tuple(gpus), tuple(holders))


def _npu_chip(above: list[str], row: list[str], index: int) -> Gpu | None:
    """Return the chip of a line with a bus address and the line above it, which has the name."""
    if len(row) != 3 or len(above) != 3 or not re.match(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:", row[1]):
        return None
    if not re.match(r"\d+\s+\S", above[0]) or not row[0]:
        return None
    pairs = re.findall(r"(\d+)\s*/\s*(\d+)", row[2])
    used, total = (int(part) * MIB for part in pairs[-1]) if pairs else (None, None)
    busy = _number(row[2].split()[0]) if row[2] else None
    free = total - used if total is not None and used is not None else None
    name = above[0].split(None, 1)[1]
    return Gpu(index, row[1], name, "ascend", total, used, free, busy)


def _known(holder: Holder, processes: Mapping[str, Any], sees_all: bool) -> Holder:
    """Add who the process is; a pid that nobody asked for stays unknown."""
    found = processes.get(str(holder.pid), ...)
    if found is None:
        return replace(holder, alive=False if sees_all else None)
    if not isinstance(found, Mapping) or not found:
        return holder
    age = found.get("age")
    return replace(
        holder,
        name=str(found.get("name") or holder.name),
        user=str(found.get("user") or ""),
        age=float(age) if isinstance(age, int | float) else None,
        alive=found.get("state") not in ("Z", "X"),
    )


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), skipinitialspace=True)]


def _base_name(path: str) -> str:
    """Return the last part of a program's path, without arguments; nothing for "[Not Found]"."""
    words = path.split()
    return "" if not words or path.startswith("[") else words[0].rpartition("/")[2]


def _number(text: str) -> int | None:
    """Return the whole number; None for "[N/A]", "[GPU is lost]", "ERR!"."""
    match = re.fullmatch(r"(\d{1,18})(?:\.\d+)?\s*%?", text.strip())
    return int(match[1]) if match else None


def _mib(text: str) -> int | None:
    number = _number(text.split()[0]) if text.split() else None
    return None if number is None else number * MIB
