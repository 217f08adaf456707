"""Answers cut to a bound, with a count of all that is left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kernelinfo.agents.messages import say
from kernelinfo.render.paint import harmless

ANSWER_BYTES = 20_000
"""Most bytes of one answer as JSON, text included: about 7,000 tokens of a model's context."""

MOST_ITEMS = 64
"""Most members of one list in an answer."""

_DOCUMENT_BYTES = 12_000
_ENVELOPE_BYTES = 300  # keys and counts around the answer
_COUNT_BYTES = 120  # the line that counts what a text lacks
_LIMITS = (
    *((MOST_ITEMS, 4000), (MOST_ITEMS, 400), (32, 400), (16, 200), (8, 200)),
    *((4, 120), (2, 120), (1, 80), (0, 80)),
)
"""(most members of a list, most characters of a text), tried in this order."""


class Answer(NamedTuple):
    """The answer to one call."""

    text: str
    document: dict[str, Any]
    is_error: bool = False
    """True if there is no answer, and the text says why."""


def bounded(answer: Answer, left_out: Mapping[str, int]) -> Answer:
    """The answer in at most `ANSWER_BYTES`. `left_out` counts members left out before."""
    document = _fitted(answer.document, left_out)
    room = ANSWER_BYTES - _ENVELOPE_BYTES - _size(document)
    return answer._replace(text=_cut_text(answer.text, room), document=document)


def refused(message: str) -> Answer:
    """The answer to a request that cannot be answered."""
    return bounded(Answer(message, {"problems": [message]}, True), {})


def _fitted(document: dict[str, Any], left_out: Mapping[str, int]) -> dict[str, Any]:
    """The document with its lists and texts cut, by the first limits that fit."""
    for most, longest in _LIMITS:
        counts = Counter(left_out)
        shown: dict[str, Any] = _cut(document, "", most, longest, counts)
        shown |= {"left_out": dict(counts)} if counts else {}
        if _size(shown) <= _DOCUMENT_BYTES:
            break
    return shown


def _cut(value: Any, place: str, most: int, longest: int, left_out: Counter[str]) -> Any:
    """A JSON value without unknown members. `left_out` counts list members and characters that are
    cut, by place: `kernels[].limits`."""
    if isinstance(value, str):
        if len(value) > longest:
            left_out[f"{place} (characters)"] += len(value) - longest
        return _encodable(value[:longest])
    if isinstance(value, Mapping):
        dot = f"{place}." if place else ""
        known = ((name, member) for name, member in value.items() if member is not None)
        return {
            str(name): _cut(member, f"{dot}{name}", most, longest, left_out)
            for name, member in known
        }
    if isinstance(value, list | tuple):
        if len(value) > most:
            left_out[place] += len(value) - most
        return [_cut(one, f"{place}[]", most, longest, left_out) for one in value[:most]]
    return value


def _cut_text(text: str, room: int) -> str:
    """The first lines of a text, in at most `room` bytes of JSON; a last line counts the rest."""
    count = text.count("\n") + (not text.endswith("\n"))
    room -= _COUNT_BYTES
    kept: list[str] = []
    for line in harmless(_encodable(text[:room]), color=False).splitlines():
        room -= _size(line)
        if room < 0:
            break
        kept.append(line)
    is_cut = len(kept) < count or len(text) > sum(map(len, kept)) + count
    more = say("answer-cut-off", count=count)
    return "\n".join([*kept, more] if is_cut else kept)


def _size(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _encodable(text: str) -> str:
    """The text; bytes of paths that are no UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
