"""Streams: demanded, forbidden, cut short, or framed as something else."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

_REFUSALS = (400, 404, 422, 500, 501)

demanded = table(
    row(
        Reason.THINKING_REQUIRES_STREAM,
        r"enable_thinking.{0,80}(?:stream|false|non)|thinking.{0,80}(?:non-?stream"
        r"|stream(?:ing)? (?:mode|call|output|only))|(?:non-?stream|stream).{0,60}thinking"
        r"|思考.{0,30}流式|非流式.{0,30}(?:思考|thinking)",
        "",
        _REFUSALS,
    ),
    row(
        Reason.STREAM_ONLY,
        r"only support.{0,30}stream|stream(?:ing)?(?: mode| parameter)?.{0,40}(?:must be|is required"
        r"|required|set to true|=true|only|enable)|(?:enable|set|use|requires?"
        r"|needs?) (?:the )?['\"`]?stream|(?:仅|只)支持流式|stream mode"
        r"|non-?stream(?:ing)?.{0,60}(?:not|unsupported|disabled)|必须.{0,8}流式|流式(?:调用|输出"
        r"|模式).{0,8}(?:必须|only)|does not support non-?stream|不支持非流式",
        "stream_only streaming_required stream_required",
        _REFUSALS,
    ),
)


def needs_stream(view: View) -> Reason | None:
    """The words demand a stream (a refusal of `stream_options` or of a stream is something else)."""
    return None if re.search(r"stream_options|stream must be false", view.answer.said) else demanded(view)


def misframed(view: View) -> Reason | None:
    """Framing and flag disagree: events for a plain call, one JSON for a stream, lines of JSON, or glue."""
    answer = view.answer
    if not 200 <= (view.status or 0) < 300 or answer.form in (Form.HTML, Form.EMPTY, Form.NONE):
        return None
    wanted = view.evidence.params.get("stream")
    # Ollama's own route streams lines of JSON, each with `done`.
    own_line = isinstance(answer.value, dict) and isinstance(answer.value.get("done"), bool)
    if answer.is_ndjson or own_line:
        return Reason.STREAM_FRAMING_MISMATCH
    streamed = answer.is_sse or answer.media == "text/event-stream"
    if streamed and wanted is not True and _carries_text(view):
        return Reason.STREAM_FRAMING_MISMATCH
    if wanted is True and not answer.is_sse and answer.form is Form.COMPLETION:
        return Reason.STREAM_FRAMING_MISMATCH
    return (
        Reason.STREAM_FRAMING_MISMATCH
        if answer.form is Form.TEXT and "[DONE]" in answer.text[-400:]
        else None
    )


def _carries_text(view: View) -> bool:
    return view.evidence.params.get("stream") is False or any(
        not _is_empty_chunk(item) for item in view.answer.events
    )


def _is_empty_chunk(value: object) -> bool:
    return isinstance(value, dict) and value.get("choices") == []


def empty_chunk(view: View) -> Reason | None:
    """Nothing but a chunk without choices: the filter's first or the usage's last."""
    answer = view.answer
    value = answer.value
    if any(not _is_empty_chunk(item) for item in answer.events):
        return None
    if not _is_empty_chunk(value) or not isinstance(value, dict):
        return None
    chunk = (
        answer.is_sse
        or bool(view.evidence.params.get("stream"))
        or value.get("object") == "chat.completion.chunk"
    )
    return (
        Reason.CHOICES_EMPTY_CHUNK
        if chunk or "prompt_filter_results" in value or "prompt_annotations" in value
        else None
    )


def some_empty_chunk(view: View) -> Reason | None:
    """A whole stream that holds such a chunk: only a client that indexes blindly stumbles."""
    return Reason.CHOICES_EMPTY_CHUNK if any(_is_empty_chunk(item) for item in view.answer.events) else None


def truncated(view: View) -> Reason | None:
    """Events came, but neither an end mark nor a finish reason."""
    answer = view.answer
    if not answer.is_sse or answer.done or answer.is_error or (view.status or 0) >= 400:
        return None
    if any(_finished(event) for event in answer.events):
        return None
    return Reason.STREAM_TRUNCATED


def _finished(event: object) -> bool:
    if not isinstance(event, dict):
        return False
    if event.get("type") in ("message_stop", "response.completed", "response.done") or (
        event.get("usage") and event.get("choices") == []
    ):
        return True
    choices = event.get("choices")
    return (
        any(isinstance(item, dict) and item.get("finish_reason") for item in choices)
        if isinstance(choices, list)
        else False
    )


ANSWERS: tuple[Rule, ...] = (needs_stream,)
SHAPES: tuple[Rule, ...] = (empty_chunk, misframed, truncated, some_empty_chunk)
