"""Each request with an id gets an answer, also one that cannot be read."""

from __future__ import annotations

import io
import json

import pytest

from kernelinfo.agents import requests
from kernelinfo.agents.requests import RequestLines


def is_readable(line: str) -> bool:
    """Like the SDK: UTF-8, and a protocol."""
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
        return "jsonrpc" in json.loads(line)
    except (ValueError, RecursionError, TypeError):
        return False


def replaced(line: bytes) -> object:
    """The id of the request in place of a line; None for a blank line."""
    text = RequestLines(io.BytesIO(line + b"\n"), is_readable).readline()
    if text == "\n":
        return None
    found = json.loads(text)
    assert found.pop("method") == "(a request that cannot be read)"
    assert found.pop("jsonrpc") == "2.0"
    return found.pop("id")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (rb'{"jsonrpc":"2.0","id":7,"params":{"path":"\ud800"}}', 7),
        (rb'{"jsonrpc":"2.0","params":{"path":"\udc00","id":3},"id":7}', 7),
        (rb'{"jsonrpc":"2.0","params":{"id":3,"path":"\udc00"}}', None),
        (rb'{"jsonrpc":"2.0","id":"a-1","params":{"path":"\ud800"}}', "a-1"),
        (rb'{"jsonrpc":"2.0","id":"\ud800"}', None),
        (rb'{"jsonrpc":"2.0","id":true,"x":"\ud800"}', None),
        (rb'{"jsonrpc":"2.0","id":1.5,"x":"\ud800"}', None),
        (rb'{"jsonrpc":"2.0","id":null,"x":"\ud800"}', None),
        (rb'{"jsonrpc":"2.0","id":7,"params":', 7),
        (rb'{"jsonrpc":"2.0","id":007,"params":', None),
        (rb'{"jsonrpc":"2.0","id":7x,"params":', None),
        (rb'{"jsonrpc":"2.0","params":{"id":7', None),
        (b'{"jsonrpc":"2.0","id":8,"params":' + b"[" * 5000 + b"]" * 5000 + b"}", 8),
        (b'{"jsonrpc":"2.0","id":8,"params":' + b"9" * 5000 + b"}", 8),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b"}", None),
        (b"[" * 5000, None),
        (b"\xff\xfe", None),
        (b"[1]", None),
        (b"{}", None),
    ],
)
def test_an_unreadable_request_keeps_its_id(line: bytes, expected: object) -> None:
    assert replaced(line) == expected


def test_a_long_request_keeps_its_id_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_LONGEST_REQUEST", 100)
    good = b'{"jsonrpc":"2.0","id":2}\n'
    stream = io.BytesIO(b'{"jsonrpc":"2.0","id":1,"params":"' + b"x" * 1000 + b'"}\n' + good)
    lines = RequestLines(stream, is_readable)
    assert json.loads(lines.readline())["id"] == 1
    assert [lines.readline(), lines.readline()] == [good.decode(), ""]
