"""One translation unit of random kernels, compiled, read in both forms, and compared."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from subprocess import CalledProcessError
from typing import Any

from kernelinfo import Kernel, Options, Result, analyse
from kernelinfo.kernel.compiler_number import agrees, why
from kernelinfo.occupancy.compilers import Attributes, Printed, printed
from kernelinfo.occupancy.placement import Demand

from .clang import Setting, build, settings
from .shapes import Shape, random_shape

_BLOCK = re.compile(r"Begin function (\w+)\n.*?; Kernel info:\n(.*?)\n[^;]", re.DOTALL)
_FIELD = re.compile(r"; (\w+) ?: (\d+)")


@dataclass(slots=True)
class Tally:
    """What came of the kernels of one compiler."""

    kernels: int = 0
    targets: set[str] = field(default_factory=set)
    same_facts: int = 0
    """Kernels whose text, object, comment and source say the same."""
    same_formula: int = 0
    """Kernels whose five numbers are those of LLVM's formulas."""
    raised: int = 0
    """Kernels whose VGPRs the compiler raised to a bound on waves."""
    agree: int = 0
    """Kernels whose printed occupancy is the hardware's."""
    causes: Counter[str] = field(default_factory=Counter)
    """A kernel counts with each of its causes."""
    unexplained: int = 0
    faults: list[str] = field(default_factory=list)
    """What was demanded and is not so."""


def run(version: int, kernels: int, random: Random) -> Tally:
    """So many random kernels with one compiler, in all its settings, or in as many as there are."""
    tally, every = Tally(), settings(version)
    least = 6  # a compilation costs more than its kernels
    chosen = random.sample(every, max(1, min(len(every), kernels // least)))
    for index, setting in enumerate(chosen):
        count = kernels * (index + 1) // len(chosen) - kernels * index // len(chosen)
        shapes = {
            f"k{number}": random_shape(random, setting.target, setting.wave_size)
            for number in range(count)
        }
        where = f"clang {version} {' '.join(setting.flags)}"
        try:
            _unit(version, setting, shapes, tally, where)
        except CalledProcessError as error:
            tally.faults.append(f"{where}: {error.stderr.splitlines()[0]}")
    return tally


def _unit(
    version: int, setting: Setting, shapes: dict[str, Shape], tally: Tally, where: str
) -> None:
    source = "".join(shape.source(name) for name, shape in shapes.items())
    with tempfile.TemporaryDirectory() as folder:
        text, linked = build(version, setting, source, Path(folder))
        blocks = {
            name: {key: int(value) for key, value in _FIELD.findall(block)}
            for name, block in _BLOCK.findall(text.read_text("utf-8"))
        }
        of_text, of_object = _kernels(text), _kernels(linked)
    tally.targets.add(setting.target.name)
    for name, shape in shapes.items():
        tally.kernels += 1
        stated = f"{where} {shape}"
        kernel, block = of_text.get(name), blocks.get(name)
        if kernel is None or block is None or name not in of_object:
            tally.faults.append(f"{stated}: is not read")
            continue
        facts = [
            *_differences("the object", _facts(kernel), _facts(of_object[name])),
            *_differences("the source", *_as_asked(kernel, shape, setting)),
            *_differences("the comment", *_as_printed(kernel, block)),
        ]
        formula = [*_differences("the formula", *_by_formula(version, setting, shape, block))]
        tally.same_facts += not facts
        tally.same_formula += not formula
        tally.faults += [f"{stated}: {fault}" for fault in facts + formula]
        tally.raised += block["NumVGPRsForWavesPerEU"] > max(1, _total_vgprs(block))
        _judge(kernel, tally, stated)


def _kernels(path: Path) -> dict[str, Kernel]:
    items = analyse([str(path)], Options())
    return {item.kernel.symbol: item.kernel for item in items if isinstance(item, Result)}


def _differences(other: str, here: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    for name, value in here.items():
        if value != there[name]:
            yield f"{name} is {value}, by {other} {there[name]}"


def _facts(kernel: Kernel) -> dict[str, Any]:
    """What the text and the object of one compilation both say."""
    return {
        "used": kernel.used,
        "encoded": kernel.traits.encoded,
        "demand": kernel.traits.demand,
        "workgroup": kernel.workgroup,
        "wave size": kernel.wave_size,
        "WGP mode": kernel.traits.wgp_mode,
        "spills": kernel.spills,
        "dynamic stack": kernel.flags.dynamic_stack,
        "percent": kernel.occupancy().percent,
        "limiters": kernel.occupancy().limiters,
    }


def _as_asked(
    kernel: Kernel, shape: Shape, setting: Setting
) -> tuple[dict[str, Any], dict[str, Any]]:
    read = {
        "LDS": kernel.used.lds_bytes,
        "largest workgroup": kernel.workgroup.declared_max,
        "wave size": kernel.wave_size,
        "WGP mode": kernel.traits.wgp_mode if setting.wgp_mode is not None else None,
    }
    asked = {
        "LDS": shape.lds_bytes,
        "largest workgroup": shape.sizes[1] if shape.sizes else 1024,
        "wave size": setting.wave_size,
        "WGP mode": setting.wgp_mode,
    }
    return read, asked


def _total_vgprs(block: dict[str, int]) -> int:
    return block.get("TotalNumVgprs", block["NumVgprs"])


def _sgprs(block: dict[str, int]) -> int:
    return block["TotalNumSgprs"] if "TotalNumSgprs" in block else block["NumSgprs"]


def _as_printed(kernel: Kernel, block: dict[str, int]) -> tuple[dict[str, Any], dict[str, Any]]:
    read = {
        "VGPRs": kernel.used.vgprs,
        "AGPRs": kernel.used.agprs or 0,
        "SGPRs": kernel.used.sgprs,
        "LDS": kernel.used.lds_bytes,
        "scratch": kernel.used.scratch_bytes_per_lane,
        "occupancy": kernel.traits.compiler_waves_per_simd,
    }
    comment = {
        "VGPRs": _total_vgprs(block),
        "AGPRs": block.get("NumAgprs", 0),
        "SGPRs": _sgprs(block),
        "LDS": block["LDSByteSize"],
        "scratch": block["ScratchSize"],
        "occupancy": block["Occupancy"],
    }
    return read, comment


def _by_formula(
    version: int, setting: Setting, shape: Shape, block: dict[str, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    demand = Demand(
        wave_size=setting.wave_size,
        vgprs=_total_vgprs(block),
        sgprs=_sgprs(block),
        lds_bytes=block["LDSByteSize"],
        scratch_bytes_per_lane=block["ScratchSize"],
        wgp_mode=setting.wgp_mode,
    )
    attributes = Attributes(shape.sizes or (1, 1024), shape.waves)
    comment = Printed(
        block["Occupancy"],
        block["NumVGPRsForWavesPerEU"],
        block["NumSGPRsForWavesPerEU"],
        block["VGPRBlocks"],
        block["SGPRBlocks"],
    )
    found = printed(setting.target, version, demand, attributes)
    return {"comment": comment}, {"comment": found}


def _judge(kernel: Kernel, tally: Tally, stated: str) -> None:
    ours = kernel.occupancy()
    if agrees(kernel, ours):
        tally.agree += 1
        return
    cause = why(kernel, ours)
    if cause is None or "other-version" in cause.names:
        said = kernel.traits.compiler_waves_per_simd
        tally.unexplained += 1
        tally.faults.append(f"{stated}: prints {said}, is {ours.waves_per_simd}: {cause}")
    else:
        tally.causes.update(cause.names)
