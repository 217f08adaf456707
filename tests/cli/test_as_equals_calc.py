"""`--as X` says what `calc --arch X` says of the same registers, for every pair of targets."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from kernelinfo import Kernel, KernelinfoError, Occupancy, arch
from kernelinfo.analysis.kernels import combine
from kernelinfo.hardware import targets
from kernelinfo.hardware.targets import Target, align, total_vgprs
from kernelinfo.kernel.code_object import CodeObject

from ..reading.inside import Features, KernelFacts
from ..reading.inside import Numbers as Stated


class Numbers(NamedTuple):
    """Resources of one kernel."""

    arch_vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    scratch: int
    wave_size: int


def compiled(own: Target, numbers: Numbers, padding: int = 0) -> Kernel:
    """A kernel whose code uses these, as assembly and descriptor for `own` state it."""
    total = total_vgprs(own, numbers.arch_vgprs, numbers.agprs)
    granule = own.vgpr_file(numbers.wave_size).encoding_granule
    stated: dict[str, Any] = {
        "vgprs": total,
        "arch_vgprs": numbers.arch_vgprs,
        "agprs": numbers.agprs,
        "sgprs": numbers.sgprs,
        "lds_bytes": numbers.lds_bytes,
        "scratch_bytes_per_lane": numbers.scratch,
        "wave_size": numbers.wave_size,
        "reserved_vgprs": align(max(1, total), granule) + padding * granule,
    }
    if own.agprs.file == "unified":
        stated["accum_offset"] = align(max(1, numbers.arch_vgprs), own.agprs.offset_granule)
    of = CodeObject("k.s", (), None, 0, 0, "assembly", own.name, Features(), 5, None, ())
    return combine(KernelFacts("k", (("directive", Stated(**stated)),)), of, own)


def random_numbers(random: Random, own: Target) -> Numbers:
    file = random.choice(own.vgprs)
    most = own.agprs.addressable or min(file.addressable, 256)
    usual = random.choice((24, 64, 128, most))
    return Numbers(
        arch_vgprs=random.randint(0, usual),
        agprs=0 if own.agprs.file == "none" else random.choice((0, random.randint(1, most))),
        sgprs=random.randint(0, 112),
        lds_bytes=random.choice((0, random.randint(1, 70000))),
        scratch=random.choice((0, 0, random.randint(1, 70000))),
        wave_size=file.wave_size,
    )


def calculated(target: Target, numbers: Numbers, size: int) -> Occupancy:
    return arch(target.name).occupancy(
        workgroup_size=size,
        vgprs=numbers.arch_vgprs,
        agprs=numbers.agprs,
        sgprs=numbers.sgprs,
        lds_bytes=numbers.lds_bytes,
        scratch_bytes_per_lane=numbers.scratch,
        wave_size=numbers.wave_size,
    )


def same(moved: Occupancy, calculated: Occupancy) -> bool:
    """Equal but for the mode of a WGP, which `calc` is asked for and a kernel may leave open."""
    reasons = tuple(r for r in moved.at_most_because if not r.startswith("the mode is not stated"))
    placement = moved.placement._replace(demand=calculated.demand)
    stated = moved._replace(at_most_because=reasons, placement=placement)
    return stated == calculated and all(
        getattr(moved, field) == getattr(calculated, field)
        for field in ("limits", "next", "headroom", "range")
    )


def test_every_target_moves_to_every_other() -> None:
    random = Random(1)
    for there, own in product(map(targets.find, targets.known()), repeat=2):
        numbers, size = random_numbers(random, own), random.choice((64, 256, 704, 1024))
        runs_as_it_is = there.name in (own.name, *own.members)
        kernel = compiled(own, numbers, 0 if runs_as_it_is else random.choice((0, 7)))
        try:
            expected = calculated(there, numbers, size)
        except KernelinfoError:
            with pytest.raises(KernelinfoError):
                kernel.on(there)
            continue
        moved = kernel.on(there).occupancy(workgroup_size=size)
        assert same(moved, expected), (own.name, there.name, numbers, size)
