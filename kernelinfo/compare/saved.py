"""Reports saved before, as JSON or JSON lines -> the builds that they are of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from kernelinfo.analysis import PathCounts
from kernelinfo.analysis.options import Options, is_asked_for
from kernelinfo.compare.footprint import Build, Footprint, common_root, place_under, target_id
from kernelinfo.errors import ReadError
from kernelinfo.occupancy.limits import RESOURCES, Resource
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.facts import Features, SourceLine
from kernelinfo.reading.stamps import compilers

_SCHEMA, _VERSION = "kernelinfo", "1"

Tell = Callable[[Problem], None]


def accepts(blob: Blob) -> bool:
    """Whether the data begin as JSON does, which no code does."""
    return bytes(blob.data[:64]).lstrip().startswith(b"{")


def read_saved(blob: Blob, options: Options, tell: Tell) -> Build:
    """The build of a saved report, of the kernels that `options` ask for.

    What the report could not read, and where it was made for another launch than `options` say,
    is reported as a problem; so is a report without kernels. Raises `ReadError`.
    """
    counts, footprints = PathCounts(blob.path), []
    built_by: set[str] = set()
    try:
        kernels = list(_kernels(blob, tell))
        root = common_root({_text(entry, "path") for entry, _ in kernels})
        made_otherwise = None
        for entry, kernel in kernels:
            one = _footprint(entry, kernel, root)
            if not is_asked_for(one.name, one.symbol, options):
                counts.passed_over += 1
                continue
            footprints.append(one)
            made_otherwise = made_otherwise or _contradiction(kernel, options)
            built_by.update(_compilers(entry))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error)
        raise ReadError(f"{blob.path}: {_NOT_OURS}: {what}; {_SAVE}") from None
    if made_otherwise:
        tell(Problem(blob.path, made_otherwise))
    counts.found = len(footprints)
    if problem := counts.no_kernel_problem():
        tell(problem)
    return Build(tuple(footprints), tuple(sorted(built_by)))


_NOT_OURS = "is JSON, but no report of kernelinfo"
_SAVE = "save one by `kernelinfo report --format json -o FILE`"


def _kernels(blob: Blob, tell: Tell) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each kernel with the input that it comes from, as the document has them."""
    data = bytes(blob.data)
    first = _parsed(data.partition(b"\n")[0])
    if isinstance(first, dict) and "input" in first:
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                kernel = _parsed(line)
                if not isinstance(kernel, dict):
                    raise ValueError(f"line {number} is no JSON object")
                yield kernel["input"], kernel
        return
    document = first if isinstance(first, dict) else _parsed(data)
    if not isinstance(document, dict):
        raise ValueError("it is cut off or damaged")
    schema, _, version = _text(document, "schema").partition("/")
    if schema != _SCHEMA:
        raise ValueError(f"its schema is {document['schema']!r}")
    if version != _VERSION:
        made = document.get("version", "?")
        made_by = f"is {schema}/{version}, made by kernelinfo {made}"
        raise ReadError(f"{blob.path}: {made_by}; this one reads {_SCHEMA}/{_VERSION}")
    for problem in document["problems"]:
        path, message = _text(problem, "path"), _text(problem, "message")
        tell(Problem(path, message, _value(str, problem, "member"), _count(problem, "offset")))
    for kernel in document["kernels"]:
        yield document["inputs"][_count(kernel, "input")], kernel


