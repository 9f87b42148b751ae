"""What may be said of a host: strict, so that no value is ever read as an option or by a shell."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from checks.hostnames import BadHost, canonical_host, ip_of
from checks.pasted import is_blank, tidy

MAX_PATH: Final = 500
"""Characters of a path."""

# Dots and capitals too: accounts from a company's directory have them, and no shell minds either.
_USER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", re.ASCII)
_PYTHON_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}", re.ASCII)
# Signs that one shell or another (bash, dash, zsh, fish, csh) does not leave as they are.
_SHELL_SIGNS: Final = frozenset("\"'`$\\;&|<>(){}[]*?!#^%=")


class HostProblem(StrEnum):
    """Why a value of a host is refused; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> HostProblem:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    EMPTY = "empty", "There is nothing here."
    TOO_LONG = "too_long", f"A path has at most {MAX_PATH} characters."
    OPTION = "option", "This begins with a dash, as an option does."
    INNER_BLANK = "inner_blank", "There is a blank inside."
    CONTROL_CHARACTER = "control_character", "There is a line break or a control character inside."
    USER_INFO = "user_info", "Write the user in its own field, without the @ sign."
    PORT_INSIDE = "port_inside", "Write the port in its own field."
    URL = "url", "This is a URL; write the host alone."
    BAD_HOST = "bad_host", "This is not a host name and not an IP address."
    BAD_USER = "bad_user", "A user name has letters, digits, dots, dashes and underscores, at most 32."
    BAD_PORT = "bad_port", "A port is a number from 1 to 65535."
    SHELL_SIGN = "shell_sign", "A sign here means something to a shell."
    NOT_A_PROGRAM = "not_a_program", "Write a program's name or its full path from the root."
    NOT_A_FOLDER = "not_a_folder", "Write the full path of a folder from the root, or from ~/."


class HostRefused(ValueError):
    """A value of a host is refused. `character` is the one to blame, else empty."""

    def __init__(self, problem: HostProblem, character: str = "") -> None:
        super().__init__(f"{problem.sentence} {character}".rstrip())
        self.problem = problem
        self.character = character


def clean_address(raw: str) -> str:
    """Return a DNS name or an IP address (IPv6 without brackets), canonical, or raise `HostRefused`."""
    text = _tidied(raw)
    if "://" in text or "/" in text:
        raise HostRefused(HostProblem.URL)
    if "@" in text:
        raise HostRefused(HostProblem.USER_INFO)
    if _has_port(text):
        raise HostRefused(HostProblem.PORT_INSIDE)
    bare = text.removeprefix("[").removesuffix("]")
    try:
        return canonical_host(f"[{bare}]" if ":" in bare else text).name
    except BadHost:
        raise HostRefused(HostProblem.BAD_HOST) from None


def clean_user(raw: str) -> str:
    """Return a user name, or raise `HostRefused`."""
    text = _tidied(raw)
    if not _USER.fullmatch(text):
        raise HostRefused(HostProblem.BAD_USER)
    return text


def clean_port(value: int) -> int:
    """Return a port from 1 to 65535, or raise `HostRefused`."""
    if not 1 <= value <= 65_535:
        raise HostRefused(HostProblem.BAD_PORT)
    return value


def clean_python(raw: str) -> str:
    """Return a program's name ("python3") or absolute path, blanks allowed inside a path; or raise
    `HostRefused`. No login shell expands it, so there is no `~`."""
    text = tidy(raw).text
    _refuse_signs(text)
    if not _PYTHON_NAME.fullmatch(text) and not _is_absolute(text):
        raise HostRefused(HostProblem.NOT_A_PROGRAM)
    return text


def clean_folder(raw: str) -> str:
    """Return a folder's absolute path or one from `~/`, blanks allowed inside; empty stays empty. Raises
    `HostRefused`."""
    text = tidy(raw).text
    if not text:
        return ""
    _refuse_signs(text)
    if text != "~" and not _is_absolute(text.removeprefix("~")):
        raise HostRefused(HostProblem.NOT_A_FOLDER)
    return text


def _tidied(raw: str) -> str:
    """Take blanks off the ends, and refuse what no name or address holds."""
    text = tidy(raw).text
    _refuse_signs(text, also_blanks=True)
    return text


def _refuse_signs(text: str, *, also_blanks: bool = False) -> None:
    if not text:
        raise HostRefused(HostProblem.EMPTY)
    if len(text) > MAX_PATH:
        raise HostRefused(HostProblem.TOO_LONG)
    if text.startswith("-"):
        raise HostRefused(HostProblem.OPTION)
    for char in text:
        if is_blank(char) and (also_blanks or char != " "):
            raise HostRefused(HostProblem.INNER_BLANK)
        if not char.isprintable():
            raise HostRefused(HostProblem.CONTROL_CHARACTER)
        if char in _SHELL_SIGNS and not (also_blanks and char in "[]"):
            raise HostRefused(HostProblem.SHELL_SIGN, char)


def _has_port(text: str) -> bool:
    """Whether a port hangs on a name, an IPv4 address or a bracketed IPv6 address."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        return False
    return host.endswith("]") or (":" not in host and ip_of(text) is None)


def _is_absolute(text: str) -> bool:
    return text.startswith("/")
