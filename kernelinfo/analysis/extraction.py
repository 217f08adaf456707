"""Code objects inside containers, with names for the files to write."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from kernelinfo import reading
from kernelinfo.errors import ReadError
from kernelinfo.reading import containers
from kernelinfo.reading.blob import Blob, Elsewhere, Missing, Note, Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.containers.parts import problem
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


def extract(
    paths: Iterable[str], targets: Collection[str] = (), within: Bounds = BY_DEFAULT
) -> Iterator[Extract | Problem | Note]:
    """Code objects of all paths for `targets`, in the order of reading; empty `targets` mean all.

    Assembly is skipped. A path without code objects is a problem. A path without the targets is a
    problem only if no other path has them. If only some targets are found, each other one is a
    note.
    """
    number, paths, extracted = count(1), tuple(paths), False
    met: set[str | None] = set()
    unchosen: list[Problem] = []
    for path in paths:
        found = problems = others = 0
        missing: list[Missing] = []
        for blob in containers.open_paths([path], among=paths, within=within):
            if isinstance(blob, Problem):
                problems += 1
                yield blob
                continue
            if not isinstance(blob, Blob):
                found += isinstance(blob, Elsewhere)
                missing += [blob] if isinstance(blob, Missing) else []
                continue
            try:
                modules = list(reading.read(blob))
            except ReadError as error:
                problems += 1
                yield problem(blob, str(error))
                continue
            for module in modules:
                if module.kind != "code-object":
                    continue
                if targets and module.target not in targets:
                    others += 1
                else:
                    found += 1
                    met.add(module.target)
                    name = _name(blob.path, next(number), module.target, module.features)
                    yield Extract(name, blob, module.target, len(module.kernels))
        extracted = extracted or found > 0
        if missing:
            problems += 1
            yield Missing.problem(missing)
        if others and not found:
            message = f"no code object for {' or '.join(targets)} ({others} for other targets)"
            unchosen.append(Problem(path, message))
        elif not found and not problems:
            yield Problem(path, "no code object found; there is nothing to extract")
    if not extracted:
        yield from unchosen
        return
    where = paths[0] if len(paths) == 1 else f"{len(paths)} paths"
    for target in targets:
        if target not in met:
            yield Note(where, f"--target {target} matches no code object")


def _name(path: str, number: int, target: str | None, features: Features) -> str:
    """File name of a code object: `librocrand.so.1.1-003-gfx90a-xnack+.co`."""
    stem = _UNSAFE.sub("_", os.path.basename(path))[:_LONGEST_STEM].lstrip(".-") or "stdin"
    what = _UNSAFE.sub("_", target_id(target, features).replace(":", "-"))
    return f"{stem}-{number:03}-{what}.co"
