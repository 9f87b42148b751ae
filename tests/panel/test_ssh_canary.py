"""A private key and its passphrase go in through the form, and come out nowhere but towards their host."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse

from panel import tasks, vault
from panel.models import Host, HostReading, Membership
from tests import make
from tests.panel.test_access_matrix import ROUTES
from tests.ssh import Sshd

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PASSPHRASE = "canary-passphrase-7Zx9Q27tWqb1"


@dataclass
class Walk:
    """A lead's client, the host, every piece that must not be seen, and the form as it was refused."""

    client: Client
    lead: Membership
    host: Host
    pieces: tuple[str, ...]
    refused: str

    def found_in(self, text: str) -> list[str]:
        return [piece for piece in self.pieces if piece in text]


@pytest.fixture
def walk(sshd: Sshd, caplog: pytest.LogCaptureFixture) -> Walk:
    """A key with a passphrase pasted into the form, a login that was refused, and one that was not."""
    caplog.set_level(logging.DEBUG)
    lead, key = make.member(role=40), asyncssh.generate_private_key("ssh-ed25519")
    pasted = key.export_private_key("pkcs8-pem", PASSPHRASE).decode()
    host = make.host(
        lead.team, address="127.0.0.1", port=sshd.port, user=sshd.user, host_key=sshd.host_key,
        python=sshd.spec().python,
    )  # fmt: skip
    client = Client()
    client.force_login(lead.user)
    address = reverse("host_key", args=[lead.team.slug, host.code])
    refused = client.post(address, {"private": pasted, "passphrase": "wrong-" + PASSPHRASE})
    assert client.post(address, {"private": pasted, "passphrase": PASSPHRASE}).status_code == 302
    host.refresh_from_db()
    return Walk(client, lead, host, pieces_of(pasted, host, lead), refused.content.decode())


def pieces_of(pasted: str, host: Host, lead: Membership) -> tuple[str, ...]:
    """The passphrase, and the long lines of the key as it was pasted and as it is sealed."""
    sealed = vault.unseal(host.sealed_key, team=lead.team, context=vault.ssh_context(host.code, 1))
    lines = [*pasted.splitlines(), *sealed.reveal().splitlines()[2:]]
    return (PASSPHRASE, *(line for line in lines if len(line) > 30 and "-----" not in line))


def read(walk: Walk, sshd: Sshd, *, let_in: bool) -> str:
    """Read the host; return how that ended."""
    allowed = sshd.folder / "authorized_keys"
    before = allowed.read_text()
    try:
        if let_in:
            allowed.write_text(before + walk.host.public_key + "\n")
        reading = HostReading.objects.filter(host=walk.host, state="queued").first()
        tasks.read_host((reading or make.reading(walk.host)).pk)
    finally:
        allowed.write_text(before)
    return HostReading.objects.exclude(status="").latest("pk").reason


def test_no_page_table_log_or_message_shows_them(walk: Walk, sshd: Sshd, caplog) -> None:
    assert read(walk, sshd, let_in=False) == "host_login_refused"
    assert read(walk, sshd, let_in=True) != "host_login_refused"
    said = caplog.get_records("setup") + caplog.records
    logged = "\n".join(f"{each.getMessage()} {each.args} {each.exc_text}" for each in said)
    seen = {"log": logged, "refused": walk.refused, **pages(walk), **tables(), **messages()}
    assert {name: walk.found_in(text) for name, text in seen.items() if walk.found_in(text)} == {}


def pages(walk: Walk) -> dict[str, str]:
    """Every page of a host, and the record of what people did."""
    of_hosts = [name for name, (may_read, _, of) in ROUTES.items() if of == "host" and may_read is not None]
    team = walk.lead.team.slug
    addresses = [reverse(name, args=[team, walk.host.code]) for name in of_hosts]
    addresses += [reverse(name, args=[team]) for name in ("hosts", "activity", "overview")]
    return {address: walk.client.get(address).content.decode() for address in addresses}


def tables() -> dict[str, str]:
    """Every table, as text."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - the names are the database's own
            found[table] = repr(cursor.fetchall())
    return found


def messages() -> dict[str, str]:
    """What the broker and the cache hold."""
    client = cache._cache.get_client()
    held = [client.dump(key) or b"" for key in client.scan_iter("*")]
    written = [path.read_bytes() for path in Path(settings.DATA_DIR).rglob("*.aof")]
    return {"broker": b"".join(held + written).decode("latin-1")}
