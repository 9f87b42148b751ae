"""What people take away, and what is remembered of it."""

from __future__ import annotations

import pytest

from panel import access
from panel.actions import Refused, bundles
from panel.models import AuditEvent, Download, KeyVersion, Role
from tests import make

pytestmark = pytest.mark.django_db
CANARY = "sk-canary-5f4dcc3b5aa765d6"
LANES = ("agent", "replay", "rollout")


def a_member_with_profile(role: Role = Role.LEAD, key: str = CANARY, **fields):
    member = make.member(role=role)
    return member, make.profile(member.team, endpoint=make.endpoint(member.team, key=key), **fields)


def test_a_lead_takes_the_key_in_the_bundle() -> None:
    member, profile = a_member_with_profile()
    taken = bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=LANES, with_keys=True)
    assert f"OPENAI_API_KEY={CANARY}\n" in taken.text


@pytest.mark.parametrize("flavour", bundles.FLAVOURS)
def test_a_bundle_without_keys_holds_none(flavour: str) -> None:
    member, profile = a_member_with_profile()
    taken = bundles.export(actor=member, profile=profile, flavour=flavour, lanes=LANES, with_keys=False)
    assert CANARY not in taken.text


@pytest.mark.parametrize("flavour", bundles.FLAVOURS)
def test_a_preview_shows_the_last_four_at_most(flavour: str) -> None:
    member, profile = a_member_with_profile()
    shown = bundles.preview(actor=member, profile=profile, flavour=flavour, lanes=LANES, with_keys=True)
    assert CANARY not in shown.text
    assert CANARY[-4:] in shown.text


def test_a_preview_leaves_no_trace() -> None:
    member, profile = a_member_with_profile()
    bundles.preview(actor=member, profile=profile, flavour="toml", lanes=LANES, with_keys=True)
    assert not Download.objects.exists()
    assert not AuditEvent.objects.filter(noun="bundle").exists()


def test_a_download_remembers_who_holds_which_key() -> None:
    member, profile = a_member_with_profile()
    bundles.export(actor=member, profile=profile, flavour="sh", lanes=LANES, with_keys=True)
    held = Download.objects.get()
    assert (held.user, held.key_versions) == (member.user, [f"{profile.endpoint.name} v1"])
    assert CANARY not in str(AuditEvent.objects.get(noun="bundle").data)


def test_an_engineer_takes_no_keys_unless_the_profile_says_so() -> None:
    member, profile = a_member_with_profile(Role.ENGINEER)
    with pytest.raises(Refused) as refusal:
        bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=LANES, with_keys=True)
    assert refusal.value.field == "with_keys"
    assert not Download.objects.exists()


def test_an_engineer_takes_keys_where_the_profile_says_so() -> None:
    member, profile = a_member_with_profile(Role.ENGINEER, engineers_take_keys=True)
    taken = bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=LANES, with_keys=True)
    assert CANARY in taken.text


def test_a_value_that_a_flavour_cannot_carry_is_refused_with_those_that_can() -> None:
    member, profile = a_member_with_profile(key="sk-canary-with$dollar-and'quote")
    with pytest.raises(Refused, match=r"OPENAI_API_KEY.*sh") as refusal:
        bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=LANES, with_keys=True)
    assert refusal.value.field == "flavour"
    assert "dollar" not in str(refusal.value)


def test_a_key_moved_between_rows_in_the_database_does_not_leave() -> None:
    member, profile = a_member_with_profile()
    other = make.endpoint(member.team, key="sk-canary-other-0000001")
    KeyVersion.objects.filter(endpoint=profile.endpoint).update(sealed=other.key_versions.get().sealed)
    with pytest.raises(Refused, match="does not open"):
        bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=LANES, with_keys=True)


def test_no_lane_chosen_is_refused_on_its_field() -> None:
    member, profile = a_member_with_profile()
    with pytest.raises(Refused) as refusal:
        bundles.export(actor=member, profile=profile, flavour="dotenv", lanes=(), with_keys=False)
    assert refusal.value.field == "lanes"


def a_profile_in_conflict():
    """Agent and replay call one host with two keys; the rollout is hosted."""
    member, profile = a_member_with_profile(generation="0.x")
    other = make.endpoint(member.team, key="sk-canary-other-0000001")
    profile.lanes.filter(kind="replay").update(endpoint=other)
    return member, profile


def test_conflicts_between_lanes_are_told_with_their_lanes() -> None:
    member, profile = a_profile_in_conflict()
    told = {
        (str(found.code), str(found.lane)) for found in bundles.problems_of(actor=member, profile=profile)
    }
    assert told >= {("same_host_different_keys", "agent"), ("same_host_different_keys", "replay")}


def test_what_matters_to_a_file_alone_is_no_conflict() -> None:
    member = make.member()
    endpoint = make.endpoint(member.team, base_url="http://127.0.0.1:8000/v1", kind="vllm")
    profile = make.profile(member.team, endpoint=endpoint, generation="0.x")
    assert bundles.problems_of(actor=member, profile=profile) == ()


def test_a_profile_without_endpoint_has_no_conflict() -> None:
    member = make.member()
    assert bundles.problems_of(actor=member, profile=make.profile(member.team, endpoint=None)) == ()


def test_looking_for_conflicts_opens_no_key_leaves_no_trace_and_costs_one_query(
    django_assert_num_queries,
) -> None:
    member, profile = a_profile_in_conflict()
    KeyVersion.objects.update(sealed="broken")
    profile = access.profile_for(member, profile.code)
    with django_assert_num_queries(1):
        bundles.problems_of(actor=member, profile=profile)
    assert not AuditEvent.objects.filter(noun="bundle").exists()
