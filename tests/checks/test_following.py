"""What a climb tells while it is under way: steps after each rung, lines as they come, all masked."""

from __future__ import annotations

import asyncio

import pytest

from checks import Masked, Outcome, Rung, Status, Told, follow_many
from checks.outcome import Step
from checks.probes import PROBES, Ask, Found
from checks.redact import MASK, Redactor
from checks.spec import HostSpec
from checks.telling import Teller, secrets_of
from tests.checks.conftest import Serve
from tests.checks.local import HEALTHY, KEY


def test_steps_are_told_after_each_rung_and_before_the_outcome(serve: Serve) -> None:
    told = list(follow_many([serve(HEALTHY).spec()]))
    assert [type(item) for item in told] == [Told, Told, Outcome]
    rungs = [{step.rung for step in item.steps} for item in told]
    assert rungs == [{Rung.NETWORK}, {Rung.NETWORK, Rung.CHANNEL}, {Rung.NETWORK, Rung.CHANNEL}]


def test_each_step_names_the_zone_it_was_asked_from(serve: Serve) -> None:
    *_, outcome = follow_many([serve(HEALTHY).spec(place="lab")])
    assert {step.place for step in outcome.steps} == {"lab"}


def test_printed_lines_arrive_masked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(ask: Ask) -> Found:
        ask.tell_output(f"using {KEY[:12]}")
        await asyncio.sleep(0)
        ask.tell_output(f"{KEY[12:]} now\nlast")
        return Found((Step(Rung.SDK, "sdk", Status.OK),))

    monkeypatch.setitem(PROBES, Rung.SDK, talk)
    told = list(follow_many([serve(HEALTHY).spec(rungs=(Rung.SDK,))]))
    assert [item.output for item in told if isinstance(item, Told)] == [f"using {MASK} now\n", "last", ""]


def test_a_line_without_end_is_told_in_the_end() -> None:
    told: list[Told] = []
    teller = Teller("a", Redactor([]), told.append)
    teller.pass_on(Told("a", output="x" * 20_000))
    teller.pass_on(Told("a", output="y"))
    teller.flush()
    assert [len(item.output) for item in told] == [20_000, 1]


def test_the_bundles_keys_and_private_keys_are_secrets_and_its_addresses_are_not(serve: Serve) -> None:
    bundle = Masked("export AGL_KEY='agl-secret-value'\nexport OPENAI_BASE_URL='http://there.example/v1'\n")
    jump = HostSpec("J-1", "door", "door.example", "me", private_key=Masked("first-line-of-a-key\nsecond"))
    host = HostSpec("H-1", "gpu", "gpu.example", "me", jump=jump)
    spec = serve(HEALTHY).spec(bundle=bundle, host=host)
    told = Redactor(secrets_of(spec)).text("agl-secret-value first-line-of-a-key http://there.example/v1")
    assert told == f"{MASK} {MASK} http://there.example/v1"
