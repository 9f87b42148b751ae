"""The operator's commands, called as from a shell."""

from __future__ import annotations

import io
import socket
import sys

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from panel import variables, vault
from panel.models import AuditEvent, Team, User
from tests.launch.started import free_port

pytestmark = pytest.mark.django_db


def said(command: str, *arguments: str) -> str:
    """Run a command and return what it wrote."""
    out = io.StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue().strip()


def typed(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Put a line on stdin."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{line}\n"))


def test_a_setup_link_opens_and_the_next_one_ends_it():
    first, second = (
        said("setup_link", "--url", "http://testserver"),
        said("setup_link", "--url", "http://testserver"),
    )
    assert Client().get(second.removeprefix("http://testserver")).status_code == 200
    assert Client().get(first.removeprefix("http://testserver")).status_code != 200


def test_a_setup_link_is_refused_when_there_is_an_owner():
    User.objects.create_user("lin@acme.example", "correct horse battery", name="Lin")
    with pytest.raises(CommandError, match="There is an owner already"):
        said("setup_link")


def test_a_setup_link_names_the_public_host_behind_tls(settings):
    settings.BEHIND_TLS, settings.ALLOWED_HOSTS = True, [".acme.example", "preflight.acme.example"]
    assert said("setup_link").startswith("https://preflight.acme.example/setup/")


def test_a_master_key_is_one_that_the_settings_accept():
    assert len(variables.master_keys("X", f"{said('master_key')},{said('master_key')}")) == 2


def test_rewrap_moves_every_team_to_the_newest_key_and_is_done_then(settings):
    team = Team.objects.create(slug="acme", name="Acme", sealed_data_key=vault.fresh_data_key("acme"))
    newest = said("master_key")
    settings.MASTER_KEYS = (newest, *settings.MASTER_KEYS)
    assert said("rewrap") == "Rewrapped 1 of 1 teams."
    assert said("rewrap") == "Rewrapped 0 of 1 teams."
    team.refresh_from_db()
    assert team.sealed_data_key.split(":")[1] == newest.split(":")[0]


def test_rewrap_changes_nothing_when_a_teams_key_is_not_in_the_ring(settings):
    Team.objects.create(slug="acme", name="Acme", sealed_data_key=vault.fresh_data_key("acme"))
    settings.MASTER_KEYS = (said("master_key"),)
    with pytest.raises(CommandError, match="Team acme"):
        said("rewrap")


def test_an_account_is_made_with_the_password_from_stdin_and_recorded(monkeypatch):
    typed(monkeypatch, "correct horse battery")
    assert said("add_user", "Bo@acme.example", "--name", "Bo") == "bo@acme.example can sign in."
    assert User.objects.get().check_password("correct horse battery")
    assert AuditEvent.objects.get().label == "bo@acme.example"


@pytest.mark.parametrize(
    ("email", "password", "sentence"),
    [("bo", "correct horse battery", "valid email"), ("bo@acme.example", "short", "too short")],
)
def test_an_account_with_a_bad_address_or_password_is_refused(monkeypatch, email, password, sentence):
    typed(monkeypatch, password)
    with pytest.raises(CommandError, match=sentence):
        said("add_user", email, "--name", "Bo")
    assert not User.objects.exists()


def test_a_second_account_for_one_address_is_refused(monkeypatch):
    User.objects.create_user("bo@acme.example", "correct horse battery", name="Bo")
    with pytest.raises(CommandError, match="has an account already"):
        said("add_user", "BO@acme.example", "--name", "Bo")


def test_healthy_fails_where_nobody_answers():
    with pytest.raises(CommandError, match="Nobody answers"):
        said("healthy", "--port", str(free_port()))


def test_healthy_fails_where_a_stranger_answers():
    with (
        socket.create_server(("127.0.0.1", 0)) as stranger,
        pytest.raises(CommandError, match="Nobody answers"),
    ):
        said("healthy", "--patience", "0.3", "--port", str(stranger.getsockname()[1]))


def test_healthy_is_content_with_the_panel(live_server):
    assert said("healthy", "--port", str(live_server.thread.port)) == ""
