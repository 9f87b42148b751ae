"""The pages of profiles, lanes and runs: what they say, filter, start and stop."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from panel.models import Check, LaneState, Profile, Run
from tests import make
from tests.panel.pages.places import address
from tests.panel.pages.scene import Scene

pytestmark = pytest.mark.django_db


def edited(profile: Profile, **said: str) -> dict[str, str]:
    lanes = {f"{kind}-interval_s": "300" for kind in make.KINDS} | {
        f"{kind}-in_use": "on" for kind in make.KINDS
    }
    full = {
        "name": profile.name, "endpoint": profile.endpoint.code, "model": profile.model, "environment": "dev",
        "generation": "1.x", "version": str(profile.version),
    }  # fmt: skip
    return full | lanes | said


def test_the_overview_says_first_what_is_broken_then_why_and_what_to_do(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("overview", atlas)).text
    places = [
        text.index(said)
        for said in ("Two lanes down, one cause", "The endpoint refuses the key", "Fix:", "Replace key")
    ]
    assert places == sorted(places)
    assert "<title>(2) Overview" in text
    assert "favicon-down.svg" in text


def test_one_cause_over_several_lanes_is_one_finding(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("overview", atlas)).text
    assert text.count('class="finding is-down"') == 1


def test_the_board_is_filtered_by_the_address(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("overview", atlas), {"state": "paused"}).text
    board = text[text.index('class="board"') :]
    assert "nightly-eval" in board
    assert "grpo-prod" not in board.split("</table>")[0]


def test_a_team_whose_lanes_are_all_well_reads_so(browse) -> None:
    member = make.member()
    make.profile(member.team)
    LaneState.objects.update(
        state="ok", status="ok", rung=2, evidence_at=timezone.now(), since=timezone.now(), recent="oo"
    )
    text = browse(member).get(reverse("overview", args=[member.team.slug])).text
    assert "All 3 lanes are OK" in text
    assert "Needs attention" not in text


@pytest.mark.parametrize(
    ("query", "found"),
    [({"q": "canary"}, 1), ({"environment": "production"}, 2), ({"state": "down"}, 2), ({"q": "nothing"}, 0)],
)
def test_profiles_are_found_by_words_environment_and_state(atlas: Scene, browse, query, found: int) -> None:
    text = browse(atlas.viewer).get(address("profiles", atlas), query).text
    assert text.count('role="rowheader"') == found


def test_a_lane_page_stops_at_the_broken_rung_with_cause_fix_and_evidence(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("profile", atlas)).text
    assert "Stopped at rung 2 of 5, Channel" in text
    places = [text.index(f'class="lbl">{word}<') for word in ("Cause", "Fix", "Evidence")]
    assert places == sorted(places)
    assert "Key expired &lt;script&gt;" in text


@pytest.mark.parametrize("reach", ["24h", "7d", "30d", "nonsense"])
def test_every_range_has_strips_and_a_chart(atlas: Scene, browse, reach: str) -> None:
    text = browse(atlas.viewer).get(address("profile", atlas), {"range": reach}).text
    assert text.count('class="bars lg"') == 3
    assert text.count('class="plot"') == 1


def test_run_ladder_opens_a_run_and_says_that_it_is_under_way(atlas: Scene, browse) -> None:
    client, where = browse(atlas.engineer), reverse("run_now", args=[atlas.slug, atlas.down.code])
    text = client.post(where, {"lane": "replay"}, follow=True).text
    assert Run.objects.filter(state="queued", check_order__lane__kind="replay").count() == 1
    assert 'aria-busy="true"' in text
    assert 'hx-trigger="every 1s"' in text


def test_a_run_that_waits_is_not_doubled(atlas: Scene, browse) -> None:
    client, where = browse(atlas.engineer), reverse("run_now", args=[atlas.slug, atlas.down.code])
    for _ in range(3):
        client.post(where, {"lane": "replay"})
    assert Run.objects.filter(state="queued").count() == 1


def test_checks_are_paused_and_go_on(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), reverse("lane_pause", args=[atlas.slug, atlas.down.code])
    client.post(where, {"lane": "agent", "reason": "moving"})
    check = Check.objects.get(lane__profile=atlas.down, lane__kind="agent")
    assert check.next_run_at is None
    client.post(where, {"lane": "agent", "deed": "resume"})
    check.refresh_from_db()
    assert check.next_run_at is not None


def test_a_run_is_evidence_to_link_to_and_to_copy(atlas: Scene, browse) -> None:
    client, where = browse(atlas.viewer), address("run", atlas)
    assert "x-request-id: req_7c41" in client.get(where).text
    answer = client.get(where, {"as": "text"})
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "auth_invalid_key: The endpoint refuses the key" in answer.text


def test_editing_makes_a_version_and_keeps_what_the_form_shows(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), address("profile_edit", atlas)
    atlas.down.refresh_from_db()
    assert 'value="qwen3-8b-base"' in client.get(where).text
    answer = client.post(where, edited(atlas.down, model="qwen3-8b"), follow=True)
    assert "Saved as version 3" in answer.text
    assert Profile.objects.get(pk=atlas.down.pk).model == "qwen3-8b"


def test_two_who_edit_at_once_do_not_overwrite_each_other(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), address("profile_edit", atlas)
    answer = client.post(where, edited(atlas.down, model="mine", version="1"))
    assert answer.status_code == 409
    assert "by now. Compare, then save again." in answer.text
    assert Profile.objects.get(pk=atlas.down.pk).model != "mine"


def test_versions_show_what_changed_against_the_one_before(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("versions", atlas)).text
    assert "lanes.agent.base_url" in text
    assert "https://relay.example/v2" in text


@pytest.mark.parametrize(("typed", "left"), [("grpo-prod", False), ("grpo", True)])
def test_a_profile_is_deleted_once_its_name_is_typed(atlas: Scene, browse, typed: str, left: bool) -> None:
    browse(atlas.lead).post(address("profile_delete", atlas), {"name": typed})
    assert Profile.objects.filter(pk=atlas.down.pk).exists() is left


def test_a_conflict_of_two_lanes_is_said_once_with_both_lanes(atlas: Scene, browse) -> None:
    other = make.endpoint(atlas.lead.team, "sk-test-0000111122223333", name="relay-spare")
    atlas.down.lanes.filter(kind="replay").update(endpoint=other)
    text = browse(atlas.viewer).get(address("profile", atlas)).text
    between = text[text.index('id="between"') : text.index('id="ladder"')]
    assert between.count("Another lane calls the same host with another key.") == 1
    assert "Agent inference, Gateway upstream" in between


def test_lanes_without_conflict_have_no_such_list(browse) -> None:
    member = make.member()
    profile = make.profile(member.team, lanes=("agent",), generation="0.x")
    text = browse(member).get(reverse("profile", args=[member.team.slug, profile.code])).text
    assert "Between the lanes" not in text


def test_the_middle_lane_is_called_by_what_the_framework_does(browse) -> None:
    member = make.member()
    old, new = (make.profile(member.team, generation=generation) for generation in ("0.x", "1.x"))
    client = browse(member)
    pages = [client.get(reverse("profile", args=[member.team.slug, row.code])).text for row in (old, new)]
    assert ["Trace replay" in text for text in pages] == [True, False]
    assert ["Gateway upstream" in text for text in pages] == [False, True]
    board = client.get(reverse("overview", args=[member.team.slug])).text
    assert "Trace replay · Gateway upstream" in board


def test_lengths_are_asked_of_the_rollout_lane_alone(atlas: Scene, browse) -> None:
    client, where = browse(atlas.lead), address("profile_edit", atlas)
    atlas.down.refresh_from_db()
    fields = client.get(where).text
    assert 'name="rollout-prompt_length"' in fields
    assert 'name="agent-prompt_length"' not in fields
    said = {"rollout-prompt_length": "4096", "agent-prompt_length": "7"}
    client.post(where, edited(atlas.down, **said))
    lanes = {lane.kind: lane.prompt_length for lane in atlas.down.lanes.all()}
    assert lanes == {"agent": None, "replay": None, "rollout": 4096}


def test_a_new_profile_of_the_new_generation_starts_without_replay(browse) -> None:
    lead = make.member(role=30)
    text = browse(lead).get(reverse("profile_new", args=[lead.team.slug])).text
    ticked = [kind for kind in make.KINDS if f'id="id_{kind}-in_use" checked' in text]
    assert ticked == ["agent", "rollout"]
