"""Code objects inside containers, with names for the files to write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from kernelinfo.analysis.inputs import PathCounts, conclusions, modules, run
from kernelinfo.analysis.options import Options
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
    """Code objects of all paths for the targets of `options`, in the order of reading.

    Assembly is skipped. A path without code objects is a problem. A path without the targets is a
    problem only if no other path has them. If only some targets are found, each other one is a
    note.
    """
    counts = [PathCounts(path) for path in paths]
    number = count(1)

    def read(blob: Blob, counts: PathCounts) -> Iterator[Extract | Problem]:
        for module in modules(blob):
            if isinstance(module, Problem):
                yield module
            elif module.kind != "code-object":
                continue
            elif options.targets and module.target not in options.targets:
                counts.of_other_targets += 1
            else:
                counts.found += 1
                counts.met |= {("--target", module.target or "")}
                name = _name(blob.path, next(number), module.target, module.features)
                yield Extract(name, blob, module.target, len(module.kernels))

    yield from run(counts, read, options)
    yield from conclusions(counts, options, "code object")


def _name(path: str, number: int, target: str | None, features: Features) -> str:
    """File name of a code object: `librocrand.so.1.1-003-gfx90a-xnack+.co`."""
    stem = _UNSAFE.sub("_", os.path.basename(path))[:_LONGEST_STEM].lstrip(".-") or "stdin"
    what = _UNSAFE.sub("_", target_id(target, features).replace(":", "-"))
    return f"{stem}-{number:03}-{what}.co"
