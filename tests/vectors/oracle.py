"""Occupancy by simulation: workgroups are placed one by one until the next one finds no room.

It shares no code with `kernelinfo/model` and reads `targets.toml` itself.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import kernelinfo

Vector = dict[str, Any]
PATH = Path(kernelinfo.__file__).parent / "hardware" / "targets.toml"


@cache
def tables() -> dict[str, Any]:
    """Target → its table, with shared topics in place of their names."""
    read = tomllib.loads(PATH.read_text("utf-8"))
    return {
        name: {
            key: read[key][value] if isinstance(value, str) and key in read else value
            for key, value in table.items()
        }
        for name, table in read.items()
        if "elf_mach" in table
    }


def expected(vector: Vector) -> Vector:
    """Result for the case of a vector, as its own fields state it."""
    members = tables()[vector["target"]].get("members") or [vector["target"]]
    answers = [_on(tables()[name], vector) for name in members]
    most = max(answer["percent"] for answer in answers)
    return next(answer for answer in answers if answer["percent"] == most)


def _on(table: Any, case: Vector) -> Vector:
    """Result on one real target."""
    lanes = case["wave_size"]
    file = next(one for one in table["vgprs"] if one["wave_size"] == lanes)
    domain = next(
        one
        for one in table["domains"]
        if case["wgp_mode"] is None or one["per"] == ("WGP" if case["wgp_mode"] else "CU")
    )
    simds, slots = domain["simds"], table["waves"]["slots_per_simd"]
    group = len(range(0, case["workgroup_size"], lanes))
    registers = _registers(table["agprs"], case)
    lane = case["scratch_bytes_per_lane"]
    scratch = _up(lane * lanes, table["scratch"]["granule_bytes"]) if lane else 0
    # Resource → (room of each SIMD, share of a wave), (room of the domain, share of a group).
    of_simds = {"slots": (slots, 1), "vgpr": (file["per_simd"], _up(registers, file["granule"]))}
    of_domain: dict[str, tuple[int, int]] = {}
    sgprs = table["sgprs"]
    if sgprs["per_simd"]:
        own = sgprs.get("fixed_allocation") or _up(case["sgprs"], sgprs["granule"])
        own += sgprs["trap_handler"] if case["trap_handler"] else 0
        of_simds["sgpr"] = sgprs["per_simd"], own
    if case["lds_bytes"]:
        of_domain["lds"] = (
            domain["lds_bytes"],
            _up(case["lds_bytes"], table["lds"]["granule_bytes"]),
        )
    if group > 1:
        of_domain["barriers"] = domain["barriers"], 1
    if scratch:
        waves, cus = domain["scratch_waves"], table["scratch"].get("cus_per_aperture", 0)
        if cus:
            waves = min(waves, table["scratch"]["aperture_bytes"] // scratch // cus)
        of_domain["scratch"] = waves, group
    alone = {
        **{name: _placed(simds, group, {name: room}, {}) for name, room in of_simds.items()},
        **{name: _placed(simds, group, {}, {name: room}) for name, room in of_domain.items()},
    }
    groups = _placed(simds, group, of_simds, of_domain)
    assert groups == min(alone.values())
    order = ("slots", "vgpr", "sgpr", "lds", "barriers", "scratch")
    limiters = [name for name in order if alone.get(name) == groups]
    launchable = groups > 0 and not _too_much(table, file, domain, case, registers, scratch)
    waves = groups * group if launchable else 0
    return {
        "launchable": launchable,
        "workgroups": groups if launchable else 0,
        "waves": waves,
        "waves_per_simd": waves / simds,
        "percent": 100 * waves / (simds * slots),
        "limiters": limiters,
    }


def _registers(agprs: Any, case: Vector) -> int:
    """Vector registers per lane that a wave takes, before rounding.

    A kernel of AGPRs alone takes no VGPRs besides: LLVM AMDGPUBaseInfo.cpp, getTotalNumVGPRs.
    """
    if agprs["file"] == "unified" and case["agprs"]:
        whole = _up(case["vgprs"], agprs["offset_granule"]) if case["vgprs"] else 0
        return whole + int(case["agprs"])
    return int(max(case["vgprs"], case["agprs"]))


def _too_much(
    table: Any, file: Any, domain: Any, case: Vector, registers: int, scratch: int
) -> bool:
    """True if no wave or workgroup may have so much of something."""
    own = table["agprs"].get("addressable") or file["addressable"]
    return bool(
        case["workgroup_size"] > table["waves"]["max_workgroup_size"]
        or case["lds_bytes"] > min(table["lds"]["bytes_per_workgroup"], domain["lds_bytes"])
        or registers > file["addressable"]
        or max(case["vgprs"], case["agprs"]) > own
        or (table["sgprs"]["per_simd"] > 0 and case["sgprs"] > table["sgprs"]["allocatable"])
        or scratch > table["scratch"]["bytes_per_wave"]
    )


def _up(amount: int, granule: int) -> int:
    """The amount in whole granules, one at least."""
    return len(range(0, max(1, amount), granule)) * granule


def _placed(
    simds: int,
    group: int,
    of_simds: dict[str, tuple[int, int]],
    of_domain: dict[str, tuple[int, int]],
) -> int:
    """Workgroups that find room, each wave on the SIMD with the fewest waves."""
    on = [0] * simds
    groups = 0
    while all((groups + 1) * share <= room for room, share in of_domain.values()):
        for _ in range(group):
            least = on.index(min(on))
            on[least] += 1
            if any(on[least] * share > room for room, share in of_simds.values()):
                return groups
        groups += 1
        if not of_simds and groups > 4096:
            return groups
    return groups
