"""Test vectors: cases of every target with their occupancy, for checking other models against this
one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from kernelinfo.hardware.targets import Domain, Target, Vgprs, find, known
from kernelinfo.model.calculator import Arch

SCHEMA = "kernelinfo/vectors/1"
LICENSE = "CC0-1.0"
_SIZES = (1, 31, 32, 33, 63, 64, 65, 128, 192, 256, 320, 448, 512, 640, 704, 896, 1000, 1024, 1025)
_AGPR_SPLITS = [(v, a) for v in (0, 1, 2, 61, 100, 128, 257) for a in (1, 4, 100, 128, 256, 257)]
_SGPRS = (0, 1, 8, 16, 32, 40, 48, 49, 56, 64, 72, 80, 81, 88, 96, 97, 100, 102, 104, 112, 113)
_SCRATCH = (1, 16, 100, 8192, 65536, 1 << 20)
_SHARES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32)
"""Workgroups among which all LDS of the domain is divided."""
_MIXED = 60
"""Random cases of each wave size and mode."""


VectorCase = dict[str, Any]
"""Arguments of `Arch.occupancy`."""


def hardware() -> Iterator[dict[str, Any]]:
    """The constants of each target, wave size and mode, as flat records.

    Registers are per lane (VGPRs) or per wave (SGPRs), LDS in bytes. `wgp_mode` is None if the
    target has one mode. A generic target has only the names of its members: its occupancy is that
    of the member with the highest percentage, the first one on a tie.
    """
    for name in known():
        target = find(name)
        if target.members:
            yield {"hardware": name, "members": list(target.members)}
            continue
        for file in target.vgprs:
            for domain in target.domains:
                yield {
                    "hardware": name,
                    "wave_size": file.wave_size,
                    "wgp_mode": _mode(target, domain),
                    "simds": domain.simds,
                    "slots_per_simd": target.waves.slots_per_simd,
                    "max_workgroup_size": target.waves.max_workgroup_size,
                    "vgprs_per_simd": file.per_simd,
                    "vgprs_addressable": file.addressable,
                    "vgpr_granule": file.granule,
                    "agpr_file": target.agprs.file,
                    "agprs_addressable": target.agprs.addressable,
                    "agpr_offset_granule": target.agprs.offset_granule,
                    "sgprs_per_simd": target.sgprs.per_simd,
                    "sgprs_allocatable": target.sgprs.allocatable,
                    "sgpr_granule": target.sgprs.granule,
                    "sgprs_fixed": target.sgprs.fixed_allocation,
                    "sgprs_of_trap_handler": target.sgprs.trap_handler,
                    "lds_bytes": domain.lds_bytes,
                    "lds_bytes_per_workgroup": target.lds.bytes_per_workgroup,
                    "lds_granule": target.lds.granule_bytes,
                    "barriers": domain.barriers,
                    "scratch_waves": domain.scratch_waves,
                    "scratch_granule": target.scratch.granule_bytes,
                    "scratch_bytes_per_wave": target.scratch.bytes_per_wave,
                    "scratch_aperture_bytes": target.scratch.aperture_bytes,
                    "cus_per_scratch_aperture": target.scratch.cus_per_aperture,
                }


def vectors() -> Iterator[dict[str, Any]]:
    """One flat record per case: the arguments of `Arch.occupancy`, then its result.

    The cases are the same, in the same order, each time: first the edges of each resource, then
    random mixtures.
    """
    for name in known():
        target = find(name)
        for file in target.vgprs:
            for domain in target.domains:
                for case in _cases(target, file, domain):
                    yield _vector(target, case)


def _mode(target: Target, domain: Domain) -> bool | None:
    return domain.per == "WGP" if len(target.domains) > 1 else None


def _vector(target: Target, case: VectorCase) -> dict[str, Any]:
    result = Arch(target).occupancy(**case)
    return {
        "target": target.name,
        **case,
        "launchable": result.launchable,
        "workgroups": result.workgroups,
        "waves": result.waves,
        "waves_per_simd": result.waves_per_simd,
        "percent": result.percent,
        "limiters": list(result.limiters),
    }


def _cases(target: Target, file: Vgprs, domain: Domain) -> Iterator[VectorCase]:
    """Cases of one wave size and mode."""
    plain: VectorCase = {
        "wave_size": file.wave_size,
        "wgp_mode": _mode(target, domain),
        "workgroup_size": 256,
        "vgprs": 1,
        "agprs": 0,
        "sgprs": 16,
        "lds_bytes": 0,
        "scratch_bytes_per_lane": 0,
        "trap_handler": True,
    }
    for size in _SIZES:
        yield dict(plain, workgroup_size=size)
    for vgprs in _vgpr_edges(target, file):
        yield dict(plain, vgprs=vgprs, workgroup_size=file.wave_size)
        yield dict(plain, vgprs=vgprs)
    if target.agprs.file != "none":
        for vgprs, agprs in _AGPR_SPLITS:
            yield dict(plain, vgprs=vgprs, agprs=agprs)
    if target.sgprs.per_simd:
        for sgprs in _SGPRS:
            yield dict(plain, sgprs=sgprs)
            yield dict(plain, sgprs=sgprs, trap_handler=False)
    for lds_bytes in _lds_edges(target, domain):
        for size in (file.wave_size, 256, 1024):
            yield dict(plain, lds_bytes=lds_bytes, workgroup_size=size)
    for scratch in _SCRATCH:
        yield dict(plain, scratch_bytes_per_lane=scratch)
        yield dict(plain, scratch_bytes_per_lane=scratch, workgroup_size=1024)
    random = Random(f"{target.name} {file.wave_size} {domain.per}")
    for _ in range(_MIXED):
        yield _mixed(target, file, plain, random)


def _vgpr_edges(target: Target, file: Vgprs) -> list[int]:
    """Counts on both sides of each occupancy step, and of a wave's maximum."""
    slots = target.waves.slots_per_simd
    shares = {
        file.per_simd // waves // file.granule * file.granule for waves in range(1, slots + 1)
    }
    steps = {min(share, file.addressable) for share in shares}
    return sorted({0, 1, *steps, *(step + 1 for step in steps)})


def _lds_edges(target: Target, domain: Domain) -> list[int]:
    """Bytes of LDS at which the number of workgroups that fit may change.

    For each number in `_SHARES`, the most bytes with which that many workgroups fit; the maximum of
    a workgroup; each of these plus one byte; and 1.
    """
    granule = target.lds.granule_bytes
    shares = {domain.lds_bytes // groups // granule * granule for groups in _SHARES}
    edges = {share for share in shares if share <= target.lds.bytes_per_workgroup}
    edges.add(target.lds.bytes_per_workgroup)
    return sorted({1, *edges, *(edge + 1 for edge in edges)})


def _mixed(target: Target, file: Vgprs, plain: VectorCase, random: Random) -> VectorCase:
    """Random amounts of all resources at once, most of them possible."""
    has_agprs = target.agprs.file != "none"
    return dict(
        plain,
        workgroup_size=random.choice([64, 128, 256, 512, 1024, random.randint(1, 1024)]),
        vgprs=random.choice([random.randint(0, 96), random.randint(0, file.addressable)]),
        agprs=random.choice([0, random.randint(0, 128)]) if has_agprs else 0,
        sgprs=random.randint(0, 108),
        lds_bytes=random.choice([0, random.randint(0, 16384), random.randint(0, 65536)]),
        scratch_bytes_per_lane=random.choice([0, 0, 16 * random.randint(0, 256)]),
        trap_handler=random.random() < 0.8,
    )
