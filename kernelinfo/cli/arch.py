"""`kernelinfo arch [GFX]`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from typing import Annotated

import typer

from kernelinfo import targets
from kernelinfo.cli import completion, options
from kernelinfo.cli.output import make_view, write
from kernelinfo.render.paint import left, paint
from kernelinfo.render.records import render_records, render_table
from kernelinfo.render.words import size
from kernelinfo.targets import Target

EXAMPLES = """\
Examples:
  kernelinfo arch                                 # all targets
  kernelinfo arch gfx942
  kernelinfo arch gfx1100 --format json
"""


def command(
    gfx: Annotated[
        str | None, typer.Argument(metavar="GFX", autocompletion=completion.gfx, help="One target.")
    ] = None,
    format: options.FormatOfRecords = "text",
    output: options.Output = None,
    color: options.Color = "auto",
) -> None:
    """The hardware constants of a target, with sources.

    Without a target, all that are known in a line each.
    """
    view = make_view(color=color, output=output)
    names = targets.known() if gfx is None else (gfx,)
    found = [targets.find(name) for name in names]
    if format != "text":
        write(render_records([asdict(target) for target in found], format), output)
    elif gfx is None:
        write(_list(found), output)
    else:
        write(_constants(found[0], view.color), output)


def _list(found: list[Target]) -> Iterator[str]:
    rows = [
        (
            target.name,
            target.family,
            "/".join(str(file.wave_size) for file in target.vgprs),
            str(target.waves.slots_per_simd),
            "/".join(str(file.per_simd) for file in target.vgprs),
            size(target.domains[0].lds_bytes) + f"/{target.domains[0].per}",
            target.products,
        )
        for target in found
    ]
    heading = ("target", "family", "wave", "slots/SIMD", "VGPRs", "LDS", "products")
    yield from render_table(heading, rows)


def _constants(target: Target, color: bool) -> Iterator[str]:
    yield paint([(f"{target.name} ({target.family})", "bold")], color) + f"   {target.products}\n"
    for field in fields(target):
        value = getattr(target, field.name)
        topics = value if isinstance(value, tuple) else (value,)
        if topics and all(is_dataclass(topic) for topic in topics):
            for topic in topics:
                yield from _topic(field.name, topic, color)
        elif field.name not in ("name", "family", "products") and value not in ("", (), None):
            text = f"0x{value:02x}" if field.name == "elf_mach" else str(value)
            yield f" {left(field.name, 12)} {text}\n"


def _topic(name: str, topic: object, color: bool) -> Iterator[str]:
    yield "\n" + paint([(f" {name}", "bold")], color) + "\n"
    for field in fields(topic):  # type: ignore[arg-type]
        yield f"   {left(field.name, 26)} {getattr(topic, field.name)}\n"
