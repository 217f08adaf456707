"""`kernelinfo arch [GFX]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from kernelinfo.cli import completion, options
from kernelinfo.cli.output import make_view, write
from kernelinfo.occupancy import targets
from kernelinfo.occupancy.targets import Target
from kernelinfo.render.paint import left, paint
from kernelinfo.render.records import render_records, render_table
from kernelinfo.render.words import size

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
    """Show the hardware constants of a target, with sources.

    Without a target, all that are known in a line each.
    """
    view = make_view(color=color, output=output)
    names = targets.known() if gfx is None else (gfx,)
    found = [targets.find(name) for name in names]
    if format != "text":
        write(render_records([_record(target) for target in found], format), output)
    elif gfx is None:
        write(_list(found), output)
    else:
        write(_constants(found[0], view.color), output)


def _record(value: Any) -> Any:
    """A target or a topic under the names of its fields; all else as it is."""
    if hasattr(value, "_asdict"):
        return {name: _record(field) for name, field in value._asdict().items()}
    return tuple(map(_record, value)) if isinstance(value, tuple) else value


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
    for name, value in target._asdict().items():
        topics = (value,) if hasattr(value, "_asdict") else value
        if topics and isinstance(topics, tuple) and hasattr(topics[0], "_asdict"):
            for topic in topics:
                yield from _topic(name, topic, color)
        elif name not in ("name", "family", "products") and value not in ("", (), None):
            text = f"0x{value:02x}" if name == "elf_mach" else str(value)
            yield f" {left(name, 12)} {text}\n"


def _topic(name: str, topic: Any, color: bool) -> Iterator[str]:
    yield "\n" + paint([(f" {name}", "bold")], color) + "\n"
    for field, value in topic._asdict().items():
        if field != "believed":
            yield f"   {left(field, 26)} {value}\n"
    for belief in getattr(topic, "believed", ()):
        until = f" before {belief.before}" if belief.before else ""
        text = f"{belief.field} is {belief.value} ({belief.source})"
        yield f"   {left(f'in {belief.by}{until}', 26)} {text}\n"
