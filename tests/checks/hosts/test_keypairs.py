"""Login keys and host keys: made, pasted, refused by name, and never shown."""

from __future__ import annotations

import subprocess
import traceback
from pathlib import Path

import asyncssh
import pytest

from checks import Masked
from checks.hosts import KeyPairRefused, fingerprint_of, make_key_pair, read_host_key, read_key_pair
from checks.hosts.keypairs import KeyPairProblem
from tests.ssh import make_key


def problem_of(text: str, passphrase: str | None = None) -> KeyPairProblem:
    with pytest.raises(KeyPairRefused) as refused:
        read_key_pair(Masked(text), Masked(passphrase) if passphrase else None)
    return refused.value.problem


def pem(passphrase: str | None = None) -> str:
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    return key.export_private_key("pkcs8-pem", passphrase).decode()


def test_a_made_pair_is_ed25519_and_says_whose_it_is() -> None:
    words = make_key_pair().public.split()
    assert (words[0], words[2]) == ("ssh-ed25519", "preflight")


def test_a_made_pair_shows_its_private_half_nowhere() -> None:
    assert "PRIVATE" not in repr(make_key_pair())


def test_openssh_reads_a_made_pair_and_agrees_on_its_fingerprint(tmp_path: Path) -> None:
    pair = make_key_pair()
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(pair.private.reveal())
    told = subprocess.run(["ssh-keygen", "-y", "-f", path], capture_output=True, text=True, check=True)
    assert told.stdout.split()[:2] == pair.public.split()[:2]
    told = subprocess.run(["ssh-keygen", "-lf", path], capture_output=True, text=True, check=True)
    assert fingerprint_of(pair.public) == told.stdout.split()[1]


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_a_key_of_openssh_is_read_however_it_was_indented(tmp_path: Path, kind: str) -> None:
    public = make_key(tmp_path / "key", kind)
    text = (tmp_path / "key").read_text().replace("\n", "\r\n   ")
    assert read_key_pair(Masked(text)).public == f"{public} preflight"


def test_an_encrypted_key_is_opened_by_its_passphrase_and_kept_without() -> None:
    pair = read_key_pair(Masked(pem("correct horse")), Masked("correct horse"))
    assert read_key_pair(pair.private).public == pair.public


def test_an_encrypted_key_needs_its_passphrase() -> None:
    assert problem_of(pem("correct horse")) == KeyPairProblem.NEEDS_PASSPHRASE


def test_a_wrong_passphrase_is_named() -> None:
    assert problem_of(pem("correct horse"), "battery") == KeyPairProblem.WRONG_PASSPHRASE


def test_an_encrypted_key_of_openssh_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "horse", "-f", path], check=True)
    assert problem_of(path.read_text()) == KeyPairProblem.NEEDS_PASSPHRASE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  \n", KeyPairProblem.EMPTY),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAvD me@there", KeyPairProblem.PUBLIC),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", KeyPairProblem.PUTTY),
        ("hello", KeyPairProblem.UNREADABLE),
        ("x" * 20_000, KeyPairProblem.TOO_LONG),
        (
            make_key_pair().private.reveal()[:200] + "-----END OPENSSH PRIVATE KEY-----",
            KeyPairProblem.UNREADABLE,
        ),
    ],
)
def test_what_is_no_private_key_is_refused_by_name(text: str, problem: KeyPairProblem) -> None:
    assert problem_of(text) == problem


def test_a_short_rsa_key_is_refused() -> None:
    key = asyncssh.generate_private_key("ssh-rsa", key_size=1024)
    assert problem_of(key.export_private_key().decode()) == KeyPairProblem.TOO_WEAK


def test_a_refused_key_stands_in_no_traceback() -> None:
    begin, *body, end = make_key_pair().private.reveal().splitlines()
    with pytest.raises(KeyPairRefused) as refused:
        read_key_pair(Masked("\n".join((begin, *body[1:], end))))
    shown = "".join(traceback.format_exception(refused.value))
    assert [line for line in body if line in shown] == []


@pytest.mark.parametrize("form", ["{}", "[gpu7]:2222 {}", "# gpu7:22 SSH-2.0-OpenSSH\ngpu7 {} root@gpu7\n"])
def test_a_host_key_is_read_from_any_of_its_files(form: str) -> None:
    line = " ".join(make_key_pair().public.split()[:2])
    assert read_host_key(form.format(line)) == line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", KeyPairProblem.EMPTY),
        ("SHA256:abc", KeyPairProblem.NOT_A_HOST_KEY),
        ("ssh-ed25519", KeyPairProblem.NOT_A_HOST_KEY),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", KeyPairProblem.PRIVATE),
        ("ssh-ed25519 AAAA\nssh-rsa AAAA", KeyPairProblem.SEVERAL),
    ],
)
def test_what_is_no_host_key_is_refused_by_name(text: str, problem: KeyPairProblem) -> None:
    with pytest.raises(KeyPairRefused) as refused:
        read_host_key(text)
    assert refused.value.problem == problem


def test_no_fingerprint_is_made_of_what_is_no_key() -> None:
    assert fingerprint_of("ssh-ed25519 nonsense") == ""
