"""Which host key is believed: the ones that a lead accepted, exactly; any other is only noted."""

from __future__ import annotations

import asyncssh

from checks.spec import HostSpec

# What a host may show, the best first; SHA-1 signatures and certificates are not taken.
HOST_KEY_ALGORITHMS = (
    *("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
    *("rsa-sha2-512", "rsa-sha2-256", "sk-ssh-ed25519@openssh.com"),
)


class Witness(asyncssh.SSHClient):
    """Notes the key that a host shows in place of an accepted one, and refuses it."""

    def __init__(self) -> None:
        self.offered: asyncssh.SSHKey | None = None
        self.spoke = False
        self._connection: asyncssh.SSHClientConnection | None = None

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """Keep the connection, to ask it later whether an SSH server spoke."""
        self._connection = conn

    def connection_lost(self, exc: Exception | None) -> None:
        """Ask the connection whether an SSH server ever spoke on it, and let go of it."""
        self.spoke = self._connection is not None and bool(self._connection.get_extra_info("server_version"))
        self._connection = None

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not among the accepted ones."""
        self.offered = key
        return False


def pinned(spec: HostSpec) -> list[asyncssh.SSHKey]:
    """Return the accepted keys of a host. Raises asyncssh.KeyImportError for a line that holds none."""
    return [asyncssh.import_public_key(line) for line in spec.host_keys]


def algorithms_for(keys: list[asyncssh.SSHKey]) -> list[str]:
    """Return the algorithms to ask for: those of the accepted keys first, so that a host which has such a
    key shows it; then all others, so that one which does not shows what it has instead."""
    ours = {name.decode() for key in keys for name in key.sig_algorithms}
    return sorted(HOST_KEY_ALGORITHMS, key=lambda name: name not in ours)


def line_of(key: asyncssh.SSHKey) -> str:
    """Return a public key as an OpenSSH line of type and key, without a comment."""
    return " ".join(key.export_public_key().decode().split()[:2])
