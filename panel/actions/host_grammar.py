"""Says in the reader's language why a value of a host, or a key for it, is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from checks.hosts.grammar import (
    HostProblem,
    HostRefused,
    clean_address,
    clean_folder,
    clean_python,
    clean_user,
)
from checks.spec import Masked
from panel.actions import Refused

if TYPE_CHECKING:  # SSH is loaded when it is first used
    from checks.hosts.keypairs import KeyPair

_SENTENCES: dict[HostProblem, Promise] = {
    HostProblem.EMPTY: _("There is nothing here."),
    HostProblem.TOO_LONG: _("This is too long: a path has at most 500 characters."),
    HostProblem.OPTION: _("This begins with a dash, as an option does. Write it without."),
    HostProblem.INNER_BLANK: _("There is a blank inside. Take it out."),
    HostProblem.CONTROL_CHARACTER: _("There is a line break or a control character inside. Type it again."),
    HostProblem.USER_INFO: _("Write the user in its own field, without the @ sign."),
    HostProblem.PORT_INSIDE: _("Write the port in its own field."),
    HostProblem.URL: _("This is a URL. Write the host's name or IP address alone."),
    HostProblem.BAD_HOST: _("This is not a host name and not an IP address."),
    HostProblem.BAD_USER: _("A user name has letters, digits, dots, dashes and underscores, at most 32."),
    HostProblem.BAD_PORT: _("A port is a number from 1 to 65535."),
    HostProblem.SHELL_SIGN: _("A sign here means something to a shell. Take it out."),
    HostProblem.NOT_A_PROGRAM: _("Write a program's name or its full path from the root."),
    HostProblem.NOT_A_FOLDER: _("Write the full path of a folder from the root, or from ~/."),
}
_KEY_SENTENCES: dict[str, Promise] = {
    "empty": _("There is no key. Paste the whole file."),
    "too_long": _("This is too long for a key."),
    "public": _("This is the public half. Paste the private key, the file without .pub."),
    "putty": _("This is a key of PuTTY. Export it as an OpenSSH key."),
    "unreadable": _(
        "This is not a whole private key in OpenSSH or PEM format. Paste it with its first and last line."
    ),
    "needs_passphrase": _("This key is encrypted. Give its passphrase."),
    "wrong_passphrase": _("The passphrase does not open this key."),
    "cipher": _("This kind of encryption is not read here. Take the passphrase off with ssh-keygen -p."),
    "too_weak": _("DSA keys and RSA keys of less than 2048 bits are not taken. Make an ed25519 key."),
    "hardware": _("This key works only with a security device plugged in. Make another one."),
}
_OF_THE_PASSPHRASE = ("needs_passphrase", "wrong_passphrase")


def judged(field: str, clean: Callable[[str], str], value: str) -> str:
    """Return the value as it is stored. Raises Refused for the form's field."""
    try:
        return clean(value)
    except HostRefused as refused:
        raise Refused(_SENTENCES[refused.problem], field) from refused


def address(value: str) -> str:
    """Return a host's name or IP address."""
    return judged("address", clean_address, value)


def user(value: str) -> str:
    """Return a user's name."""
    return judged("user", clean_user, value)


def python(value: str) -> str:
    """Return a Python's name or path."""
    return judged("python", clean_python, value)


def folder(value: str, field: str = "workdir") -> str:
    """Return a folder's path; empty stays empty."""
    return judged(field, clean_folder, value)


def pasted_pair(private: Masked, passphrase: Masked | None) -> KeyPair:
    """Read a pasted private key. Raises Refused; nothing of the key is in it."""
    from checks.hosts.keypairs import KeyPairRefused, read_key_pair

    try:
        return read_key_pair(private, passphrase)
    except KeyPairRefused as refused:
        code = str(refused.problem)
        field = "passphrase" if code in _OF_THE_PASSPHRASE else "private"
        raise Refused(_KEY_SENTENCES.get(code, _KEY_SENTENCES["unreadable"]), field) from None
