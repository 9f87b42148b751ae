"""`python -m checks`: run, classify and explain, from a terminal's point of view."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.__main__ import main
from checks.reasons import entry
from checks.simulator import serve as simulate
from tests.checks.conftest import Serve
from tests.checks.local import HEALTHY, KEY, MODEL, Behaviour, LocalServer, answering
from tests.ssh import Sshd

Write = Callable[..., str]

REFUSED = answering(
    401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
)


@pytest.fixture
def lane_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a lane file for a server, with lines added or replaced."""
    monkeypatch.setenv("CANARY_KEY", KEY)

    def write(server: LocalServer | None = None, **lines: str) -> str:
        known = {
            "base_url": f'"{server.base_url}"' if server else '"http://127.0.0.1:1/v1"',
            "model": f'"{MODEL}"',
            "api_key_env": '"CANARY_KEY"',
            "allow": '["127.0.0.0/8", "::1/128"]',
        }
        path = tmp_path / "lane.toml"
        path.write_text("\n".join(f"{name} = {value}" for name, value in (known | lines).items() if value))
        return str(path)

    return write


def test_a_healthy_lane_exits_with_zero(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", lane_file(serve(HEALTHY))]) == 0
    said = capsys.readouterr().out
    assert "Passed up to rung 2 of 5, channel." in said
    assert [word for word in ("resolve", "connect", "chat") if word not in said] == []


def test_a_broken_rung_exits_with_one_and_says_cause_and_fix(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", lane_file(serve(REFUSED))]) == 1
    said = capsys.readouterr().out
    assert "Stopped at rung 2 of 5, channel." in said
    assert "[auth_invalid_key]" in said
    assert "Cause: " in said
    assert "Fix 1: " in said
    assert "Seen: HTTP 401" in said
    assert KEY not in said


def test_other_causes_that_fit_are_said_with_what_decides(
    lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", lane_file()]) == 1
    said = capsys.readouterr().out
    assert f"What decides: {entry('connection_refused_loopback').probe}" in said
    _, others = said.split("It may also be:")
    assert "[container_loopback]" in others
    assert entry("container_loopback").probe in others


def test_the_base_url_that_answered_instead_is_said(
    lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    with simulate("vllm", key=KEY, models=(MODEL,), fault="no_version") as server:
        assert main(["run", lane_file(base_url=f'"{server.base_url}"')]) == 1
        assert f"This base URL answered instead: {server.base_url}/v1" in capsys.readouterr().out


def test_a_lane_file_may_ask_for_what_must_be_refused(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", lane_file(serve(HEALTHY), negative="true")])
    assert "[endpoint_open]" in capsys.readouterr().out


def test_json_is_one_object_without_the_key(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", lane_file(serve(REFUSED)), "--json"]) == 1
    said = capsys.readouterr().out
    outcome = json.loads(said)
    assert (outcome["status"], outcome["reason"], outcome["rung"]) == ("down", "auth_invalid_key", 2)
    assert outcome["steps"][-1]["evidence"]["status"] == 401
    assert KEY not in said


def test_a_hostile_answer_cannot_steer_the_terminal(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    steer: Behaviour = answering(401, {"error": {"message": "\x1b]0;owned\x07\x1b[2J", "code": "\x1b[31m"}})
    main(["run", lane_file(serve(steer))])
    assert "\x1b" not in capsys.readouterr().out


def test_what_was_changed_in_the_address_is_said(
    serve: Serve, lane_file: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(HEALTHY)
    assert main(["run", lane_file(base_url=f'"{server.base_url}/chat/completions"')]) == 0
    assert "note: base_url: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ({"base_url": ""}, "base_url"),
        ({"base_url": '"relay.example/v1"'}, "base_url"),
        ({"base_url": '"http://u:hunter2@relay.example/v1"'}, "base_url"),
        ({"base_url": "7"}, "base_url"),
        ({"model": ""}, "model"),
        ({"api_key_env": '"NO_SUCH_VARIABLE"'}, "api_key_env"),
        ({"api_key_env": f'"{KEY}"'}, "api_key_env"),
        ({"api_key": f'"{KEY}"'}, "api_key"),
        ({"lane": '"dance"'}, "lane"),
        ({"kind": '"mystery"'}, "kind"),
        ({"deadline": "0"}, "deadline"),
        ({"deadline": "true"}, "deadline"),
        ({"deadline": "nan"}, "deadline"),
        ({"negative": "1"}, "negative"),
        ({"rungs": "[]"}, "rungs"),
        ({"rungs": "[1, 7]"}, "rungs"),
        ({"rungs": "[true]"}, "rungs"),
        ({"allow": '["127.0.0.1/8"]'}, "allow"),
        ({"allow": '"127.0.0.0/8"'}, "allow"),
        ({"token_budget": "-1"}, "token_budget"),
        ({"colour": '"red"'}, "colour"),
        ({"base_url": "= broken"}, "file"),
    ],
)
def test_a_bad_lane_file_exits_with_two_and_names_the_field(
    lane_file: Write, capsys: pytest.CaptureFixture[str], lines: dict[str, str], field: str
) -> None:
    assert main(["run", lane_file(**lines)]) == 2
    said = capsys.readouterr().err
    assert f"{field}: " in said
    assert KEY not in said
    assert "hunter2" not in said


def test_a_key_that_cannot_be_sent_exits_with_two(
    lane_file: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lane_file()
    monkeypatch.setenv("CANARY_KEY", f"{KEY}’x")
    assert main(["run", path]) == 2
    assert KEY not in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"x" * 100_000])
def test_a_file_that_is_no_lane_exits_with_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    path = tmp_path / "lane.toml"
    if content is not None:
        path.write_bytes(content)
    assert main(["run", str(path)]) == 2
    assert "file: " in capsys.readouterr().err


def classified(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, object]]]:
    status = main(["classify", str(path)])
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


CASE = {
    "id": "c-1",
    "request": {"method": "POST", "url_form": "https://relay.example/v1/chat/completions", "model": "m"},
    "response": {
        "status": 401,
        "body": '{"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}',
    },
}


def test_a_recorded_case_is_classified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE) + "\n\n" + json.dumps(CASE | {"id": "c-2"}))
    status, answers = classified(path, capsys)
    assert status == 0
    assert [(answer["id"], answer["code"]) for answer in answers] == [
        ("c-1", "auth_invalid_key"),
        ("c-2", "auth_invalid_key"),
    ]
    assert (answers[0]["family"], answers[0]["layer"]) == ("auth_key_bad", "auth")


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"\xff\xfe", b"7", b"[" * 50_000, b'{"id": 1, "response": 7}\n{', b"x" * 5_000_000]
)
def test_a_broken_line_is_an_error_object_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(line + b"\n" + json.dumps(CASE).encode())
    status, answers = classified(path, capsys)
    assert status == 1
    assert answers[-2]["id"] is None
    assert answers[-2]["error"]
    assert answers[-1]["code"] == "auth_invalid_key"


