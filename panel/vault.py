"""The vault seals keys and unseals them: AES-256-GCM, a data key a team, wrapped by a master key.

Every seal is bound to its place: team, endpoint, version and origin are associated data, so a
sealed value moved to another row, team or origin does not open. It fails closed: what does not
open raises `SealBroken`, never a guess. The only importer of `cryptography`.

Sealed text is `pf1:<base64 of nonce and ciphertext>`; a wrapped data key is
`pfk1:<master key id>:<base64 of nonce and ciphertext>`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from checks.spec import Masked
from panel.models import Team

NONCE_BYTES = 12
KEY_BYTES = 32


class SealBroken(Exception):
    """A sealed value does not open: another row's, another team's, another master key's, or altered."""


class KeyRingBroken(Exception):
    """PREFLIGHT_MASTER_KEYS cannot be read; the text names the entry's position, never its value."""


def key_context(endpoint_code: str, number: int, origin: str) -> str:
    """Return the place a key version is bound to, as associated data."""
    return f"key|{endpoint_code}|{number}|{origin}"


def ssh_context(host_code: str, number: int) -> str:
    """Return the place a host's private key is bound to, as associated data."""
    return f"ssh|{host_code}|{number}"


def channel_context(channel_code: str, part: str, number: int, origin: str) -> str:
    """Return the place a channel's secret is bound to; `part` is "secret" or "sign"."""
    return f"channel|{channel_code}|{part}|{number}|{origin}"


def fresh_data_key(team_slug: str) -> str:
    """Return a new data key for the team, wrapped by the newest master key."""
    return _wrap(secrets.token_bytes(KEY_BYTES), team_slug)


def rewrap(team: Team) -> bool:
    """Wrap the team's data key with the newest master key; False when it already is.

    The caller saves the team. No sealed key changes, so this runs while the panel works.
    """
    newest, _ = _key_ring()[0]
    if team.sealed_data_key.split(":")[1] == newest:
        return False
    team.sealed_data_key = _wrap(_data_key(team), team.slug)
    return True


def seal(secret: Masked, *, team: Team, context: str) -> str:
    """Return the secret sealed for this team and place."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    box = AESGCM(_data_key(team)).encrypt(nonce, secret.reveal().encode(), _bound(team, context))
    return "pf1:" + base64.b64encode(nonce + box).decode()


def unseal(sealed: str, *, team: Team, context: str) -> Masked:
    """Return the secret. Raises `SealBroken` when it was not sealed for this team and place."""
    version, _, body = sealed.partition(":")
    if version != "pf1":
        raise SealBroken("Unknown form of a sealed value.")
    return Masked(_open(_data_key(team), body, _bound(team, context)).decode())


def fingerprint(secret: Masked, *, team: Team) -> str:
    """Return 16 hexadecimal digits that tell keys of one team apart and say nothing of the key."""
    digest = hmac.new(_data_key(team), b"fingerprint|" + secret.reveal().encode(), hashlib.sha256)
    return digest.hexdigest()[:16]


def _bound(team: Team, context: str) -> bytes:
    return f"{team.slug}|{context}".encode()


def _data_key(team: Team) -> bytes:
    version, _, rest = team.sealed_data_key.partition(":")
    key_id, _, body = rest.partition(":")
    if version != "pfk1":
        raise SealBroken("Unknown form of a wrapped data key.")
    for known, master in _key_ring():
        if known == key_id:
            return _open(master, body, f"data-key|{team.slug}".encode())
    raise SealBroken(f"Master key {key_id} is not in PREFLIGHT_MASTER_KEYS.")


def _wrap(data_key: bytes, team_slug: str) -> str:
    key_id, master = _key_ring()[0]
    nonce = secrets.token_bytes(NONCE_BYTES)
    box = AESGCM(master).encrypt(nonce, data_key, f"data-key|{team_slug}".encode())
    return f"pfk1:{key_id}:{base64.b64encode(nonce + box).decode()}"


def _open(key: bytes, body: str, bound: bytes) -> bytes:
    try:
        raw = base64.b64decode(body, validate=True)
        return AESGCM(key).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], bound)
    except (InvalidTag, binascii.Error, ValueError) as error:
        raise SealBroken("A sealed value does not open in this place.") from error


def _key_ring() -> list[tuple[str, bytes]]:
    ring = []
    for position, entry in enumerate(settings.MASTER_KEYS, start=1):
        key_id, _, body = entry.partition(":")
        try:
            master = base64.b64decode(body, validate=True)
        except binascii.Error:
            master = b""
        if not key_id or len(master) != KEY_BYTES:
            raise KeyRingBroken(
                f"Entry {position} of PREFLIGHT_MASTER_KEYS is not <id>:<base64 of {KEY_BYTES} bytes>."
            )
        ring.append((key_id, master))
    if not ring:
        raise KeyRingBroken("PREFLIGHT_MASTER_KEYS is empty.")
    return ring
