"""Code objects inside containers, with names for the files to write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, RunEvent, conclusions, modules, run
from kernelinfo.analysis.options import Options
from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import member_file
from kernelinfo.reading.blob import Blob, Note, Problem
from kernelinfo.reading.facts import Features
from kernelinfo.reading.target_id import target_id

_LONGEST_STEM = 80
_UNSAFE = re.compile(r"[^\w.+-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Extract:
    """One code object to write."""

    name: str
    """Unique file name without a folder, of letters, digits and `._+-`."""
    blob: Blob
    target: str | None
    kernels: int


def extract(paths: Iterable[str], options: Options) -> Iterator[Extract | Problem | Note]:
    """Code objects of all paths that `options` choose, in the order of reading: by target, by
    member, or because they have a chosen kernel.

    Assembly is skipped. A path without code objects is a problem. A path without chosen ones is a
    problem only if no other path has them. If only some targets are found, each other one is a
    note.
    """
    events = [(path, Events()) for path in paths]
    number = count(1)
    analysis = Analysis(options)
    chooses_kernels = bool(options.kernels or options.exclude or options.where is not None)

    def read(blob: Blob) -> Iterator[Extract | Problem | Note | RunEvent]:
        for module in modules(blob, Options()):
            if isinstance(module, Problem):
                yield module
            elif module.kind != "code-object":
                continue
            elif not options.asks_for_target(named := target_id(module.target, module.features)):
                yield RunEvent("other-target", named)
            elif not options.asks_for_member(blob.member):
                yield RunEvent("other-member")
            else:
                items = list(analysis.results(blob)) if chooses_kernels else []
                for item in items:
                    if isinstance(item, RunEvent) and item.kind in ("unchosen", "met"):
                        yield item._replace(number=0)  # code objects are counted, not kernels
                if chooses_kernels and not any(isinstance(item, Result) for item in items):
                    yield RunEvent("unchosen")
                    continue
                yield RunEvent("chosen", os.path.dirname(blob.path))
                for pair in options.met("", "", named, blob.member):
                    yield RunEvent("met", pair)
                name = _name(blob, next(number), module.target, module.features)
                yield Extract(name, blob, module.target, len(module.kernels))

    yield from run(events, read, options)
    yield from conclusions(events, options, "code object")


def _name(blob: Blob, number: int, target: str | None, features: Features) -> str:
    """File name of a code object, from the member that it is in, or the file:
    `librocrand.so.1.1-003-gfx90a-xnack+.co`."""
    stem = os.path.basename(member_file(blob.member) or blob.path)
    stem = _UNSAFE.sub("_", stem)[:_LONGEST_STEM].lstrip(".-") or "stdin"
    what = _UNSAFE.sub("_", target_id(target, features).replace(":", "-"))
    return f"{stem}-{number:03}-{what}.co"
