"""Login keys and host keys as people have them: made here, or pasted, read and written anew.

Nothing here puts a private key, or a piece of one, into an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Final

import asyncssh

from checks.hosts.trust import line_of
from checks.spec import Masked

COMMENT: Final = "preflight"
MAX_LENGTH: Final = 16_384
"""Characters of a pasted key: an RSA key of 16,384 bits has 12,500."""
LEAST_RSA_BITS: Final = 2048

# How an OpenSSH private key begins, in base64: its magic, and the name of its cipher, here "none".
_OPENSSH: Final = "b3BlbnNzaC1rZXktdjEAAAAA"
_PLAIN_OPENSSH: Final = _OPENSSH + "BG5vbm"
_PUBLIC_TYPES: Final = ("ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-")


class KeyPairProblem(StrEnum):
    """Why a pasted key is refused; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> KeyPairProblem:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    EMPTY = "empty", "There is no key."
    TOO_LONG = "too_long", f"A key has at most {MAX_LENGTH} characters."
    PUBLIC = "public", "This is the public half; paste the private key, the file without .pub."
    PRIVATE = "private", "This is a private key; paste the public one, and renew this one: it was shown."
    PUTTY = "putty", "This is a key of PuTTY; export it as an OpenSSH key."
    UNREADABLE = "unreadable", "This is not a whole private key in OpenSSH or PEM format."
    NEEDS_PASSPHRASE = "needs_passphrase", "This key is encrypted; give its passphrase."
    WRONG_PASSPHRASE = "wrong_passphrase", "The passphrase does not open this key."
    CIPHER = "cipher", "This kind of encryption is not read here; take the passphrase off with ssh-keygen -p."
    TOO_WEAK = "too_weak", f"DSA keys and RSA keys of less than {LEAST_RSA_BITS} bits are not taken."
    HARDWARE = "hardware", "This key works only with a security device plugged in."
    NOT_A_HOST_KEY = "not_a_host_key", "This is not the public key of a host, such as ssh-ed25519 AAAA…"
    SEVERAL = "several", "There is more than one key here; paste one."


class KeyPairRefused(ValueError):
    """A key is refused. Neither the text nor the representation holds any of it."""

    def __init__(self, problem: KeyPairProblem) -> None:
        super().__init__(problem.sentence)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class KeyPair:
    """`private` is an unencrypted OpenSSH private key; `public` its line for authorized_keys, with the
    comment "preflight"."""

    private: Masked
    public: str


def make_key_pair() -> KeyPair:
    """Make a new ed25519 pair."""
    return _pair(asyncssh.generate_private_key("ssh-ed25519"))


def read_key_pair(private: Masked, passphrase: Masked | None = None) -> KeyPair:
    """Read a pasted private key, OpenSSH or PEM, and write it anew without a passphrase, which nothing
    keeps. Raises `KeyPairRefused`."""
    text = "\n".join(_lines(private.reveal()))
    _refuse_other_pastes(text)
    encrypted = _is_encrypted(text)
    if encrypted and not passphrase:
        raise KeyPairRefused(KeyPairProblem.NEEDS_PASSPHRASE)
    if encrypted and _OPENSSH in text and find_spec("bcrypt") is None:
        raise KeyPairRefused(KeyPairProblem.CIPHER)
    try:
        key = asyncssh.import_private_key(text, passphrase.reveal() if encrypted and passphrase else None)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError, OverflowError):
        wrong = KeyPairProblem.WRONG_PASSPHRASE if encrypted else KeyPairProblem.UNREADABLE
        raise KeyPairRefused(wrong) from None
    if key.get_algorithm().startswith("sk-"):
        raise KeyPairRefused(KeyPairProblem.HARDWARE)
    _refuse_weak(key)
    return _pair(key)


def read_host_key(raw: str) -> str:
    """Return the one host key in a pasted text (a line of ssh-keyscan, known_hosts or a .pub file) as type
    and key. Raises `KeyPairRefused`."""
    if len(raw) > MAX_LENGTH:
        raise KeyPairRefused(KeyPairProblem.TOO_LONG)
    lines = [line for line in _lines(raw) if not line.startswith("#")]
    if not lines:
        raise KeyPairRefused(KeyPairProblem.EMPTY)
    if "PRIVATE KEY" in raw:
        raise KeyPairRefused(KeyPairProblem.PRIVATE)
    if len(lines) > 1:
        raise KeyPairRefused(KeyPairProblem.SEVERAL)
    words = lines[0].split()
    types = [place for place, word in enumerate(words) if word.startswith(_PUBLIC_TYPES)]
    try:
        key = asyncssh.import_public_key(" ".join(words[types[0] : types[0] + 2]) if types else "")
    except (asyncssh.KeyImportError, ValueError):
        raise KeyPairRefused(KeyPairProblem.NOT_A_HOST_KEY) from None
    _refuse_weak(key)
    return line_of(key)


def _lines(raw: str) -> Iterator[str]:
    """Yield the lines without blanks at their ends, as a paste from a mail or a YAML file has them."""
    return (line.strip() for line in raw.strip().splitlines() if line.strip())


def _refuse_other_pastes(text: str) -> None:
    if not text:
        raise KeyPairRefused(KeyPairProblem.EMPTY)
    if len(text) > MAX_LENGTH:
        raise KeyPairRefused(KeyPairProblem.TOO_LONG)
    if text.startswith("PuTTY-User-Key-File"):
        raise KeyPairRefused(KeyPairProblem.PUTTY)
    if text.startswith(_PUBLIC_TYPES) or "BEGIN PUBLIC KEY" in text or "BEGIN SSH2 PUBLIC KEY" in text:
        raise KeyPairRefused(KeyPairProblem.PUBLIC)
    if "PRIVATE KEY-----" not in text:
        raise KeyPairRefused(KeyPairProblem.UNREADABLE)


def _is_encrypted(text: str) -> bool:
    return "ENCRYPTED" in text or (_OPENSSH in text and _PLAIN_OPENSSH not in text)


def _refuse_weak(key: asyncssh.SSHKey) -> None:
    kind = key.get_algorithm()
    bits = getattr(key.pyca_key, "key_size", 0)  # the kinds of one size do not tell it
    if kind == "ssh-dss" or (kind == "ssh-rsa" and bits < LEAST_RSA_BITS):
        raise KeyPairRefused(KeyPairProblem.TOO_WEAK)


def _pair(key: asyncssh.SSHKey) -> KeyPair:
    key.set_comment(COMMENT)
    private = Masked(key.export_private_key("openssh").decode())
    return KeyPair(private, f"{line_of(key)} {COMMENT}")
