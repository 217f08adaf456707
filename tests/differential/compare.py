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

from kernelinfo import Demand, Kernel, Options, Result, analyse
from kernelinfo.kernel import USED
from kernelinfo.model.compilers import Printed, printed

from .compilers import Compiler, Setting
from .shapes import Shape, random_shape

_BLOCK = re.compile(r"Begin function (\w+)\n.*?; Kernel info:\n(.*?)\n[^;]", re.DOTALL)
_FIELD = re.compile(r"; (\w+) ?: (\d+)")


@dataclass(slots=True)
class Tally:
    """Results for the kernels of one compiler."""

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
    refused: list[str] = field(default_factory=list)
    """Kernels that the compiler fails on: an assertion of its own, or no registers left."""
    named: Counter[str] = field(default_factory=Counter)
    """Differences between text and object that are known; `_named`."""
    faults: list[str] = field(default_factory=list)
    """Demands that failed, in words."""


def run(compiler: Compiler, kernels: int, random: Random) -> Tally:
    """So many random kernels with one compiler, in all its settings, or in as many as there are."""
    tally, every = Tally(), compiler.settings()
    least = 6  # a compilation costs more than its kernels
    chosen = random.sample(every, max(1, min(len(every), kernels // least)))
    for index, setting in enumerate(chosen):
        count = kernels * (index + 1) // len(chosen) - kernels * index // len(chosen)
        shapes = {
            f"k{number}": random_shape(random, setting.target, setting.wave_size)
            for number in range(count)
        }
        _units(compiler, setting, shapes, tally)
    return tally


def _units(compiler: Compiler, setting: Setting, shapes: dict[str, Shape], tally: Tally) -> None:
    """One unit; where the compiler refuses it, each kernel on its own."""
    try:
        _unit(compiler, setting, shapes, tally)
    except CalledProcessError as error:
        if len(shapes) == 1:
            where = _where(compiler, setting)
            tally.refused.append(f"{where} {shapes}: {_last_line(error.stderr)}")
            return
        for name, shape in shapes.items():
            _units(compiler, setting, {name: shape}, tally)


def _where(compiler: Compiler, setting: Setting) -> str:
    mode = {True: " WGP mode", False: " CU mode", None: ""}[setting.wgp_mode]
    return f"{compiler.name} {setting.target.name} wave{setting.wave_size}{mode}"


def _last_line(text: str) -> str:
    return (text.splitlines() or ["failed"])[-1]


def _unit(compiler: Compiler, setting: Setting, shapes: dict[str, Shape], tally: Tally) -> None:
    where = _where(compiler, setting)
    with tempfile.TemporaryDirectory() as folder:
        text, linked = compiler.build(setting, shapes, Path(folder))
        blocks = {
            name: {key: int(value) for key, value in _FIELD.findall(block)}
            for name, block in _BLOCK.findall(text.read_text("utf-8"))
        }
        of_text, of_object = kernels_of(text), kernels_of(linked)
    tally.targets.add(setting.target.name)
    for name, shape in shapes.items():
        tally.kernels += 1
        stated = f"{where} {shape}"
        kernel, block = of_text.get(name), blocks.get(name)
        if kernel is None or block is None or name not in of_object:
            tally.faults.append(f"{stated}: is not read")
            continue
        named = set(_named(kernel, of_object[name]))
        tally.named.update(named)
        facts = [
            *_differences("the object", _facts(kernel, named), _facts(of_object[name], named)),
            *_differences("the source", *_as_asked(kernel, shape, setting)),
            *_differences("the comment", *_as_printed(kernel, block)),
        ]
        formula = [*_differences("the formula", *_by_formula(compiler.llvm, setting, shape, block))]
        tally.same_facts += not facts
        tally.same_formula += not formula
        tally.faults += [f"{stated}: {fault}" for fault in facts + formula]
        tally.raised += block["NumVGPRsForWavesPerEU"] > max(1, _total_vgprs(block))
        _judge(kernel, tally, stated)


def kernels_of(path: Path) -> dict[str, Kernel]:
    items = analyse([str(path)], Options())
    return {item.kernel.symbol: item.kernel for item in items if isinstance(item, Result)}


def _differences(other: str, here: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    for name, value in here.items():
        if value != there[name]:
            yield f"{name} is {value}, by {other} {there[name]}"


def _named(text: Kernel, linked: Kernel) -> Iterator[str]:
    """Fields in which text and object of one compilation must differ.

    Metadata has one total of VGPRs and AGPRs, so that with AGPRs an object has the other VGPRs
    only as the multiple of 4 at which AGPRs begin, and those of gfx908 only where they are more.
    LLVM's assembler reserves 4 SGPRs on gfx6 for flat scratch, which it does not have and its
    compiler does not count (IsaInfo::getNumExtraSGPRs): Triton assembles what it compiles.
    """
    here, there = _demand(text), _demand(linked)
    if here.arch_vgprs != there.arch_vgprs:
        yield "arch VGPRs"
    more = (linked.traits.numbers.reserved_sgprs or 0) - (text.traits.numbers.reserved_sgprs or 0)
    if more == 8 and text.target and text.target.name.startswith("gfx60"):
        yield "SGPRs of gfx6"


def _demand(kernel: Kernel) -> Demand:
    assert kernel.traits.demand is not None
    return kernel.traits.demand


def _facts(kernel: Kernel, named: set[str]) -> dict[str, Any]:
    """Numbers that text and object of one compilation both state, except those of `_named`."""
    numbers = kernel.numbers
    facts = {
        "used": [getattr(numbers, name) for name in USED],
        "encoded": (numbers.reserved_vgprs, numbers.accum_offset, numbers.reserved_sgprs),
        "demand": _demand(kernel)._replace(arch_vgprs=None),
        "workgroup": (numbers.max_workgroup_size, numbers.required_workgroup),
        "wave size": kernel.wave_size,
        "WGP mode": kernel.numbers.wgp_mode,
        "spills": (numbers.vgpr_spills, numbers.sgpr_spills),
        "dynamic stack": kernel.numbers.dynamic_stack,
        "percent": kernel.occupancy().percent,
        "limiters": kernel.occupancy().limiters,
    }
    if "SGPRs of gfx6" in named:
        facts["encoded"] = (numbers.reserved_vgprs, numbers.accum_offset, None)
        facts["demand"] = _demand(kernel)._replace(arch_vgprs=None, sgprs=None, used_sgprs=None)
        del facts["percent"], facts["limiters"]
    return facts


def _as_asked(
    kernel: Kernel, shape: Shape, setting: Setting
) -> tuple[dict[str, Any], dict[str, Any]]:
    read = {
        "LDS": kernel.numbers.lds_bytes,
        "largest workgroup": kernel.numbers.max_workgroup_size,
        "wave size": kernel.wave_size,
        "WGP mode": kernel.numbers.wgp_mode if setting.wgp_mode is not None else None,
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
        "VGPRs": kernel.numbers.vgprs,
        "AGPRs": kernel.numbers.agprs or 0,
        "SGPRs": kernel.numbers.sgprs,
        "LDS": kernel.numbers.lds_bytes,
        "scratch": kernel.numbers.scratch_bytes_per_lane,
        "occupancy": kernel.numbers.compiler_waves_per_simd,
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
    sizes = shape.sizes or (1, 1024)
    comment = Printed(
        block["Occupancy"],
        block["NumVGPRsForWavesPerEU"],
        block["NumSGPRsForWavesPerEU"],
        block["VGPRBlocks"],
        block["SGPRBlocks"],
    )
    found = printed(setting.target, version, demand, sizes, shape.waves)
    return {"comment": comment}, {"comment": found}


def _judge(kernel: Kernel, tally: Tally, stated: str) -> None:
    ours = kernel.occupancy()
    number = Result(kernel, ours).compiler_number
    if number is not None and number.agrees:
        tally.agree += 1
    elif (
        number is None
        or number.reason is None
        or "a version that the file does not name" in number.reason
    ):
        waves, reason = (number.waves_per_simd, number.reason) if number else (None, None)
        tally.unexplained += 1
        tally.faults.append(f"{stated}: prints {waves}, is {ours.waves_per_simd}: {reason}")
    else:
        tally.causes.update([number.reason])
