"""Datasets made of rows: nights of which it is known what became of each kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..test_golden import run
from .scans import OBJECTS

NIGHTS = ("night-8", "night-9", "night-10", "night-11", "night-12")
OLD_CLANG, NEW_CLANG = "clang version 19.1.7", "clang version 22.1.8"


def kernels() -> list[dict[str, Any]]:
    """Rows of one compiled fixture."""
    out, _, _ = run(str(OBJECTS / "variety-clang22-gfx942.co"), "--format", "jsonl")
    found = [json.loads(line) for line in out.splitlines()]
    return [row | {"Path": "lib/librows.so", "Compiler": OLD_CLANG} for row in found]


def add(
    fleet: Path,
    build: str,
    rows: Iterable[Mapping[str, Any]],
    path: str = "lib/librows.so",
    name: str = "",
    damage: str = "",
    **about: Any,
) -> None:
    """Write a build of one file as a scan does, or the shard `name` of it. `damage` is the problem
    of the file, and `about` are further columns of the manifest."""
    from kernelinfo.fleet.dataset import Dataset, opened_row, part_prefix, write_lines

    url, dataset = f"/builds/{build}/{path}", Dataset(str(fleet))
    part = f"{part_prefix(name)}part"
    with TemporaryDirectory() as scratch:
        write_lines(scratch, "kernels", [{**row, "Path": path} for row in rows])
        write_lines(scratch, "opened", [opened_row(path, path, url)])
        if damage:
            unread = {"Url": url, "Path": path, "Message": damage, "Kernelinfo_Version": "0"}
            nowhere = dict.fromkeys(("Member", "Offset", "Line"))
            write_lines(scratch, "problems", [unread | nowhere])
        dataset.write_part(build, f"{part}.0.0", scratch)
        done = {"Path": path, "Url": url, "Size": 1, "Modified": "1", "Options": "{}"}
        done |= {
            "Part": part,
            "Kernelinfo_Version": "0",
            "Problems": bool(damage) + 0,
            "Accepted": 0,
        }
        dataset.write_manifest(build, name, [done | about], scratch)


def add_no_problems(fleet: Path, build: str) -> None:
    """Write the empty table of problems of a build, as a scan does at its end."""
    from kernelinfo.fleet.dataset import Dataset

    Dataset(str(fleet)).write_no_problems(build, "")


def add_by_0_2(fleet: Path, build: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a build as kernelinfo 0.2.0 did: no `Library`, `inputs` by address, no manifest."""
    import duckdb

    add(fleet, build, rows)
    (part,) = (fleet / "kernels" / f"Build={build}").iterdir()
    (manifest,) = (fleet / "inputs" / f"Build={build}").iterdir()
    kept = "Url, Size, Modified, Kernelinfo_Version, Options, Part"
    for file, columns in ((part, "* EXCLUDE (Library)"), (manifest, kept)):
        other = fleet / "other.parquet"
        rows_of = f"read_parquet('{file}', hive_partitioning = false)"
        duckdb.sql(f"COPY (SELECT {columns} FROM {rows_of}) TO '{other}' (FORMAT parquet)")
        other.replace(file)
    manifest.rename(manifest.with_name(part.name))


def worse(row: dict[str, Any]) -> dict[str, Any]:
    """The kernel with more registers, and half its waves."""
    return row | {
        "VGPR_Used": row["VGPR_Used"] * 2,
        "VGPR_Count": row["VGPR_Count"] * 2,
        "VGPR_Allocated": row["VGPR_Allocated"] * 2,
        "Waves_Per_SIMD": row["Waves_Per_SIMD"] / 2,
        "Occupancy_Percent": row["Occupancy_Percent"] / 2,
        "Limiters": ["vgpr"],
    }


def five(fleet: Path) -> tuple[str, str]:
    """Five nights: a kernel loses waves in the third, one gets another namespace in the fourth, and
    another compiler makes the fifth. The symbols of the two kernels."""
    rows = kernels()
    regressed, renamed = rows[0]["Symbol"], "_ZN2v14scanEPf"
    before = rows[1] | {"Symbol": renamed, "Kernel_Name": "v1::scan(float*)"}
    rows[1] = before
    add(fleet, NIGHTS[0], rows)
    add(fleet, NIGHTS[1], rows)
    rows = [worse(rows[0]), *rows[1:]]
    add(fleet, NIGHTS[2], rows)
    after = before | {"Symbol": "_ZN2v24scanEPf", "Kernel_Name": "v2::scan(float*)"}
    rows = [rows[0], after, *rows[2:]]
    add(fleet, NIGHTS[3], rows)
    add(fleet, NIGHTS[4], [row | {"Compiler": NEW_CLANG} for row in rows])
    return regressed, "_ZN2v24scanEPf"
