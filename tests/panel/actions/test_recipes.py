"""What people do to recipes: stored by a lead argument by argument, run dry at a cost said before."""

from __future__ import annotations

from typing import Any

import pytest

from panel.actions import Refused, recipes
from panel.models import AuditEvent, Membership, Profile, Recipe, Run
from tests import make
from tests.panel.time.doors import take

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> Membership:
    return make.member(role=30)


@pytest.fixture
def profile(lead: Membership) -> Profile:
    return make.profile(lead.team)


def a_draft(lead: Membership, **fields: Any) -> recipes.RecipeDraft:
    return recipes.RecipeDraft(**({"host": make.host(lead.team)} | fields))


def test_a_recipe_is_stored_with_its_arguments_in_the_record(lead, profile: Profile) -> None:
    draft = a_draft(lead, where="both", command=["python", "train.py", "trainer.total_epochs=0"], gpus="0,1")
    recipes.save(actor=lead, profile=profile, draft=draft)
    recipe = Recipe.objects.get()
    assert (recipe.host, recipe.where, recipe.command[0]) == (draft.host, "both", "python")
    event = AuditEvent.objects.latest("pk")
    assert event.data["command"] == ["python", "train.py", "trainer.total_epochs=0"]


def test_saving_again_changes_the_one_recipe_and_no_version(lead, profile: Profile) -> None:
    for prompts in (2, 3):
        recipes.save(actor=lead, profile=profile, draft=a_draft(lead, prompts=prompts))
    assert Recipe.objects.get().prompts == 3
    assert Profile.objects.get(pk=profile.pk).version == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("where", "moon"), ("prompts", 0), ("command_deadline_s", 7201), ("gpus", "0,x"),
        ("command", ["train", "sk-proj-abcdefghijklmnop1234567890"]), ("workdir", "relative"),
        ("command", ["x"] * 101),
    ],
)  # fmt: skip
def test_what_no_form_lets_through_is_refused(lead, profile: Profile, field: str, value: Any) -> None:
    with pytest.raises(Refused) as refused:
        recipes.save(actor=lead, profile=profile, draft=a_draft(lead, **{field: value}))
    assert refused.value.field == field
    assert not Recipe.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("agent", "a:B"), ("command", ["x"]), ("where", "host")])
def test_what_a_host_alone_can_do_wants_a_host(lead, profile: Profile, field: str, value: Any) -> None:
    with pytest.raises(Refused) as refused:
        recipes.save(actor=lead, profile=profile, draft=a_draft(lead, host=None, **{field: value}))
    assert refused.value.field == field


def test_a_host_of_another_team_never_gets_into_a_recipe(lead, profile: Profile) -> None:
    with pytest.raises(Refused):
        recipes.save(actor=lead, profile=profile, draft=a_draft(lead, host=make.host()))


def test_a_dry_run_goes_to_the_zone_of_its_host_by_its_own_message(
    lead, profile: Profile, django_capture_on_commit_callbacks
) -> None:
    make.recipe(profile, make.host(lead.team, zone="gpu-net", name="gpu-a"))
    with django_capture_on_commit_callbacks(execute=True):
        run = recipes.dry_run(actor=lead, profile=profile, kind="rollout")
    assert (run.top_rung, run.host_name, run.place, run.trigger) == (5, "gpu-a", "gpu-net", "person")
    assert [message.payload[0] for message in take("gpu-net")] == [[run.pk]]


def test_a_second_dry_run_of_the_lane_is_the_first_one(lead, profile: Profile) -> None:
    first = recipes.dry_run(actor=lead, profile=profile, kind="agent", top_rung=4)
    assert recipes.dry_run(actor=lead, profile=profile, kind="agent") == first
    assert Run.objects.count() == 1


def test_its_cost_is_in_the_record(lead, profile: Profile) -> None:
    recipes.dry_run(actor=lead, profile=profile, kind="rollout", top_rung=5)
    said = AuditEvent.objects.latest("pk").data["estimate"]
    assert said["tokens"] > 0 < said["seconds"]


def test_a_lane_out_of_use_is_not_run(lead) -> None:
    profile = make.profile(lead.team, lanes=("agent",))
    with pytest.raises(Refused):
        recipes.dry_run(actor=lead, profile=profile, kind="rollout")


@pytest.mark.parametrize("top", [2, 6])
def test_a_dry_run_climbs_from_the_third_to_the_fifth_rung(lead, profile: Profile, top: int) -> None:
    with pytest.raises(Refused):
        recipes.dry_run(actor=lead, profile=profile, kind="agent", top_rung=top)


def test_each_rung_costs_more_and_a_command_holds_its_gpus(lead, profile, django_assert_num_queries) -> None:
    make.recipe(profile, command=["train"], command_deadline_s=300, gpus="0,1")
    with django_assert_num_queries(6):
        costs = [recipes.estimate(profile=profile, kind="rollout", top_rung=top) for top in (3, 4, 5)]
    assert [cost.gpu_seconds for cost in costs] == [0, 0, 600]
    assert costs[0].tokens < costs[1].tokens < costs[2].tokens
    assert costs[0].seconds < costs[1].seconds < costs[2].seconds
