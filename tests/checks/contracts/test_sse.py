"""The event reader: what the standard says, what servers get wrong, and bounds on both."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.probes.sse import MAX_BYTES, MAX_EVENTS, read_events


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"a": 1}\n\ndata: [DONE]\n\n',
        b'data:{"a": 1}\r\n\r\ndata:[DONE]\r\n\r\n',
        b'data: {"a": 1}\r\rdata: [DONE]\r\r',
        b'\xef\xbb\xbfdata: {"a": 1}\n\ndata: [DONE]',
        b': ping\n\nevent: message\nid: 7\nretry: 9\ndata: {"a": 1}\n\n: ping\n\ndata: [DONE]\n\n',
        b'data: {"a":\ndata: 1}\n\ndata: [DONE]\n\n',
        b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: {"late": 1}\n\n',
    ],
)
def test_an_event_and_its_end_are_read(body: bytes) -> None:
    read = read_events(body)
    assert (read.events, read.done, read.unreadable, read.capped) == (({"a": 1},), True, 0, False)


@pytest.mark.parametrize("body", [b"", b"\n\n", b'{"choices": []}', b"<!doctype html>", b": ping\n\n"])
def test_what_is_no_stream_has_nothing_in_it(body: bytes) -> None:
    assert not read_events(body).found


def test_an_event_that_is_no_json_is_counted() -> None:
    read = read_events(b'data: {"a"\n\ndata: ' + b"[" * 50_000 + b"\n\ndata: 1\n\n")
    assert (read.events, read.unreadable, read.done) == ((1,), 2, False)


def test_the_reading_stops_at_its_bounds() -> None:
    assert read_events(b"data: 1\n\n" * (MAX_EVENTS + 5)).capped
    assert len(read_events(b"data: 1\n\n" * (MAX_EVENTS + 5)).events) == MAX_EVENTS
    assert read_events(b"data: 1\n\n" + b"x" * MAX_BYTES).capped


def test_a_full_body_is_read_in_a_moment() -> None:
    begun = time.monotonic()
    read_events(b"data:\n" * (MAX_BYTES // 6))
    assert time.monotonic() - begun < 3


@given(st.binary(max_size=2_000))
def test_no_bytes_whatever_raise(body: bytes) -> None:
    read_events(body)
