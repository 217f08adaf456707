"""Build hook: writes the parse tables of the grammars, and targets.toml as a Python module.

A wheel gets both; an editable install gets only the tables, next to the grammars."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledGrammars(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        grammars = Path(self.root) / "grammars"
        if version == "editable":
            write_tables(grammars, grammars)
            return
        folder = Path(mkdtemp())
        for file in [*grammars.glob("*.lark"), *write_tables(grammars, folder)]:
            build_data["force_include"][str(file)] = f"kernelinfo/grammars/{file.name}"
        targets = write_targets(folder)
        build_data["force_include"][str(targets)] = f"kernelinfo/hardware/{targets.name}"


def write_tables(grammars: Path, folder: Path) -> list[Path]:
    """Paths of the tables, written to `folder`, one file per grammar; older tables are removed."""
    from kernelinfo.reading.grammar import tables_name
    from kernelinfo.reading.grammar_tables import dump_tables

    for old in folder.glob("*.tables"):
        old.unlink()
    written = []
    for source in sorted(grammars.glob("*.lark")):
        grammar = source.read_bytes()
        written.append(folder / tables_name(source.stem, grammar))
        written[-1].write_bytes(dump_tables(grammar.decode()))
    return written


def write_targets(folder: Path) -> Path:
    """Path of the module of literals, written to `folder` from targets.toml.

    Raises `TargetsError` for a table that contradicts itself."""
    from kernelinfo.hardware import targets

    for name in targets.known():
        targets.find(name)
    written = folder / "target_literals.py"
    written.write_text(f"TABLES = {targets.tables()!r}\n", "utf-8")
    return written
