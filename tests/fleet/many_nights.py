"""A dataset of many builds of many libraries, written as a scan writes it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from .nights import add

TARGETS = ("gfx90a", "gfx942", "gfx1100")


def write(
    fleet: Path, row: dict[str, object], *, builds: int, libraries: int, symbols: int, version: bool
) -> None:
    """Builds `0.1.0`, `0.2.0` … of libraries × targets × symbols kernels like `row`.

    A kernel of the first library loses waves in the middle build. With `version` each name of a
    file has the build's name in it.
    """
    with TemporaryDirectory() as scratch, duckdb.connect() as connection:
        add(Path(scratch), "b", [row])
        kernels, inputs = (f"'{scratch}/{table}/*/*.parquet'" for table in ("kernels", "inputs"))
        connection.execute(
            f"CREATE TABLE first AS FROM read_parquet({kernels}, hive_partitioning = false)"
        )
        manifest = connection.execute(
            f"DESCRIBE FROM read_parquet({inputs}, hive_partitioning = false)"
        ).fetchall()
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
                f" AS Waves_Per_SIMD, '/builds/{build}/' || {path} AS Url)"
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
                f"({values.get(name, 'NULL')})::{kind} AS {name}" for name, kind, *_ in manifest
            )
            files = f"SELECT {columns} FROM range({libraries}) l(l)"
            connection.execute(f"COPY ({files}) TO '{folders[1]}/manifest.parquet'")
