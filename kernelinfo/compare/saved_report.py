"""JSON documents, or JSON lines of 0.1.0 -> their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kernelinfo.compare.messages import say
from kernelinfo.compare.saved_kernel import (
    SavedKernel,
    count,
    limiters,
    numbers,
    options,
    text,
    value,
)
from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.errors import Message, ReadError
from kernelinfo.kernel.record import NUMBERS
from kernelinfo.reading.blob import Problem
from kernelinfo.reading.facts import Features, SourceLine
from kernelinfo.reading.messages import in_file
from kernelinfo.reading.target_id import compilers, target_id

_SCHEMA, _VERSION = "kernelinfo/report", "1"
_OLDER_SCHEMA = "kernelinfo"
"""The name in reports of 0.2.0."""
_DOCUMENT = tuple((number, number.document) for number in NUMBERS if number.document)

SavedEntry = Mapping[str, Any]


def read_lines(lines: Iterator[SavedEntry]) -> Iterator[SavedKernel]:
    """The kernels of 0.1.0's JSON lines. Each line contains its input."""
    return (_kernel(line["input"], line) for line in lines)


def read_document(
    document: SavedEntry, path: str, tell: Callable[[Problem], None]
) -> Iterator[SavedKernel]:
    """Kernels of a document; its problems go to `tell`. Raises `ReadError` for another version."""
    schema, _, version = text(document, "schema").rpartition("/")
    if schema not in (_SCHEMA, _OLDER_SCHEMA):
        raise ValueError(say("saved-schema", schema=document["schema"]))
    if version != _VERSION:
        made, stated = document.get("version", "?"), f"{schema}/{version}"
        read = f"{_SCHEMA}/{_VERSION}"
        message = say("saved-version", schema=stated, version=made, read=read)
        raise ReadError(in_file(path, message))
    for problem in document["problems"]:
        code = text(problem, "code") if "code" in problem else ""  # older reports have none
        where, message = text(problem, "path"), Message(text(problem, "message"), code)
        tell(Problem(where, message, value(str, problem, "member"), count(problem, "offset")))
    for kernel in document["kernels"]:
        yield _kernel(document["inputs"][count(kernel, "input")], kernel)


def _kernel(entry: SavedEntry, kernel: SavedEntry) -> SavedKernel:
    return SavedKernel(
        path=text(entry, "path"),
        member=value(str, entry, "member"),
        compilers=_compilers(entry),
        summary=_summary(entry, kernel),
        run_target=value(str, kernel, "target"),
        dynamic_lds_bytes=count(kernel, "used", "dynamic_lds_bytes"),
        trap_sgprs=count(kernel, "allocated", "trap_sgprs"),
    )


def _compilers(entry: SavedEntry) -> tuple[str, ...]:
    """The compilers' stamps of an input. Reports of 0.1.0 have one stamp per input."""
    if "stamps" not in entry:
        stamp = value(str, entry, "compiler")
        return (stamp,) if stamp else ()
    stamps = value(list, entry, "stamps") or ()
    if not all(type(stamp) is str for stamp in stamps):
        raise ValueError(say("saved-value", key="stamps", value=f"{stamps!r:.40}"))
    return compilers(stamps)


def _summary(entry: SavedEntry, kernel: SavedEntry) -> KernelSummary:
    features = Features(
        xnack=value(str, entry, "features", "xnack"),
        sramecc=value(str, entry, "features", "sramecc"),
    )
    found = numbers(kernel, _DOCUMENT)
    if found["lds_bytes"] is not None:
        found["lds_bytes"] += count(kernel, "used", "dynamic_lds_bytes") or 0
    if value(bool, kernel, "flags", "dynamic_stack"):
        found["scratch_bytes_per_lane"] = None
    source = None
    if kernel["source"] is not None:
        line = count(kernel, "source", "line")
        source = SourceLine(text(kernel, "source", "file"), line or 0)
    return KernelSummary(
        target=target_id(value(str, entry, "target"), features),
        name=text(kernel, "name"),
        symbol=text(kernel, "symbol"),
        code_object="",
        numbers=KernelNumbers(
            limiters=limiters(kernel, "occupancy", "limiters"),
            exact=value(bool, kernel, "occupancy", "exact"),
            **found,
        ),
        source=source,
        options=options(value(list, entry, "options") if "options" in entry else None),
    )
