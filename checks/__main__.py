"""`python -m checks`: the engine without a web server."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from checks.outcome import Status
from checks.reason import Reason

MAX_LINE_BYTES: Final = 4_194_304

PASSED: Final = 0
BROKEN: Final = 1
UNUSABLE: Final = 2

_TOLD_APART: Final = {"en": "What tells it apart: ", "zh": "如何区分："}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 passed, 1 broken, 2 unusable input."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except BrokenPipeError:
        # The reader went away; what is left in the buffer must not raise once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m checks", description="Check model endpoints, rung by rung."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="climb the ladder for the lane of a TOML file")
    run.add_argument("file", type=Path, metavar="SPEC.toml")
    run.add_argument("--json", action="store_true", help="print one JSON object")
    run.set_defaults(command=_run)
    classify = commands.add_parser(
        "classify", help="name the cause of recorded failures, one JSON object a line"
    )
    classify.add_argument("file", metavar="FILE.jsonl", help="a path, or - for the standard input")
    classify.set_defaults(command=_classify)
    explain = commands.add_parser("explain", help="say what a reason code means and what to do")
    explain.add_argument("code", metavar="CODE")
    explain.add_argument("--lang", choices=("en", "zh"), default="en")
    explain.set_defaults(command=_explain)
    lint = commands.add_parser("lint", help="say what readers will make of configuration files")
    lint.add_argument("files", nargs="+", metavar="FILE", help="files that are used together; - reads one")
    lint.add_argument("--reader", metavar="NAME", help="who reads them: docker, shell, node, litellm …")
    lint.add_argument("--json", action="store_true", help="print one JSON object a finding")
    lint.add_argument("--lang", choices=("en", "zh"), default="en")
    lint.set_defaults(command=_lint)
    return parser


def _run(options: argparse.Namespace) -> int:
    from checks.lanefile import LaneFileError, read_lane_file

    try:
        lane = read_lane_file(options.file, os.environ)
    except LaneFileError as exc:
        return _unusable(f"{options.file}: {exc}")
    from checks.batch import run
    from checks.readout import as_json, as_text

    for edit in lane.edits:
        _say(f"note: {edit}")
    outcome = run(lane.spec)
    print(as_json(outcome) if options.json else as_text(lane.spec, outcome))
    return PASSED if outcome.status in (Status.OK, Status.DEGRADED) else BROKEN


def _classify(options: argparse.Namespace) -> int:
    try:
        with sys.stdin.buffer if options.file == "-" else Path(options.file).open("rb") as file:
            worst = PASSED
            for line in _lines(file):
                answer = _classified(line)
                worst = BROKEN if "error" in answer else worst
                print(json.dumps(answer))
            return worst
    except OSError as exc:
        if isinstance(exc, BrokenPipeError):
            raise
        return _unusable(f"{options.file}: It cannot be read ({exc.strerror}).")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Lines that are not blank; None for one that is too long, which is skipped to its end."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) <= MAX_LINE_BYTES:
            if line.strip():
                yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES)
        yield None


def _classified(line: bytes | None) -> dict[str, object]:
    from checks.verdict.cases import classify_line

    if line is None:
        return {"id": None, "error": f"The line is longer than {MAX_LINE_BYTES} bytes."}
    try:
        return classify_line(line.decode("utf-8-sig"))
    except Exception as exc:  # noqa: BLE001 - a line may hold anything, and the rest must be classified
        return {"id": None, "error": f"{type(exc).__name__}: {exc}"[:300]}


def _explain(options: argparse.Namespace) -> int:
    from checks.reasons import entry

    known = {reason.value: reason for reason in Reason}
    reason = known.get(options.code.strip().lower())
    if reason is None:
        near = difflib.get_close_matches(options.code, known, n=3)
        offers = f" Did you mean {' or '.join(near)}?" if near else ""
        return _unusable(f"code: There is no reason {options.code!r}.{offers}")
    told = entry(reason, options.lang)
    print(f"{told.title} [{reason}]\n\n{told.cause}\n")
    for number, step in enumerate(told.fix, 1):
        print(f"{number}. {step}")
    print(f"\n{_TOLD_APART[options.lang]}{told.probe}")
    return PASSED


def _lint(options: argparse.Namespace) -> int:
    from checks.lint.command import run

    return run(options)


def _unusable(text: str) -> int:
    _say(text)
    return UNUSABLE


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a TextIOWrapper here
    sys.exit(main())
