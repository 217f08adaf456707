"""Tables of hardware: all targets, the constants of one target, its occupancy steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernelinfo.hardware.targets import Target
from kernelinfo.model.calculator import Rung
from kernelinfo.render import View
from kernelinfo.render.curves import render_steps
from kernelinfo.render.paint import (
    Span,
    fitted,
    left,
    number,
    painted,
    percent,
    size,
    size_column,
    table_lines,
)


def render_targets(found: list[Target], view: View) -> Iterator[str]:
    """One line per target."""
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
    yield from painted(table_lines([heading, *rows], "ttttttd", view), view)


def render_constants(target: Target, view: View) -> Iterator[str]:
    """Every constant of a target; each topic names its source."""
    heading: list[Span] = [(f"{target.name} ({target.family})   ", "bold"), (target.products, "")]
    yield from painted(fitted(heading, view, 3), view)
    for name, value in target._asdict().items():
        topics = (value,) if hasattr(value, "_asdict") else value
        if topics and isinstance(topics, tuple) and hasattr(topics[0], "_asdict"):
            for topic in topics:
                yield from painted(_topic(name, topic, view), view)
        elif name not in ("name", "family", "products") and value not in ("", (), None):
            text = f"0x{value:02x}" if name == "elf_mach" else str(value)
            yield from painted(fitted([(f" {left(name, 12)} {text}", "")], view, 14), view)


def _topic(name: str, topic: Any, view: View) -> Iterator[list[Span]]:
    yield from ([], [(f" {name}", "bold")])
    rows = [row for row in topic._asdict().items() if row[0] != "believed"]
    indent = min(30, view.width * 3 // 8)
    for belief in getattr(topic, "believed", ()):
        until = f" before {belief.before}" if belief.before else ""
        value = f"{belief.field} is {belief.value} ({belief.source})"
        rows.append((f"in {belief.by}{until}", value))
    for field, value in rows:
        yield from fitted([(f"   {left(field, 26)} {value}", "")], view, indent)


def render_limits(rungs: tuple[Rung, ...], title: str, view: View) -> Iterator[str]:
    """A table of the most registers and LDS of each step, and a plot of waves against VGPRs."""
    yield from painted([[(title, "bold")], []], view)
    rows = [
        (
            number(rung.waves_per_simd),
            percent(rung.percent),
            str(rung.vgprs),
            "any" if rung.sgprs is None else str(rung.sgprs),
            lds,
        )
        for rung, lds in zip(rungs, size_column([rung.lds_bytes for rung in rungs]), strict=True)
    ]
    heading = ("waves/SIMD", "occ", "VGPRs", "SGPRs", "LDS/workgroup")
    yield from painted(table_lines([heading, *rows], "", view), view)
    steps = {rung.vgprs: rung.waves_per_simd for rung in reversed(rungs)}
    yield from render_steps([*steps.items()], "vgpr", view)
