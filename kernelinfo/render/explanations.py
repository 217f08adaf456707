"""Explanations of kernels, each with the live registers and loops of its code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from itertools import chain, groupby, islice
from typing import Any

from kernelinfo.analysis.options import Options
from kernelinfo.config.file import ConfigFile, KeyPath
from kernelinfo.config.keys import KEYS, Key, KeyTable
from kernelinfo.hardware.targets import Device
from kernelinfo.kernel import Result
from kernelinfo.pressure.measure import Look, Measured, measure_again
from kernelinfo.reading.blob import Problem
from kernelinfo.render import View
from kernelinfo.render.explain import KnownTexts, render_kernel
from kernelinfo.render.names import member_path, printable
from kernelinfo.render.notes import Notes
from kernelinfo.render.pressure import words
from kernelinfo.render.pressure.text import loops_table
from kernelinfo.render.pressure.words import in_short, shared
from kernelinfo.render.sweep.words import invitation


def explanations(
    results: Iterator[Result],
    view: View,
    device: Device | None,
    grid: int | None,
    ir: str | None,
    options: Options,
    tell: Callable[[Problem], object],
) -> Iterator[str]:
    """The explanation of each kernel. `ir` is the path of the LLVM IR next to the assembly; `tell`
    gets problems of measuring."""
    first = [*islice(results, 2)]
    is_alone = len(first) == 1
    known: KnownTexts = {}
    measured = _with_code(chain(first, results), options, is_alone, view.top or None, tell)
    for index, (result, one) in enumerate(measured):
        yield "\n" if index else ""
        further = [("ask", invitation(ir, result.kernel))] if ir is not None else []
        notes = [*_origin(result, is_alone), *_of_code(result, one)]
        if one:  # with the findings on its code
            result = result._replace(findings=one.result.findings)
        yield from render_kernel(result, view, device, grid, notes, further, known)
        if one:
            yield "\n"
            yield from loops_table(one.story, view)


def _origin(result: Result, is_alone: bool) -> Notes:
    """Triton's options, and the file or member if other kernels are explained, too."""
    code_object = result.kernel.code_object
    options = " ".join(f"{name}={value}" for name, value in code_object.options)
    where = "" if is_alone else member_path(code_object.path, code_object.member)
    return [
        (label, text) for label, text in (("in", where), ("options", printable(options))) if text
    ]


def _with_code(
    results: Iterator[Result],
    wanted: Options,
    is_alone: bool,
    most_loops: int | None,
    tell: Callable[[Problem], object],
) -> Iterator[tuple[Result, Measured | None]]:
    """Each kernel with its code. None for a code object, unless it is alone and llvm-objdump is
    installed. A file is opened again once."""
    for origin, group in groupby(results, lambda result: result.kernel.code_object):
        kernels = [*group]
        if origin.kind == "code-object" and not is_alone:
            yield from ((one, None) for one in kernels)
            continue
        look = Look(lds=True, most_loops=most_loops)
        measured = measure_again(kernels, look, wanted, tell=tell)
        yield from zip(kernels, measured, strict=True)


def _of_code(result: Result, measured: Measured | None) -> Notes:
    """Live registers if vector registers limit, and LDS. In a code object, which states its LDS,
    only LDS that the host must add at launch."""
    if measured is None:
        return []
    unset = words.unwritten(measured.result)
    unwritten = [("unset", unset)] if unset else []
    if result.kernel.code_object.kind == "code-object":
        lds = measured.lds if _may_launch_lds(result) else None
        return [*unwritten, *([("LDS", shared(lds))] if lds else [])]
    limiters = result.occupancy.limiters if result.occupancy else ()
    registers = in_short(measured.story) if "vgpr" in limiters else []
    return [*registers, *unwritten, *([("LDS", shared(measured.lds))] if measured.lds else [])]


def _may_launch_lds(result: Result) -> bool:
    """True for a kernel that reserves no LDS and whose launch states none."""
    traits, occupancy = result.kernel.traits, result.occupancy
    launched = occupancy.launch.dynamic_lds_bytes if occupancy else 0
    return traits.numbers.lds_bytes == 0 and not (traits.numbers.dynamic_lds or launched)


# The effective configuration as TOML; each key names its origin.

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a key that needs no quotes


def render_config(file: ConfigFile | None, options: Mapping[str, Any]) -> Iterator[str]:
    """Lines with every key. `options` holds the keys that the command line overrides."""
    yield f"# {file.path if file else 'no file: what holds by default'}\n"
    stated = file.table if file else {}
    for key in sorted(KEYS, key=lambda key: isinstance(key.kind, KeyTable)):
        if not isinstance(key.kind, KeyTable):
            yield from _line(key, stated, (), file, options)
            continue
        inside = stated.get(key.name, [] if key.kind.array else {})
        for index, table in enumerate(inside if key.kind.array else [inside]):
            path: KeyPath = (key.name, index) if key.kind.array else (key.name,)
            yield f"\n[[{key.name}]]\n" if key.kind.array else f"\n[{key.name}]\n"
            for inner in key.kind.keys:
                yield from _line(inner, table, path, file, options)


def _line(
    key: Key,
    stated: Mapping[str, Any],
    path: KeyPath,
    file: ConfigFile | None,
    options: Mapping[str, Any],
) -> Iterator[str]:
    if key.name in options:
        value, origin = options[key.name], "command line"
    elif (name := key.stated_name(stated)) is not None:
        line = file.line((*path, name)) if file else None
        value, origin = stated[name], f"line {line}" if line else "file"
    elif key.default is not None:
        value, origin = key.default, "default"
    else:
        return
    yield f"{key.name} = {_toml(value)}  # {origin}\n"


def _toml(value: Any) -> str:
    """A value as TOML. Strings and numbers are spelled as in JSON."""
    if isinstance(value, dict):
        keys = {key: key if _BARE.fullmatch(key) else _toml(key) for key in value}
        inside = ", ".join(f"{keys[key]} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
