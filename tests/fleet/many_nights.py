"""A dataset of many builds of many libraries, written as a scan writes it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from kernelinfo.fleet.dataset import MANIFEST, row_columns

TARGETS = ("gfx90a", "gfx942", "gfx1100")


def write(
    fleet: Path, row: dict[str, object], *, builds: int, libraries: int, symbols: int, version: bool
) -> None:
    """Builds `0.1.0`, `0.2.0` … of libraries × targets × symbols kernels like `row`.

    A kernel of the first library loses waves in the middle build. With `version` each name of a
    file has the build's name in it.
    """
    with TemporaryDirectory() as scratch, duckdb.connect() as connection:
        lines = Path(scratch, "row.jsonl")
        lines.write_text(json.dumps(row))
        connection.execute(
            f"CREATE TABLE first AS FROM read_json('{lines}', columns={row_columns()})"
        )
        for number in range(1, builds + 1):
            build = f"0.{number}.0"
            mark = f"-{build}" if version else ""
            target = f"({list(TARGETS)})[t.t + 1]"
            path = f"'lib{mark}/liblib' || l.l || '.so{'.' + build if version else ''}'"
            slow = f"l.l = 0 AND s.s = 0 AND {number} > {builds // 2}"
            query = (
                f"SELECT f.* REPLACE ({target} AS Target, {target} AS Compiled_For,"
                f" 'k' || s.s AS Symbol, 'k' || s.s || '(float*)' AS Kernel_Name,"
                f" {path} AS Path, 'liblib' || l.l || '.so' AS Library,"
                " s.s % 200 AS VGPR_Used, (hash(l.l, t.t, s.s) % 99999)::BIGINT AS Code_Size,"
                ' (hash(s.s, l.l) % 1000000007)::BIGINT AS "Offset",'
                f" CASE WHEN {slow} THEN Waves_Per_SIMD / 2 ELSE Waves_Per_SIMD END"
                " AS Waves_Per_SIMD),"
                f" '/builds/{build}/' || {path} AS Url, '0' AS Kernelinfo_Version"
                f" FROM first f, range({libraries}) l(l), range(3) t(t), range({symbols}) s(s)"
                " ORDER BY Target"
            )
            folders = [fleet / table / f"Build={build}" for table in ("kernels", "inputs")]
            for folder in folders:
                folder.mkdir(parents=True)
            connection.execute(f"COPY ({query}) TO '{folders[0]}/run-0.0.0.parquet'")
            values = {"Path": path, "Url": f"'/builds/{build}/' || {path}", "Part": "'run-0'"}
            values |= {"Problems": "0", "Accepted": "0", "Run": "'run'"}
            columns = ", ".join(
                f"({values.get(name, 'NULL')})::{kind} AS {name}" for name, kind in MANIFEST.items()
            )
            files = f"SELECT {columns} FROM range({libraries}) l(l)"
            connection.execute(f"COPY ({files}) TO '{folders[1]}/manifest.parquet'")