def _parsed(text: bytes) -> object:
    """None where it is no JSON."""
    try:
        return cast(object, json.loads(text, parse_constant=_refused))
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _footprint(entry: Mapping[str, Any], kernel: Mapping[str, Any], root: str) -> Footprint:
    """As `footprint.footprint` makes it of the kernel itself."""
    features = Features(
        xnack=_value(str, entry, "features", "xnack"),
        sramecc=_value(str, entry, "features", "sramecc"),
    )
    place = place_under(root, _text(entry, "path"), _value(str, entry, "member"))
    lds_bytes = _count(kernel, "used", "lds_bytes")
    if lds_bytes is not None:
        lds_bytes += _count(kernel, "used", "dynamic_lds_bytes") or 0
    scratch_bytes = _count(kernel, "used", "scratch_bytes_per_lane")
    source = None
    if kernel["source"] is not None:
        line = _count(kernel, "source", "line")
        source = SourceLine(_text(kernel, "source", "file"), line or 0)
    return Footprint(
        target=target_id(_value(str, entry, "target"), features),
        name=_text(kernel, "name"),
        symbol=_text(kernel, "symbol"),
        code_object=place,
        workgroup_size=_count(kernel, "workgroup", "assumed"),
        waves_per_simd=_value(float, kernel, "occupancy", "waves_per_simd"),
        percent=_value(float, kernel, "occupancy", "percent"),
        limiters=_limiters(kernel),
        vgprs=_count(kernel, "used", "vgprs"),
        reserved_vgprs=_count(kernel, "allocated", "vgprs"),
        agprs=_count(kernel, "used", "agprs"),
        sgprs=_count(kernel, "used", "sgprs"),
        lds_bytes=lds_bytes,
        scratch_bytes_per_lane=(
            None if _value(bool, kernel, "flags", "dynamic_stack") else scratch_bytes
        ),
        vgpr_spills=_count(kernel, "spills", "vgprs"),
        sgpr_spills=_count(kernel, "spills", "sgprs"),
        code_bytes=_count(kernel, "code_bytes"),
        source=source,
        reserved_sgprs=_count(kernel, "allocated", "sgprs"),
        wave_size=_count(kernel, "wave_size"),
        exact=_value(bool, kernel, "occupancy", "exact"),
    )


def _compilers(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Reports of 0.1.0 have one stamp of each input."""
    if "stamps" not in entry:
        stamp = _value(str, entry, "compiler")
        return (stamp,) if stamp else ()
    stamps = _value(list, entry, "stamps") or ()
    if not all(type(stamp) is str for stamp in stamps):
        raise ValueError(f"stamps is {stamps!r:.40}")
    return compilers(stamps)


def _limiters(kernel: Mapping[str, Any]) -> tuple[Resource, ...]:
    found = _value(list, kernel, "occupancy", "limiters") or ()
    for limiter in found:
        if limiter not in tuple(RESOURCES):  # it may be unhashable
            raise ValueError(f"occupancy.limiters has {limiter!r}")
    return tuple(found)


def _contradiction(kernel: Mapping[str, Any], options: Options) -> str | None:
    """Where the report was made for another launch than is asked for now."""
    size, lds_bytes = options.workgroup_size, options.dynamic_lds_bytes
    trap_sgprs = None if options.trap_handler else 0
    asked = (
        (size, _count(kernel, "workgroup", "assumed"), "workgroups of {}"),
        (lds_bytes, _count(kernel, "used", "dynamic_lds_bytes"), "{} B of dynamic LDS"),
        (options.run_as, _value(str, kernel, "target"), "{}"),
        (trap_sgprs, _count(kernel, "allocated", "trap_sgprs"), "{} SGPRs of a trap handler"),
    )
    for now, then, words in asked:
        if now is not None and then not in (None, now):
            made, wanted = words.format(then), words.format(now)
            return f"was saved for {made}, not {wanted}; save it again with these options"
    return None


def _value(kind: type, of: Any, *keys: str) -> Any:
    """What stands under the keys; None where the report has null on the way."""
    for key in keys:
        if of is None:
            return None
        of = of[key]
    if of is None or type(of) is kind or (kind is float and type(of) is int):
        return of
    raise ValueError(f"{'.'.join(keys)} is {of!r:.40}")


def _text(of: Any, *keys: str) -> str:
    found = _value(str, of, *keys)
    if found is None:
        raise ValueError(f"{'.'.join(keys)} is null")
    return cast(str, found)


def _count(of: Any, *keys: str) -> int | None:
    found: int | None = _value(int, of, *keys)
    if found is not None and found < 0:
        raise ValueError(f"{'.'.join(keys)} is {found}")
    return found
