"""Next steps held to the compiler: `python -m tests.differential.promises`.

Compiles random kernels with LDS, changes in each only what its next step says, compiles again, and
demands that the promised waves come, of the assembly and of the linked object. Prints a table; ends
with 1 where a promise is broken.

Left out: upper bounds on waves, which no file states; generic targets, whose number is that of the
best device, while the compiler pads for the one with the least LDS; and gfx6, for which LLVM pads
as if its CU had half of its LDS (up to LLVM 22, #223185).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from subprocess import CalledProcessError

from kernelinfo import Kernel
from kernelinfo.kernel import Result

from .clang import Clang
from .compare import kernels_of
from .compilers import Setting
from .shapes import Shape, random_shape

_EACH = 12
"""Kernels of one compilation."""
_LEAST_VGPRS = 4
"""VGPRs that a kernel takes without a claim, at most."""
_EXTRA_SGPRS = 6
"""VCC, flat scratch and XNACK, which `.sgpr_count` includes."""


@dataclass(slots=True)
class Promises:
    """What became of the next steps of all kernels."""

    kernels: int = 0
    padded: int = 0
    """Kernels whose descriptor asks for more registers than the code uses."""
    kept: Counter[str] = field(default_factory=Counter)
    """Promises by the resources that the step names."""
    targets: set[str] = field(default_factory=set)
    """Those of kept promises."""
    lost: int = 0
    """Promises that new padding breaks, as KI208 then says: LLVM's table of SGPRs, by which it pads
    for gfx8 and gfx9 up to LLVM 22, knows neither their granule nor the trap handler."""
    refused: int = 0
    """Kernels that the compiler fails on."""
    broken: list[str] = field(default_factory=list)


def run(compiler: Clang, kernels: int, random: Random) -> Promises:
    """So many random kernels, in settings drawn at random."""
    found = Promises()
    settings = [one for one in compiler.settings() if not one.target.members]
    settings = [one for one in settings if not one.target.name.startswith("gfx60")]
    random.shuffle(settings)
    for index in range(-(-kernels // _EACH)):
        setting = settings[index % len(settings)]
        shapes = {f"k{number}": _shape(random, setting) for number in range(_EACH)}
        before = _built(compiler, setting, shapes)
        found.refused += len(shapes) - len(before)
        stepped = {
            name: _step(shapes[name], text) for name, (text, _) in before.items() if text.next
        }
        after = _built(compiler, setting, stepped)
        found.refused += len(stepped) - len(after)
        for name, (text, linked) in before.items():
            found.kernels += 1
            found.padded += bool(text.traits.demand and text.traits.demand.is_padded)
            where = f"{setting.target.name} wave{setting.wave_size} {shapes[name]}"
            if text.next != linked.next:
                found.broken.append(f"{where}: {text.next} of text, {linked.next} of the object")
            elif name in after:
                waves = text.next[0].waves_per_simd
                reached = [one.waves_per_simd for one in after[name]]
                if reached != [waves, waves] == [_unpadded(one) for one in after[name]]:
                    found.lost += 1
                elif reached != [waves, waves]:
                    found.broken.append(f"{where}: {text.next} gave {reached}")
                else:
                    found.kept[" ".join(step.resource for step in text.next)] += 1
                    found.targets.add(setting.target.name)
    return found


def _unpadded(kernel: Kernel) -> float:
    """Waves per SIMD without the descriptor's padding."""
    assert kernel.traits.demand is not None
    traits = kernel.traits._replace(demand=kernel.traits.demand.unpadded)
    return traits.occupancy().waves_per_simd


def _shape(random: Random, setting: Setting) -> Shape:
    """A kernel with LDS, and without a bound on waves."""
    while not (shape := random_shape(random, setting.target, setting.wave_size)).lds_bytes:
        pass
    return replace(shape, waves=None)


def _step(shape: Shape, kernel: Kernel) -> Shape:
    """The shape with what the kernel's next step says, and nothing else."""
    for step in Result(kernel, kernel.occupancy()).next:
        match step.resource:
            case "lds":
                shape = replace(shape, lds_bytes=step.at_most)
            case "sgpr":
                shape = replace(shape, sgpr=max(0, step.at_most - _EXTRA_SGPRS - 1))
            case "vgpr":
                is_unified = kernel.target is not None and kernel.target.agprs.file == "unified"
                vgpr, agpr = _fewer(shape.vgpr, shape.agpr, step.at_most, is_unified)
                shape = replace(shape, vgpr=vgpr, agpr=agpr)
    return shape


def _fewer(
    vgpr: int | None, agpr: int | None, most: int, is_unified: bool
) -> tuple[int | None, int | None]:
    """The highest VGPR and AGPR to claim, so that both together are the most of the step."""
    if agpr is None or not is_unified:
        return (
            None if vgpr is None else min(vgpr, most - 1),
            None if agpr is None else min(agpr, most - 1),
        )
    if vgpr is not None and vgpr >= most // 2 and agpr >= most // 2:
        vgpr = most // 2 - 1
    if vgpr is None or vgpr < most // 2:
        first = (max(vgpr or 0, _LEAST_VGPRS - 1) + 4) // 4 * 4  # AGPRs begin at a multiple of 4
        return vgpr, min(agpr, most - first - 1)
    return min(vgpr, (most - agpr - 1) // 4 * 4 - 1), agpr


def _built(
    compiler: Clang, setting: Setting, shapes: dict[str, Shape]
) -> dict[str, tuple[Kernel, Kernel]]:
    """(kernel of the text, kernel of the object); without those that the compiler fails on."""
    if not shapes:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            text, linked = map(kernels_of, compiler.build(setting, shapes, Path(folder)))
            return {name: (text[name], linked[name]) for name in shapes}
        except CalledProcessError:
            if len(shapes) == 1:
                return {}
    alone = ({name: shape} for name, shape in shapes.items())
    return {name: both for one in alone for name, both in _built(compiler, setting, one).items()}


def table(found: Promises) -> str:
    """Promises by the resources of the step, in Markdown."""
    rows = [("next step", "kept"), ("---", "---"), *found.kept.most_common()]
    return "\n".join(f"| {step} | {count} |" for step, count in rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.promises")
    parser.add_argument("--kernels", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compiler = Clang(22)
    found = run(compiler, options.kernels, Random(options.seed))
    print(table(found))
    print(
        f"{found.kept.total()} promises of {found.kernels} kernels ({found.padded} padded, "
        f"{found.refused} refused) on {len(found.targets)} targets, {found.lost} lost to padding, "
        f"{len(found.broken)} broken"
    )
    print(*found.broken, sep="\n", file=sys.stderr, end="\n" if found.broken else "")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
