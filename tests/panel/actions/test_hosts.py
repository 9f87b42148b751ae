"""What people do to hosts and their keys: each deed audited, no private key readable anywhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import asyncssh
import pytest

from checks.hosts import fingerprint_of
from checks.spec import Masked
from panel import vault
from panel.actions import Refused, hosts
from panel.models import AuditEvent, Host, HostReading, Membership
from tests import make
from tests.panel.time.doors import take

pytestmark = pytest.mark.django_db
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDGciJGdb0aYGd7ZrMjBJCNYGy9u5s2J15LNwSkdZ5fl"


@pytest.fixture
def lead() -> Membership:
    return make.member(role=30)


def a_draft(**fields: Any) -> hosts.HostDraft:
    return hosts.HostDraft(**({"name": "gpu-a12", "address": "gpu.example", "user": "train"} | fields))


def as_draft(host: Host, **fields: Any) -> hosts.HostDraft:
    """The host as it is, but for these fields."""
    said = {name: getattr(host, name) for name in hosts.HostDraft.__dataclass_fields__}
    return hosts.HostDraft(**(said | fields))


def said_last() -> tuple[str, str]:
    event = AuditEvent.objects.latest("pk")
    return event.verb, event.noun


def test_a_new_host_is_read_by_nobody_yet(lead: Membership) -> None:
    host = hosts.create(actor=lead, draft=a_draft())
    assert (host.next_reading_at, host.zone, host.host_key, host.sealed_key) == (None, "panel", "", "")
    assert said_last() == ("create", "host")


@pytest.mark.parametrize(
    ("field", "value"),
    [("address", "gpu.example; rm"), ("user", "-oProxyCommand=x"), ("python", "py thon"), ("workdir", "a/b")],
)
def test_a_value_that_a_shell_or_ssh_could_misread_is_refused(lead, field: str, value: str) -> None:
    with pytest.raises(Refused) as refused:
        hosts.create(actor=lead, draft=a_draft(**{field: value}))
    assert refused.value.field == field
    assert not Host.objects.exists()


def test_a_name_is_taken_once_in_a_team(lead: Membership) -> None:
    hosts.create(actor=lead, draft=a_draft())
    with pytest.raises(Refused) as refused:
        hosts.create(actor=lead, draft=a_draft(address="other.example"))
    assert refused.value.field == "name"


@pytest.mark.parametrize("fields", [{"address": "b.example"}, {"port": 2222}, {"user": "root"}])
def test_a_host_that_is_reached_elsewhere_forgets_its_host_key(lead: Membership, fields) -> None:
    host = make.host(lead.team, next_reading_at=make.NOON)
    assert hosts.change(actor=lead, host=host, draft=as_draft(host, **fields))
    host.refresh_from_db()
    assert (host.host_key, host.next_reading_at, host.state) == ("", None, "unknown")


def test_another_name_forgets_nothing(lead: Membership) -> None:
    host = make.host(lead.team)
    assert not hosts.change(actor=lead, host=host, draft=as_draft(host, name="gpu-b"))
    assert Host.objects.get().host_key == make.HOST_KEY


def test_a_host_of_another_team_is_no_jump(lead: Membership) -> None:
    with pytest.raises(Refused):
        hosts.create(actor=lead, draft=a_draft(jump=make.host()))


def test_no_way_leads_in_a_circle(lead: Membership) -> None:
    outer = make.host(lead.team)
    inner = make.host(lead.team, jump=outer)
    with pytest.raises(Refused) as refused:
        hosts.change(actor=lead, host=outer, draft=as_draft(outer, jump=inner))
    assert refused.value.field == "jump"


def test_a_host_in_use_is_not_deleted(lead: Membership) -> None:
    host, jump = make.host(lead.team), make.host(lead.team)
    make.recipe(make.profile(lead.team), host)
    make.host(lead.team, jump=jump)
    for used in (host, jump):
        with pytest.raises(Refused):
            hosts.delete(actor=lead, host=used)
    assert Host.objects.count() == 3


def test_a_made_key_is_sealed_in_its_place(lead: Membership) -> None:
    host = make.host(lead.team, host_key="")
    line = hosts.make_key(actor=lead, host=host)
    host.refresh_from_db()
    sealed = vault.unseal(host.sealed_key, team=lead.team, context=vault.ssh_context(host.code, 1))
    key = asyncssh.import_private_key(sealed.reveal())
    assert line == host.public_key
    assert key.get_fingerprint() == fingerprint_of(line)
    assert "PRIVATE" not in repr(AuditEvent.objects.latest("pk").data)


def test_a_second_key_takes_the_place_of_the_first(lead: Membership) -> None:
    host = make.host(lead.team)
    first, second = hosts.make_key(actor=lead, host=host), hosts.make_key(actor=lead, host=host)
    host.refresh_from_db()
    assert first != second == host.public_key
    with pytest.raises(vault.SealBroken):
        vault.unseal(host.sealed_key, team=lead.team, context=vault.ssh_context(host.code, 1))


def test_a_pasted_key_is_sealed_and_a_public_one_refused(lead: Membership) -> None:
    host, key = make.host(lead.team), asyncssh.generate_private_key("ssh-ed25519")
    hosts.paste_key(actor=lead, host=host, private=Masked(key.export_private_key().decode()))
    assert fingerprint_of(Host.objects.get().public_key) == key.get_fingerprint()
    with pytest.raises(Refused) as refused:
        hosts.paste_key(actor=lead, host=host, private=Masked(key.export_public_key().decode()))
    assert refused.value.field == "private"


def test_a_host_key_is_accepted_by_the_fingerprint_that_was_seen(lead: Membership) -> None:
    host = make.host(lead.team, private="x", offered_key=OTHER_KEY, offered_at=make.NOON)
    hosts.accept_host_key(actor=lead, host=host, fingerprint=fingerprint_of(OTHER_KEY))
    host.refresh_from_db()
    assert (host.host_key, host.offered_key, host.host_key_by) == (OTHER_KEY, "", lead.user)
    assert host.next_reading_at > datetime.now(UTC)
    assert HostReading.objects.get().host == host


def test_another_key_than_the_one_seen_is_not_accepted(lead: Membership) -> None:
    host = make.host(lead.team, offered_key=OTHER_KEY)
    with pytest.raises(Refused):
        hosts.accept_host_key(actor=lead, host=host, fingerprint=fingerprint_of(make.HOST_KEY))
    assert Host.objects.get().host_key == make.HOST_KEY


def test_a_host_without_an_accepted_key_is_not_read_on_a_schedule(lead: Membership) -> None:
    host = make.host(lead.team, private="x", next_reading_at=make.NOON)
    hosts.forget_host_key(actor=lead, host=host)
    with pytest.raises(Refused):
        hosts.resume_readings(actor=lead, host=host)
    assert Host.objects.get().next_reading_at is None


def test_readings_pause_and_go_on(lead: Membership) -> None:
    host = make.host(lead.team, private="x", next_reading_at=make.NOON)
    hosts.pause_readings(actor=lead, host=host)
    assert Host.objects.get().next_reading_at is None
    hosts.resume_readings(actor=lead, host=host)
    assert Host.objects.get().next_reading_at is not None
    assert said_last() == ("resume", "host")


def test_reading_now_twice_is_one_reading_sent_to_the_host_s_zone(
    lead: Membership, django_capture_on_commit_callbacks
) -> None:
    host = make.host(lead.team, private="x", zone="gpu-net")
    with django_capture_on_commit_callbacks(execute=True):
        first = hosts.read_now(actor=lead, host=host)
    assert hosts.read_now(actor=lead, host=host) == first
    assert [message.payload[0] for message in take("gpu-net")] == [[first.pk]]


def test_asking_for_the_host_key_is_a_task(lead: Membership, django_capture_on_commit_callbacks) -> None:
    host = make.host(lead.team)
    with django_capture_on_commit_callbacks(execute=True):
        hosts.ask_host_key(actor=lead, host=host)
    assert [message.payload[0] for message in take()] == [[host.pk]]
