"""The vault: what it seals opens in its own place and nowhere else."""

from __future__ import annotations

import base64

import pytest

from checks.spec import Masked
from panel import vault
from panel.models import Team

KEY = Masked("sk-canary-0123456789abcdef")
PLACE = vault.key_context("endpoint1", 1, "https://relay.example")


def a_team(slug: str = "atlas") -> Team:
    return Team(slug=slug, name=slug, sealed_data_key=vault.fresh_data_key(slug))


def ring_of(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}:{base64.b64encode(name.encode().ljust(32, b'.')).decode()}" for name in names)


def test_a_sealed_key_opens_in_its_own_place() -> None:
    team = a_team()
    assert vault.unseal(vault.seal(KEY, team=team, context=PLACE), team=team, context=PLACE) == KEY


def test_sealed_text_holds_nothing_of_the_key() -> None:
    sealed = vault.seal(KEY, team=a_team(), context=PLACE)
    assert KEY.reveal() not in sealed
    assert KEY.reveal().encode() not in base64.b64decode(sealed.removeprefix("pf1:"))


def test_the_same_key_sealed_twice_looks_different() -> None:
    team = a_team()
    assert vault.seal(KEY, team=team, context=PLACE) != vault.seal(KEY, team=team, context=PLACE)


@pytest.mark.parametrize(
    "other",
    [
        vault.key_context("endpoint2", 1, "https://relay.example"),
        vault.key_context("endpoint1", 2, "https://relay.example"),
        vault.key_context("endpoint1", 1, "https://thief.example"),
    ],
)
def test_a_sealed_key_moved_to_another_row_version_or_origin_does_not_open(other: str) -> None:
    team = a_team()
    sealed = vault.seal(KEY, team=team, context=PLACE)
    with pytest.raises(vault.SealBroken):
        vault.unseal(sealed, team=team, context=other)


def test_a_sealed_key_moved_to_another_team_does_not_open() -> None:
    sealed = vault.seal(KEY, team=a_team("atlas"), context=PLACE)
    with pytest.raises(vault.SealBroken):
        vault.unseal(sealed, team=a_team("borealis"), context=PLACE)


def test_a_data_key_moved_to_another_team_does_not_open() -> None:
    thief = Team(slug="thief", name="thief", sealed_data_key=vault.fresh_data_key("atlas"))
    with pytest.raises(vault.SealBroken):
        vault.seal(KEY, team=thief, context=PLACE)


@pytest.mark.parametrize("altered", ["", "pf1:", "pf1:AAAA", "pf2:AAAA", "sk-plain", "pf1:****"])
def test_what_was_altered_does_not_open(altered: str) -> None:
    with pytest.raises(vault.SealBroken):
        vault.unseal(altered, team=a_team(), context=PLACE)


def test_every_flipped_byte_is_noticed() -> None:
    team = a_team()
    raw = bytearray(base64.b64decode(vault.seal(KEY, team=team, context=PLACE).removeprefix("pf1:")))
    for position in range(len(raw)):
        raw[position] ^= 1
        with pytest.raises(vault.SealBroken):
            vault.unseal("pf1:" + base64.b64encode(raw).decode(), team=team, context=PLACE)
        raw[position] ^= 1


def test_a_new_master_key_opens_what_the_old_one_wrapped(settings) -> None:
    settings.MASTER_KEYS = ring_of("old")
    team = a_team()
    sealed = vault.seal(KEY, team=team, context=PLACE)
    settings.MASTER_KEYS = ring_of("new", "old")
    assert vault.rewrap(team)
    settings.MASTER_KEYS = ring_of("new")
    assert vault.unseal(sealed, team=team, context=PLACE) == KEY


def test_rewrapping_twice_changes_nothing(settings) -> None:
    settings.MASTER_KEYS = ring_of("new")
    team = a_team()
    assert not vault.rewrap(team)


def test_without_the_master_key_nothing_opens(settings) -> None:
    settings.MASTER_KEYS = ring_of("old")
    team = a_team()
    settings.MASTER_KEYS = ring_of("stranger")
    with pytest.raises(vault.SealBroken, match="old"):
        vault.seal(KEY, team=team, context=PLACE)


@pytest.mark.parametrize("entry", ["nonsense", "k1:AAAA", "k1:***", ":" + "A" * 44])
def test_a_broken_master_key_is_named_by_position_and_never_shown(settings, entry: str) -> None:
    settings.MASTER_KEYS = (entry,)
    with pytest.raises(vault.KeyRingBroken, match="Entry 1") as refusal:
        vault.fresh_data_key("atlas")
    assert entry not in str(refusal.value)


def test_fingerprints_tell_keys_apart_within_a_team_only() -> None:
    team, other = a_team("atlas"), a_team("borealis")
    assert vault.fingerprint(KEY, team=team) == vault.fingerprint(KEY, team=team)
    assert vault.fingerprint(KEY, team=team) != vault.fingerprint(Masked("sk-canary-2"), team=team)
    assert vault.fingerprint(KEY, team=team) != vault.fingerprint(KEY, team=other)
