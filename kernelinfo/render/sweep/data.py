"""A sweep for programs: JSON, of which sweep-schema.json describes every key, and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.kernel.record import NAMES, record
from kernelinfo.render import View
from kernelinfo.render.json import kernel_document, picked
from kernelinfo.render.json_text import encoded
from kernelinfo.render.names import name_of
from kernelinfo.render.tables import WRITERS, Table
from kernelinfo.variants.nouns import Sweep, SweptKernel, Variant

SCHEMA = "kernelinfo/sweep/2"


def render_json(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    inputs = (_input(sweep) for sweep in sweeps)
    yield from encoded({"schema": SCHEMA, "version": __version__, "inputs": inputs})


def _input(sweep: Sweep) -> dict[str, Any]:
    return {
        "input": sweep.file.path,
        "command": sweep.file.compiled and sweep.file.compiled.command,
        "target": sweep.target_id,
        "made_by": sweep.file.producer,
        "compiler": {"path": sweep.compiler.path, "version": sweep.compiler.version},
        "level": f"-O{sweep.level}",
        "level_from": sweep.level_from,
        "driver": sweep.driver,
        "notes": sweep.notes,
        "kernels": [
            {
                **picked(kernel, "symbol", "name", "notes"),
                "variants": [_variant(variant) for variant in kernel.variants],
                "lines": [line._asdict() for line in kernel.lines],
            }
            for kernel in sweep.kernels
        ],
    }


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "asked": variant.asked._asdict(),
        "ignored": variant.is_ignored,
        "kernel": variant.result and kernel_document(variant.result),
        "error": variant.error,
        "code": variant.error and variant.error.code,
    }


_ASKED = (
    *("Asked_Waves", "Asked_Or_More", "Asked_Launch_Bounds", "Asked_Strategy"),
    *("Ignored", "Error"),
)


def render_csv(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
    """The heading, then the variants of each kernel, as compiled first."""
    rows = (
        (*variant.asked, variant.is_ignored, variant.error, *_report(kernel, variant, view))
        for sweep in sweeps
        for kernel in sweep.kernels
        for variant in kernel.variants
    )
    return WRITERS["csv"](Table((*_ASKED, *NAMES), rows), view)


def _report(kernel: SweptKernel, variant: Variant, view: View) -> tuple[object, ...]:
    """The kernel's columns. A variant that failed has only the names."""
    names = (name_of(kernel, view.names), kernel.symbol)
    if variant.result:
        return names + tuple(record(variant.result).values())[len(names) :]
    return names + (None,) * (len(NAMES) - len(names))
