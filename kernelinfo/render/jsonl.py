"""One JSON object a line and kernel, its input inlined; each is written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kernelinfo.kernel import CodeObject, Item, Result
from kernelinfo.render import View
from kernelinfo.render.json import code_object_document, flat, kernel_document, stated_facts

# Documents are trees: looking for cycles would take a third of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_string = json.encoder.encode_basestring_ascii
_OWN = "\0"
"""Stands in a form for what each kernel has of its own; nothing else in a document is just this."""
_MOST_FORMS = 1 << 12


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    of: CodeObject | None = None
    forms: dict[object, _Form] = {}
    for item in items:
        if not isinstance(item, Result):
            continue
        if item.kernel.code_object is not of:
            of = item.kernel.code_object
            head = _encode({"input": code_object_document(of)})[:-1] + ","
        if item.kernel.alike is None or item.occupancy is None:
            yield head + _encode(kernel_document(item))[1:] + "\n"
            continue
        form = forms.get(item.kernel.alike)
        if form is None or form.occupancy is not item.occupancy:
            if len(forms) >= _MOST_FORMS:
                forms.clear()
            form = forms[item.kernel.alike] = _Form(item)
        yield head + form.filled(item)


class _Form:
    """The text of kernels that are alike, but for what each has of its own.

    Most kernels of a library are like one before, and to encode one takes ten times as long.
    """

    def __init__(self, first: Result) -> None:
        self.occupancy = first.occupancy
        self._stated = tuple(stated_facts(first.kernel))
        own = dict.fromkeys(("symbol", "name", "code_bytes", "findings"), _OWN)
        document = kernel_document(first) | own
        for place in document["provenance"].values():
            place["offset"] = _OWN
        text = _encode(document)[1:].replace("%", "%%")
        self._text = text.replace(_encode(_OWN), "%s") + "\n"

    def filled(self, result: Result) -> str:
        """From after the opening brace to the end of the line."""
        kernel = result.kernel
        numbers = [kernel.code_bytes, *map(kernel.offset, self._stated)]
        return self._text % (
            _string(kernel.symbol),
            _string(kernel.name),
            *["null" if number is None else number for number in numbers],
            _encode([flat(finding) for finding in result.findings]) if result.findings else "[]",
        )
