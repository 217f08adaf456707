"""One JSON object a line and kernel, its input inlined; each is written as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from kernelinfo.kernel import Item, Result
from kernelinfo.render import View
from kernelinfo.render.json import code_object_document, kernel_document


def render(items: Iterable[Item], view: View) -> Iterator[str]:
    for item in items:
        if isinstance(item, Result):
            line = {"input": code_object_document(item.kernel.code_object), **kernel_document(item)}
            yield json.dumps(line, separators=(",", ":")) + "\n"
