"""One JSON object a line and kernel, its input inlined; each is written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import add

from kernelinfo.kernel import CodeObject, Item, Result
from kernelinfo.light_typing import Any
from kernelinfo.reading.facts import FactName, Source
from kernelinfo.render import View
from kernelinfo.render.json import (
    PROVENANCE,
    code_object_document,
    flat,
    kernel_document,
    place,
    provenance,
    stated_facts,
)

# Documents are trees: looking for cycles would take a third of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_string = json.encoder.encode_basestring_ascii
_OWN, _PART = "\0", "\1"
"""Stand in a form for what each kernel has of its own, and for what is encoded already; nothing
else in a document is just one of these."""
_OWN_TEXT, _PART_TEXT = _encode(_OWN), _encode(_PART)
_MOST_FORMS = 1 << 12
_forms: dict[object, _Form] = {}
"""Of kernels that are alike. Kept, as a process of several renders a little at a time."""


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    of: CodeObject | None = None
    for item in items:
        if not isinstance(item, Result):
            continue
        if item.kernel.code_object is not of:
            of = item.kernel.code_object
            head = _encode({"input": code_object_document(of)})[:-1] + ","
        if item.kernel.code_object.kind == "assembly" or item.occupancy is None:
            yield head + _encode(kernel_document(item))[1:] + "\n"
            continue
        key = item.kernel.traits, item.kernel.code_size is None
        form = _forms.get(key)
        if form is None or form.occupancy is not item.occupancy:
            if len(_forms) >= _MOST_FORMS:
                _forms.clear()
            form = _forms[key] = _Form(item)
        yield form.filled(item, head)


class _Form:
    """The text of kernels that are alike, but for what each has of its own.

    Most kernels of a library are like one before, and most of what makes the others differ was said
    of another one: to encode each as a whole takes ten times as long.
    """

    def __init__(self, first: Result) -> None:
        self.occupancy = first.occupancy
        self._stated = stated_facts(first.kernel)
        places = [(f.source, f.offset if f.line is None else f.line) for f in self._stated]
        self._places = [(source, place) for source, place in places if place is not None]
        """Of the facts that stand somewhere."""
        self._parts: list[str] = []
        own = dict.fromkeys(("symbol", "name", "code_bytes", "findings"), _OWN)
        between = _encode(kernel_document(first, self._part) | own)[1:].split(_PART_TEXT)
        text = "".join(map(add, between, [*self._parts, "\n"]))
        self._pieces = [piece for common in text.split(_OWN_TEXT) for piece in ("", common)]
        """What each kernel has of its own goes before what is common."""

    def _part(self, document: Callable[[Any], Any], value: Any) -> str:
        if document is provenance:
            said = tuple(
                [(f.name, f.source, f.line is None, f.offset is None) for f in self._stated]
            )
            self._parts.append(_provenance_text(said))
        else:
            self._parts.append(_part_text(document, value))
        return _PART

    def filled(self, result: Result, head: str) -> str:
        """The whole line, which begins with `head`."""
        kernel = result.kernel
        begins, size = kernel.begins, kernel.code_bytes
        pieces = self._pieces.copy()
        pieces[::2] = (
            head,
            _string(kernel.symbol),
            _string(kernel.name),
            "null" if size is None else str(size),
            *[str(begins[source] + place) for source, place in self._places],
            _encode([flat(finding) for finding in result.findings]) if result.findings else "[]",
        )
        return "".join(pieces)


# Typed: a tuple of other fields may have equal values.
@lru_cache(maxsize=1 << 12, typed=True)
def _part_text(document: Callable[[Any], Any], value: Any) -> str:
    return _encode(document(value))


@lru_cache(maxsize=1 << 8)
def _provenance_text(said: tuple[tuple[FactName, Source, bool, bool], ...]) -> str:
    """Of facts without their places: name, source, whether they have no line and no offset."""
    return _encode(
        {
            PROVENANCE[name]: place(source, None if no_line else _OWN, None if no_offset else _OWN)
            for name, source, no_line, no_offset in said
        }
    )
