"""A sweep as one JSON document. sweep-schema.json in this folder describes every key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelinfo import __version__
from kernelinfo.render import View
from kernelinfo.render.json import kernel_document, picked
from kernelinfo.render.json_text import encoded
from kernelinfo.variants.nouns import Sweep, Variant

SCHEMA = "kernelinfo/sweep/2"


def render(sweeps: Iterable[Sweep], view: View) -> Iterator[str]:
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
