"""Puts the grammars into the wheel, and compiled: that takes longer than to read a file."""

from __future__ import annotations

import runpy
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledGrammars(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root, folder = Path(self.root), Path(mkdtemp())
        grammars = runpy.run_path(str(root / "kernelinfo" / "_grammars.py"))
        for grammar in (root / "grammars").glob("*.lark"):
            build_data["force_include"][str(grammar)] = f"kernelinfo/grammars/{grammar.name}"
            text = grammar.read_text("utf-8")
            made = folder / grammars["compiled_name"](grammar.stem, text)
            with made.open("wb") as file:
                grammars["compile"](text).save(file)
            build_data["force_include"][str(made)] = f"kernelinfo/grammars/{made.name}"
