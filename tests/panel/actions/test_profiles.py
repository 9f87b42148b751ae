"""What people do to profiles, lanes and checks."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from panel.actions import Refused, checks, profiles
from panel.actions.profiles import LaneDraft, ProfileDraft
from panel.celery import app
from panel.models import AuditEvent, Check, Role, Run
from tests import make

pytestmark = pytest.mark.django_db


@contextmanager
def deaf_broker() -> Iterator[None]:
    """Let the application ring at a port where nothing listens."""
    before = app.conf.broker_write_url
    try:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            ring_at(f"redis://127.0.0.1:{held.getsockname()[1]}/0")
            yield
    finally:
        ring_at(before)


def ring_at(url: str) -> None:
    app.conf.broker_write_url = url
    app.pool.force_close_all()
    app._pool = app.amqp._producer_pool = None


def a_draft(endpoint, **changes) -> ProfileDraft:
    said = {
        "name": "grpo-prod",
        "environment": "production",
        "generation": "1.x",
        "endpoint": endpoint,
        "model": "qwen3-8b",
        "lanes": {"replay": LaneDraft(in_use=False), "rollout": LaneDraft(model="qwen3-8b-base")},
    }
    return ProfileDraft(**(said | changes))


def a_profile():
    lead = make.member(role=Role.LEAD)
    endpoint = make.endpoint(lead.team)
    return lead, endpoint, profiles.create(actor=lead, draft=a_draft(endpoint))


def test_a_new_profile_has_three_lanes_that_inherit_or_override() -> None:
    _, endpoint, profile = a_profile()
    lanes = {lane.kind: lane for lane in profile.lanes.all()}
    assert {kind: lane.effective_model for kind, lane in lanes.items()} == {
        "agent": "qwen3-8b",
        "replay": "qwen3-8b",
        "rollout": "qwen3-8b-base",
    }
    assert lanes["agent"].effective_endpoint == endpoint


def test_a_new_profile_runs_at_once_on_the_lanes_in_use() -> None:
    _, _, profile = a_profile()
    kinds = Run.objects.filter(check_order__lane__profile=profile).values_list(
        "check_order__lane__kind", flat=True
    )
    assert sorted(kinds) == ["agent", "rollout"]


def test_a_lane_out_of_use_has_no_next_slot() -> None:
    _, _, profile = a_profile()
    assert Check.objects.get(lane__profile=profile, lane__kind="replay").next_run_at is None


def test_every_change_makes_a_version_with_a_snapshot_and_no_secret() -> None:
    lead, endpoint, profile = a_profile()
    profiles.change(actor=lead, profile=profile, draft=a_draft(endpoint, model="qwen3-32b"))
    newest, oldest = profile.versions.all()
    assert (newest.number, newest.snapshot["lanes"][0]["model"]) == (2, "qwen3-32b")
    assert oldest.snapshot["lanes"][0]["model"] == "qwen3-8b"
    assert "sealed" not in json.dumps(newest.snapshot)


def test_an_endpoint_of_another_team_never_gets_into_a_profile() -> None:
    lead = make.member(role=Role.LEAD)
    foreign = make.endpoint(make.team())
    with pytest.raises(Refused):
        profiles.create(actor=lead, draft=a_draft(foreign))
    on_a_lane = a_draft(make.endpoint(lead.team), lanes={"agent": LaneDraft(endpoint=foreign)})
    with pytest.raises(Refused):
        profiles.create(actor=lead, draft=on_a_lane)


def test_two_profiles_of_one_team_have_two_names() -> None:
    lead, endpoint, _ = a_profile()
    with pytest.raises(Refused) as refusal:
        profiles.create(actor=lead, draft=a_draft(endpoint))
    assert refusal.value.field == "name"


def test_pausing_a_lane_stops_its_slots_and_resuming_starts_them() -> None:
    lead, _, profile = a_profile()
    lane = profile.lanes.get(kind="agent")
    checks.pause(actor=lead, lane=lane, reason="moving")
    assert Check.objects.get(lane=lane).next_run_at is None
    checks.resume(actor=lead, lane=lane)
    assert Check.objects.get(lane=lane).next_run_at is not None


def test_pausing_twice_is_one_deed() -> None:
    lead, _, profile = a_profile()
    lane = profile.lanes.get(kind="agent")
    checks.pause(actor=lead, lane=lane, reason="moving")
    checks.pause(actor=lead, lane=lane, reason="moving")
    assert AuditEvent.objects.filter(verb="pause").count() == 1


def test_changing_a_paused_profile_leaves_it_paused() -> None:
    lead, endpoint, profile = a_profile()
    checks.pause(actor=lead, lane=profile.lanes.get(kind="agent"), reason="moving")
    profiles.change(actor=lead, profile=profile, draft=a_draft(endpoint))
    assert Check.objects.get(lane__profile=profile, lane__kind="agent").next_run_at is None


def test_a_deleted_profile_takes_its_history_along_and_leaves_the_audit() -> None:
    lead, _, profile = a_profile()
    profiles.delete(actor=lead, profile=profile)
    assert not Run.objects.exists()
    assert AuditEvent.objects.filter(verb="delete", noun="profile", label="grpo-prod").exists()


@pytest.mark.django_db(transaction=True)
def test_a_deaf_broker_fails_no_deed_and_leaves_the_runs_queued(settings) -> None:
    lead = make.member(role=Role.LEAD)
    endpoint = make.endpoint(lead.team)
    with deaf_broker():
        profiles.create(actor=lead, draft=a_draft(endpoint))
    assert set(Run.objects.values_list("state", flat=True)) == {"queued"}


def test_the_lengths_of_training_are_stored_and_in_the_snapshot() -> None:
    lead, endpoint, profile = a_profile()
    long = {"rollout": LaneDraft(prompt_length=4096, response_length=2048)}
    profiles.change(actor=lead, profile=profile, draft=a_draft(endpoint, lanes=long))
    rollout = profile.versions.first().snapshot["lanes"][2]
    assert (rollout["prompt_length"], rollout["response_length"]) == (4096, 2048)
    assert profile.lanes.get(kind="rollout").prompt_length == 4096


@pytest.mark.parametrize(
    ("generation", "used"), [("0.x", ["agent", "replay", "rollout"]), ("1.x", ["agent", "rollout"])]
)
def test_a_new_profile_replays_only_where_the_framework_does(generation: str, used: list[str]) -> None:
    lead = make.member(role=Role.LEAD)
    draft = a_draft(make.endpoint(lead.team), generation=generation, lanes={})
    profile = profiles.create(actor=lead, draft=draft)
    assert sorted(profile.lanes.filter(in_use=True).values_list("kind", flat=True)) == used
