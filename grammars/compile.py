"""Puts the grammars into the wheel, compiled, and the hardware facts, parsed."""

from __future__ import annotations

import pickle
import sys
from ast import literal_eval
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledGrammars(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root, folder = Path(self.root), Path(mkdtemp())
        sys.path.insert(0, self.root)
        from kernelinfo.occupancy import target_tables, targets
        from kernelinfo.reading import grammar

        for source in (root / "grammars").glob("*.lark"):
            build_data["force_include"][str(source)] = f"kernelinfo/grammars/{source.name}"
            text = source.read_text("utf-8")
            made = folder / grammar.compiled_name(source.stem, text)
            saved = BytesIO()
            grammar.compile(text).save(saved)
            made.write_bytes(reproducible(saved.getvalue()))
            build_data["force_include"][str(made)] = f"kernelinfo/grammars/{made.name}"
        for name in targets.known():
            targets.find(name)  # refuses a table that contradicts itself
        facts = (root / "kernelinfo" / "occupancy" / "targets.toml").read_bytes()
        made = folder / target_tables.parsed_name(facts)
        made.write_bytes(target_tables.parse(facts))
        build_data["force_include"][str(made)] = f"kernelinfo/occupancy/{made.name}"


def reproducible(saved: bytes) -> bytes:
    """The same parser, its tokens by name and its states in the order in which they are reached.

    Lark numbers them as its sets happen to be ordered, which differs from run to run.
    """
    whole = pickle.loads(saved)
    target_tables = whole["data"]["parser"]["parser"]
    names = target_tables["tokens"]
    (start,) = target_tables["start_states"]
    numbers = {target_tables["start_states"][start]: 0}
    states: dict[int, dict[int, tuple[int, Any]]] = {}
    pending = list(numbers)
    order = sorted(names.values())
    while pending:
        state = pending.pop(0)
        actions = sorted(target_tables["states"][state].items(), key=lambda item: names[item[0]])
        row = states[numbers[state]] = {}
        for token, (is_reduction, argument) in actions:
            if not is_reduction:
                if argument not in numbers:
                    numbers[argument] = len(numbers)
                    pending.append(argument)
                argument = numbers[argument]
            row[order.index(names[token])] = (is_reduction, argument)
    target_tables["tokens"] = dict(enumerate(order))
    target_tables["states"] = states
    for ends in ("start_states", "end_states"):
        target_tables[ends] = {name: numbers[state] for name, state in target_tables[ends].items()}
    # What is the same object in one run and an equal one in the next must not show either.
    return pickle.dumps(literal_eval(repr(whole)), protocol=4)
