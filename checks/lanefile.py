"""A lane described in a TOML file, read into a spec or refused field by field."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Final, TypeVar

from checks.addresses import AddressError, clean_base_url
from checks.hosts.grammar import (
    HostRefused,
    clean_address,
    clean_folder,
    clean_port,
    clean_python,
    clean_user,
)
from checks.hosts.keypairs import KeyPairRefused, read_host_key, read_key_pair
from checks.keys import KeyRefused, clean_key
from checks.outcome import Rung
from checks.spec import EgressPolicy, EndpointKind, HostSpec, LaneKind, LaneSpec, Masked, Where

MAX_FILE_BYTES: Final = 65_536
LONGEST_DEADLINE: Final = 600

Kind = TypeVar("Kind", bound=StrEnum)

_INLINE_KEYS: Final = ("api_key", "key", "token", "secret", "apikey")


class LaneFileError(ValueError):
    """The file cannot be used: which field, what is wrong, how to mend it. Never quotes a key."""

    def __init__(self, field: str, problem: str, mend: str) -> None:
        super().__init__(f"{field}: {problem} {mend}")
        self.field = field
        self.problem = problem
        self.mend = mend


@dataclass(frozen=True, slots=True)
class LaneFile:
    """A spec, and what was changed in what the file said, as English sentences."""

    spec: LaneSpec
    edits: tuple[str, ...] = ()


def read_lane_file(path: Path, environ: Mapping[str, str]) -> LaneFile:
    """Read the TOML file at `path`; the key comes from the variable of `environ` that the file names.

    Raises LaneFileError.
    """
    table = _parse(path)
    for name in table:
        _refuse_unknown(name)
    base_url, edits = _base_url(table)
    rungs = _rungs(table)
    return LaneFile(
        LaneSpec(
            id=_text(table, "id", path.stem),
            base_url=base_url,
            model=_model(table, rungs),
            key=_key(table, environ),
            lane=_choice(table, "lane", LaneKind, LaneKind.AGENT),
            kind=_choice(table, "kind", EndpointKind, EndpointKind.OPENAI),
            rungs=rungs,
            deadline=_deadline(table),
            latency_limit_ms=_whole_number(table, "latency_limit_ms"),
            token_budget=_whole_number(table, "token_budget"),
            egress=EgressPolicy(_networks(table)),
            ca_file=_text(table, "ca_file", "") or None,
            negative=_flag(table, "negative"),
            repeat=_flag(table, "repeat"),
            contract=_flag(table, "contract"),
            place="here",
            where=_choice(table, "where", Where, Where.HOST if "host" in table else Where.WORKER),
            host=_host(table, path.parent),
        ),
        edits,
    )


_FIELDS: Final = (
    "allow",
    "api_key_env",
    "base_url",
    "ca_file",
    "contract",
    "deadline",
    "host",
    "id",
    "kind",
    "lane",
    "latency_limit_ms",
    "model",
    "negative",
    "repeat",
    "rungs",
    "token_budget",
    "where",
)
_HOST_FIELDS: Final = ("activate", "address", "host_key", "key_file", "port", "python", "user", "workdir")


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise LaneFileError("file", "It is too large for a lane.", "Give the TOML file of one lane.")
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as exc:
        raise LaneFileError(
            "file", f"It cannot be read ({exc.strerror}).", "Give the path of a TOML file."
        ) from exc
    except UnicodeDecodeError as exc:
        raise LaneFileError("file", "It is not UTF-8 text.", "Save it as UTF-8.") from exc
    except tomllib.TOMLDecodeError as exc:
        raise LaneFileError(
            "file", f"It is not TOML: {exc}.", 'Write lines such as model = "my-model".'
        ) from exc


def _refuse_unknown(name: str) -> None:
    if name.lower() in _INLINE_KEYS:
        raise LaneFileError(
            name, "A key has no place in a file.", 'Name the variable that holds it: api_key_env = "MY_KEY".'
        )
    if name not in _FIELDS:
        raise LaneFileError(name[:60], "There is no such field.", f"Known are {', '.join(_FIELDS)}.")


def _base_url(table: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    raw = _text(table, "base_url", "")
    try:
        clean = clean_base_url(raw)
    except AddressError as exc:
        offers = f"Did you mean {' or '.join(exc.suggestions)}?" if exc.suggestions else ""
        raise LaneFileError("base_url", str(exc), offers or "Write it as https://host/v1.") from exc
    return clean.url, tuple(f"base_url: {edit.sentence}" for edit in clean.edits)


def _model(table: dict[str, Any], rungs: tuple[Rung, ...]) -> str:
    model = _text(table, "model", "").strip()
    if not model and any(rung > Rung.NETWORK for rung in rungs):
        raise LaneFileError("model", "It is missing.", 'Write model = "…", or ask for rungs = [1] alone.')
    return model


def _key(table: dict[str, Any], environ: Mapping[str, str]) -> Masked | None:
    name = _text(table, "api_key_env", "")
    if not name:
        return None
    if not name.isidentifier() or not name.isascii():
        raise LaneFileError(
            "api_key_env", "This is no name of a variable.", "Give the name, not the key itself."
        )
    if name not in environ:
        raise LaneFileError("api_key_env", f"The variable {name} is not set.", f"Run: export {name}=…")
    try:
        return clean_key(environ[name]).value
    except KeyRefused as exc:
        raise LaneFileError(
            "api_key_env", f"The key in {name} cannot be sent: {exc}", "Set it anew."
        ) from exc


def _rungs(table: dict[str, Any]) -> tuple[Rung, ...]:
    given = table.get("rungs", [1, 2])
    known = {int(rung) for rung in Rung}
    if (
        not isinstance(given, list)
        or not given
        or any(type(rung) is not int or rung not in known for rung in given)
    ):
        raise LaneFileError("rungs", "It is a list of numbers from 1 to 5.", "Write rungs = [1, 2].")
    return tuple(Rung(rung) for rung in sorted(set(given)))


def _deadline(table: dict[str, Any]) -> float:
    given = table.get("deadline", 30)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= LONGEST_DEADLINE:
        raise LaneFileError(
            "deadline", f"It is a number of seconds up to {LONGEST_DEADLINE}.", "Write deadline = 30."
        )
    return float(given)


def _host(table: dict[str, Any], folder: Path) -> HostSpec | None:
    """The machine of the table [host]; its private key comes from a file beside this one."""
    given = table.get("host")
    if given is None:
        if table.get("where", Where.WORKER) != Where.WORKER:
            raise LaneFileError("where", "There is no host to ask from.", "Add a table [host].")
        return None
    if not isinstance(given, dict) or set(given) - set(_HOST_FIELDS):
        raise LaneFileError("host", "It is no table of a host.", f"Known are {', '.join(_HOST_FIELDS)}.")
    try:
        return _host_of(given, folder, EgressPolicy(_networks(table)))
    except (HostRefused, KeyPairRefused) as exc:
        raise LaneFileError("host", str(exc), "See docs/using.md.") from exc


def _host_of(table: dict[str, Any], folder: Path, egress: EgressPolicy) -> HostSpec:
    address = clean_address(_text(table, "address", ""))
    key_file = folder / Path(_text(table, "key_file", "")).expanduser()
    port = _whole_number(table, "port")
    return HostSpec(
        code=address,
        name=address,
        address=address,
        user=clean_user(_text(table, "user", "")),
        port=clean_port(22 if port is None else port),
        host_keys=(read_host_key(_text(table, "host_key", "")),),
        private_key=read_key_pair(_private_key(key_file)).private,
        python=clean_python(_text(table, "python", "python3")),
        workdir=clean_folder(_text(table, "workdir", "")),
        activate=_text(table, "activate", ""),
        egress=egress,
    )


def _private_key(path: Path) -> Masked:
    try:
        with path.open("rb") as file:
            return Masked(file.read(MAX_FILE_BYTES).decode("utf-8", "replace"))
    except OSError as exc:
        raise LaneFileError(
            "key_file", f"It cannot be read ({exc.strerror}).", "Give the path of a private key."
        ) from exc


def _networks(table: dict[str, Any]) -> tuple[IPv4Network | IPv6Network, ...]:
    given = table.get("allow", [])
    mend = 'Write allow = ["127.0.0.0/8", "::1/128"].'
    if not isinstance(given, list) or not all(isinstance(network, str) for network in given):
        raise LaneFileError("allow", "It is a list of networks.", mend)
    try:
        return tuple(ip_network(network) for network in given)
    except ValueError as exc:
        raise LaneFileError("allow", f"{exc}.", mend) from exc


def _text(table: dict[str, Any], name: str, otherwise: str) -> str:
    given = table.get(name, otherwise)
    if not isinstance(given, str):
        raise LaneFileError(name, "It is not a text.", f'Write {name} = "…".')
    return given


def _whole_number(table: dict[str, Any], name: str) -> int | None:
    given = table.get(name)
    if given is not None and (type(given) is not int or given < 0):
        raise LaneFileError(name, "It is not a whole number.", f"Write {name} = 2000, or leave it out.")
    return given


def _flag(table: dict[str, Any], name: str) -> bool:
    given = table.get(name, False)
    if not isinstance(given, bool):
        raise LaneFileError(name, "It is neither true nor false.", f"Write {name} = true, or leave it out.")
    return given


def _choice(table: dict[str, Any], name: str, kinds: type[Kind], otherwise: Kind) -> Kind:
    given = _text(table, name, otherwise)
    try:
        return kinds(given)
    except ValueError as exc:
        raise LaneFileError(name, "This kind is unknown.", f"Known are {', '.join(kinds)}.") from exc
