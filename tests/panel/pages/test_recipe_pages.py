"""Recipes, dry runs and places on pages: what is run, what it costs and prints, where places differ."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from panel.models import Check, Host, Recipe, Run, RunOutput, RunSteps
from tests import make
from tests.panel.pages.places import address
from tests.panel.pages.scene import HOSTILE, Scene

pytestmark = pytest.mark.django_db
SAID = {
    "host": "", "where": "worker", "clients": "", "workdir": "", "python": "", "activate": "", "agent": "",
    "question": "", "question_field": "question", "agent_deadline_s": "120", "prompts": "2", "samples": "2",
    "command": "", "command_deadline_s": "600", "output_cap_kb": "256", "gpus": "", "model_path": "",
    "tensor_parallel": "1",
}  # fmt: skip


def on_host(**said: str) -> dict[str, str]:
    return SAID | {"host": Host.objects.get(name="gpu-a12").code} | said


def test_a_recipe_is_saved_one_argument_a_line(atlas: Scene, browse) -> None:
    said = on_host(command="python\r\n-m\r\ntrain.dry\r\n", clients="openai\nlitellm==1.83.0", gpus="0, 1")
    answer = browse(atlas.lead).post(address("recipe", atlas), said, follow=True)
    recipe = Recipe.objects.get(profile=atlas.down)
    assert "The recipe of grpo-prod is saved." in answer.text
    assert recipe.command == ["python", "-m", "train.dry"]
    assert (recipe.clients, recipe.gpus) == (["openai", "litellm==1.83.0"], "0,1")


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("command", "python -m train", "The first line must be the program alone, python."),
        ("agent", "my agent", "Write it as package.module:Class."),
        ("clients", "requests", "no client that Preflight knows"),
        ("gpus", "all", "GPUs are numbers with commas"),
        ("prompts", "99", "less than or equal to 16"),
        ("workdir", "relative/path", "full path of a folder"),
    ],
)
def test_a_bad_value_is_named_with_its_mend_and_nothing_typed_is_lost(
    atlas: Scene, browse, field: str, value: str, why: str
) -> None:
    said = on_host(question="How many singers?") | {field: value}
    text = browse(atlas.lead).post(address("recipe", atlas), said).text
    assert why in text
    assert f'<a href="#id_{field}">' in text
    assert "How many singers?" in text


def test_what_needs_a_host_is_refused_without_one(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).post(address("recipe", atlas), SAID | {"command": "python"}).text
    assert "The command runs on a host. Choose one." in text


def test_the_recipe_says_what_each_rung_then_does(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("recipe", atlas)).text
    assert "Imports sql_agent:SqlAgent, builds it, and asks it one question within 120 s." in text
    assert "Runs python for at most 600 s and ends all that it started." in text
    assert "from the panel, host gpu-a12" in text


def test_a_dry_run_says_its_cost_before_it_starts(atlas: Scene, browse) -> None:
    text = browse(atlas.engineer).get(address("dry_run", atlas) + "?lane=rollout").text
    assert text.count('type="radio"') == text.count(" tokens") == 3
    assert "600 GPU seconds" in text
    assert not Run.objects.filter(top_rung__gt=2)


def test_an_engineer_starts_a_dry_run_and_comes_to_its_page(atlas: Scene, browse) -> None:
    client = browse(atlas.engineer)
    answer = client.post(address("dry_run", atlas), {"lane": "agent", "top": "4"})
    run = Run.objects.get(top_rung=4)
    assert answer.headers["Location"] == reverse("run", args=[atlas.slug, run.code])
    assert "up to rung 4, Agent" in client.get(answer.headers["Location"]).text


def test_what_a_command_printed_is_text_whoever_wrote_it(atlas: Scene, browse) -> None:
    text = browse(atlas.viewer).get(address("run", atlas)).text
    assert "step 1" in text
    assert HOSTILE not in text


def printing(atlas: Scene) -> Run:
    """A dry run of the down profile that is under way and printed two pieces."""
    order = Check.objects.get(lane__profile=atlas.down, lane__kind="rollout")
    run = make.run(order, timezone.now(), state="running", top_rung=5, host_name="gpu-a12")
    for number in (1, 2):
        RunOutput.objects.create(run=run, number=number, at=timezone.now(), text=f"piece {number}\n")
    return run


def test_the_live_view_brings_what_is_new_alone(atlas: Scene, browse) -> None:
    run, client = printing(atlas), browse(atlas.viewer)
    where = reverse("run_output", args=[atlas.slug, run.code])
    new = client.get(where + "?after=1", headers={"HX-Request": "true"})
    assert "piece 2" in new.text
    assert "piece 1" not in new.text
    assert "?after=2" in new.text
    assert client.get(where + "?after=2", headers={"HX-Request": "true"}).status_code == 204


def test_the_live_view_ends_with_the_run(atlas: Scene, browse) -> None:
    run, client = printing(atlas), browse(atlas.viewer)
    Run.objects.filter(pk=run.pk).update(state="done")
    where = reverse("run_output", args=[atlas.slug, run.code])
    assert "hx-get" not in client.get(where + "?after=1", headers={"HX-Request": "true"}).text
    whole = client.get(where)
    assert (whole.text, whole.headers["Content-Type"]) == ("piece 1\npiece 2\n", "text/plain; charset=utf-8")


def test_a_paused_run_page_asks_nothing(atlas: Scene, browse) -> None:
    run, client = printing(atlas), browse(atlas.viewer)
    where = reverse("run", args=[atlas.slug, run.code])
    assert client.get(where).text.count("hx-get") == 2
    assert "hx-get" not in client.get(where + "?live=0").text


def test_gpu_memory_and_leftovers_stand_in_the_rung(atlas: Scene, browse) -> None:
    run = printing(atlas)
    told = {"gpu_memory": {"gpu0": "3 → 70000 → 3 MiB"}, "leftovers": {"processes": "ray (77)"}}
    plain = {"rung": 5, "status": "ok", "place": "host:gpu-a12"}
    steps = [plain | {"name": name, "say": say} for name, say in told.items()]
    RunSteps.objects.create(run=run, steps=steps)
    text = browse(atlas.viewer).get(reverse("run", args=[atlas.slug, run.code])).text
    assert "GPU 0: 3 → 70000 → 3 MiB" in text
    assert "processes: ray (77)" in text
    assert "from host gpu-a12" in text


def two_places(atlas: Scene, proxy: str) -> None:
    """A run of the agent lane whose host was refused by a proxy, while the panel got through."""
    order = Check.objects.get(lane__profile=atlas.down, lane__kind="agent")
    run = make.run(order, timezone.now(), state="done", status="down", finished_at=timezone.now())
    told = {"addresses": ["192.0.2.7"], "peer": "192.0.2.7:443", "status": 200}
    good = {"rung": 2, "name": "chat", "status": "ok", "place": "panel", "evidence": told}
    bad = good | {"status": "down", "place": "host:gpu-a12", "reason": "proxy_unreachable"}
    bad["evidence"] = told | {"proxy": proxy, "status": 502}
    RunSteps.objects.create(run=run, steps=[good, bad])


def test_places_are_compared_with_the_conclusion_first(atlas: Scene, browse) -> None:
    two_places(atlas, "http://proxy.example:3128")
    text = browse(atlas.viewer).get(address("compare", atlas) + "?lane=agent").text
    assert "<h1>Works from the panel, fails from host gpu-a12: the proxy differs</h1>" in text
    assert text.count('class="differs"') == 2
    assert "http://proxy.example:3128" in text


def test_one_place_alone_says_how_to_get_a_second(atlas: Scene, browse) -> None:
    text = browse(atlas.lead).get(address("compare", atlas)).text
    assert "Climb rungs 1 and 2 from both, and run the ladder." in text


def test_a_lane_is_told_how_far_to_climb_and_how_often(atlas: Scene, browse) -> None:
    client = browse(atlas.lead)
    page = client.get(address("profile_edit", atlas)).text
    assert page.count("rung 5, the rollout dry run") == 3
    orders = Check.objects.filter(lane__profile=atlas.down, lane__kind="agent")
    orders.update(top_rung=4, upper_interval_s=21_600)
    text = client.get(address("profile", atlas) + "?lane=agent").text
    assert "rung 4, Agent, every 6" in text
