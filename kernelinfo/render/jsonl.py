"""One JSON object a line and kernel, its input inlined; each is written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kernelinfo.kernel import CodeObject, Item, Result
from kernelinfo.render import View
from kernelinfo.render.json import code_object_document, kernel_document

# Documents are trees: looking for cycles would take a third of the time.
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    of: CodeObject | None = None
    for item in items:
        if not isinstance(item, Result):
            continue
        if item.kernel.code_object is not of:
            of = item.kernel.code_object
            document = code_object_document(of)
        yield _encode({"input": document, **kernel_document(item)}) + "\n"
