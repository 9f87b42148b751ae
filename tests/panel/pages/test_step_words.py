"""What was asked on a rung, in words: a name for each step, and how a lane's promises were kept."""

from __future__ import annotations

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from checks import probes
from checks.outcome import SUPPORTING_STEPS, Rung, Status, Step
from checks.probes.contracts import CONTRACTS
from checks.reason import Reason
from panel import ledger
from panel.history import StepView
from panel.templatetags import step_words
from panel.templatetags.upper_steps import UPPER_STEPS
from tests import make
from tests.panel.pages.scene import outcome

pytestmark = pytest.mark.django_db
PLAIN = {"resolve", "connect", "tls", "brief", "chat", "open_endpoint"}


def test_every_step_of_the_engine_has_a_name_and_no_other() -> None:
    promised = {clause.__name__ for clauses in CONTRACTS.values() for clause in clauses}
    assert set(step_words.STEPS) == promised | PLAIN | (SUPPORTING_STEPS - set(UPPER_STEPS))


def kept(status: str, reason: str = "", **say: str) -> tuple[str, str]:
    step = StepView(2, "tools", status, reason, (), say, 1.0, 0)
    (promise,) = step_words.contract_of(step_words.RungView(2, "ok", {}, "", 1.0, (), None, (step,), None))
    return promise.drawn, promise.word


@pytest.mark.parametrize(
    ("said", "drawn", "word"),
    [
        ({"status": "ok"}, "ok", "OK"),
        ({"status": "down", "shape": "none"}, "down", "missing"),
        ({"status": "down", "flaw": "count"}, "down", "not kept"),
        ({"status": "ok", "accepted": "no", "refused": "role_unsupported"}, "not_testable", "not supported"),
        ({"status": "ok", "supported": "no"}, "not_testable", "not supported"),
        ({"status": "ok", "accepted": "unknown"}, "unknown", "not known"),
        ({"status": "not_reached"}, "not_reached", "Not reached"),
        ({"status": "not_testable", "reason": "budget_spent"}, "not_testable", "Not testable"),
    ],
)
def test_a_promise_says_how_it_was_kept(said: dict[str, str], drawn: str, word: str) -> None:
    assert kept(**said) == (drawn, word)


def a_rollout_without_ids(*more: Step):
    """A member and the page of a lane whose newest run found no token ids."""
    member, now = make.member(), timezone.now()
    check = make.check(member.team, "rollout")
    (run,) = ledger.start([make.run(check, now - timedelta(minutes=1)).pk], now)
    passed = outcome(run, "rollout", "o", now)
    reason, say = Reason.TOKEN_IDS_MISSING, {"shape": "none", "status": "200"}
    steps = (
        *passed.steps,
        Step(Rung.CHANNEL, "engine", Status.OK, say={"version": "0.9.1"}),
        Step(Rung.CHANNEL, "token_ids", Status.DOWN, reason, (reason,), say, passed.steps[1].evidence),
        Step(Rung.CHANNEL, "logprobs", Status.NOT_REACHED),
        *more,
    )
    broken = type(passed)(run.code, Status.DOWN, Rung.CHANNEL, reason, steps, now, 300.0, 12, 288.0)
    ledger.close_many([(run, broken)], now)
    return member, run, reverse("profile", args=[member.team.slug, check.lane.profile.code])


def test_the_opened_rung_lists_the_contract_in_words(browse) -> None:
    member, _, where = a_rollout_without_ids()
    text = browse(member).get(where).text
    contract = text[text.index('class="contract"') : text.index("</ul>", text.index('class="contract"'))]
    for said in ("Engine state: OK", "Token ids: missing", "Log-probabilities: Not reached"):
        assert said in contract
    assert "shape=none" not in contract


def test_raw_facts_stand_in_the_evidence_alone(browse) -> None:
    member, run, _ = a_rollout_without_ids()
    text = browse(member).get(reverse("run", args=[member.team.slug, run.code])).text
    before, _, after = text.partition("<pre")
    assert "token_ids: shape=none" in after
    assert "shape=" not in before
    assert "token_ids" not in before.replace("token_ids_missing", "")


def test_a_step_of_another_version_reads_as_itself() -> None:
    assert step_words.step_name("future_step") == "future_step"


def steps_of_the_upper_rungs() -> set[str]:
    """The names that the probes write beside a rung above the second."""
    calls = (
        node
        for path in Path(probes.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[0], ast.Attribute)
    )
    told = [(node.args[0].attr, node.args[1]) for node in calls if isinstance(node.args[0], ast.Attribute)]
    upper = [name for rung, name in told if rung in ("SDK", "AGENT", "ROLLOUT")]
    return {name.value for name in upper if isinstance(name, ast.Constant)}


def test_every_step_that_a_probe_names_above_the_second_rung_has_a_word() -> None:
    assert steps_of_the_upper_rungs() - set(UPPER_STEPS) == set()