def test_a_missing_file_of_cases_exits_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_reason_is_explained_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "auth_invalid_key"]) == 0
    english = capsys.readouterr().out
    assert main(["explain", "AUTH_INVALID_KEY", "--lang", "zh"]) == 0
    chinese = capsys.readouterr().out
    assert "[auth_invalid_key]" in english
    assert f"What tells it apart: {entry('auth_invalid_key').probe}" in english
    assert f"如何区分：{entry('auth_invalid_key', 'zh').probe}" in chinese


def test_an_unknown_reason_exits_with_two_and_offers_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "auth_invalid_keys"]) == 2
    assert "auth_invalid_key" in capsys.readouterr().err


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE))
    command = [sys.executable, "-m", "checks", "classify", "-"]
    with path.open("rb") as cases:
        done = subprocess.run(
            command, stdin=cases, capture_output=True, text=True, check=True, env=dict(os.environ)
        )
    assert json.loads(done.stdout)["code"] == "auth_invalid_key"


def test_a_lane_is_asked_from_the_host_that_its_file_names(
    serve: Serve, lane_file: Write, sshd: Sshd, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(lane_file(serve(HEALTHY)))
    host = {
        "address": "127.0.0.1",
        "port": sshd.port,
        "user": sshd.user,
        "host_key": sshd.host_key,
        "key_file": str(sshd.folder / "key"),
        "python": sys.executable,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in host.items()]
    path.write_text("\n".join([path.read_text(), "[host]", *lines]))
    assert main(["run", str(path)]) == 0
    assert "chat (127.0.0.1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ({"where": '"host"'}, "where"),
        ({"host": '{ address = "gpu.example", user = "me; rm" }'}, "host"),
        ({"host": '{ address = "gpu.example", user = "me", key_file = "none" }'}, "host"),
        ({"host": '{ password = "x" }'}, "host"),
    ],
)
def test_a_host_that_cannot_be_used_is_refused(
    lane_file: Write, capsys: pytest.CaptureFixture[str], lines: dict[str, str], field: str
) -> None:
    assert main(["run", lane_file(**lines)]) == 2
    assert f": {field}: " in capsys.readouterr().err
