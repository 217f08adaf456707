"""A repository of libraries × 3 targets through thirty changes, as the gate sees each of them.

`python -m tests.gate.thirty_changes [LIBRARIES]` prints the table: the verdict on each change, what
was done then, how many lines of the baseline changed, and the first line that a reader gets.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..contract.compiled import assembly
from ..test_golden import run

TARGETS = ("gfx90a", "gfx942", "gfx1030")
BASELINE = "b.json"
CONFIGURATION = f'paths = ["build"]\nbaseline = "{BASELINE}"\n'
CLANG_19, CLANG_22 = "clang version 19.1.7", "clang version 22.1.8"
UPDATE, TIGHTEN = "--update-baseline", "--tighten"
TAKEN_BACK = "taken back"

Lines = Mapping[str, str]
"""Library and symbol -> line of the baseline, without the comma at its end."""


class State(NamedTuple):
    """What is built."""

    kernels: dict[str, dict[str, str]]
    """Library -> kernel -> its numbers, as `vgpr=80,spill=4`."""
    further_targets: dict[str, tuple[str, ...]]
    """Library -> targets beside the three."""
    files: dict[str, str]
    """`stamp`, the compiler's; `cut`, a file that is cut off; `settings` of the gate."""


class Change(NamedTuple):
    """A change of the repository, and what the gate made of it."""

    title: str
    is_loss: bool
    """True if a kernel got worse, is gone or cannot be read: it must not pass."""
    out: str
    code: int
    response: str
    """The command that answered the change, or that it was taken back."""
    touched: frozenset[str]
    """Symbols that the change is about."""
    before: Lines
    after: Lines

    @property
    def lines(self) -> set[str]:
        """Libraries and symbols whose lines of the baseline changed, came or went."""
        keys = self.before.keys() | self.after.keys()
        return {key for key in keys if self.before.get(key) != self.after.get(key)}


class Repository:
    """Libraries with their kernels, built for all targets in a folder, and a gate."""

    def __init__(self, folder: Path, libraries: int) -> None:
        self.folder = folder
        kernels = {
            f"lib{number:02}": {
                f"copy{number}": "",
                f"tile{number}": f"vgpr={64 + number % 3 * 8}",
                gemm(number): "vgpr=80,spill=4",
            }
            for number in range(libraries)
        }
        self.state = State(kernels, {}, {"stamp": CLANG_19, "cut": "", "settings": ""})
        self.saved = deepcopy(self.state)
        self.changes: list[Change] = []
        self.build()
        assert self.check(UPDATE)[1] == 0

    def build(self) -> None:
        """Write what a compiler leaves. All kernels `tile` are at one line of a header."""
        (self.folder / "kernelinfo.toml").write_text(CONFIGURATION + self.state.files["settings"])
        build = self.folder / "build"
        build.mkdir(exist_ok=True)
        names = set()
        for library, kernels in self.state.kernels.items():
            for target in (*TARGETS, *self.state.further_targets.get(library, ())):
                words = [",".join(filter(None, both)) for both in kernels.items()]
                text = assembly(*words, f"target={target}", f"stamp={self.state.files['stamp']}")
                for line, name in enumerate(kernels, 100):
                    row = 3 if name.startswith("tile") else line
                    text = text.replace(f"{name}:\n", f"{name}:\n\t.loc\t1 {row} 0\n", 1)
                text = f'.file 1 "include/tl.h"\n{text}'
                names.add(name := f"{library}-{target}.s")
                is_cut = name == self.state.files["cut"]
                (build / name).write_text(text[: len(text) // 2] if is_cut else text)
        for path in build.iterdir():
            if path.name not in names:
                path.unlink()

    def check(self, *arguments: str) -> tuple[str, int]:
        """(what is told, exit code) of the gate."""
        out, err, code = run("check", *arguments, folder=self.folder)
        return err + out, code

    def list_lines(self) -> dict[str, str]:
        lines, library = {}, ""
        for line in (self.folder / BASELINE).read_text().splitlines():
            if named := re.match(r'  ("[^"]*"): \[', line):
                library = json.loads(named[1])
            elif symbol := re.match(r'   \{"symbol":"([^"]*)"', line):
                lines[f"{library} {symbol[1]}"] = line.rstrip(",")
        return lines

    def change(
        self, title: str, *touched: str, response: str = "", options: str = "", loss: bool = False
    ) -> None:
        """Build the state, check it, answer it, and check again: then it is green.

        Without a response the state stays as it is; `TAKEN_BACK` is the last one with a response.
        """
        before = self.list_lines()
        self.build()
        out, code = self.check(*options.split())
        if response == TAKEN_BACK:
            self.state = deepcopy(self.saved)
            self.build()
        elif response:
            answer, ended = self.check(*response.split())
            assert ended == 0, answer
        if response:
            again = self.check()
            assert again[1] == 0, (title, again[0])
            self.saved = deepcopy(self.state)
        after, about = self.list_lines(), (title, loss, out, code, response or "–")
        self.changes.append(Change(*about, frozenset(touched), before, after))


def gemm(number: int, namespace: str = "v1") -> str:
    """The symbol of `void v1::gemm0<float>(float*)`."""
    name = f"gemm{number}"
    return f"_ZN2{namespace}{len(name)}{name}IfEEvPT_"


def live(folder: Path, libraries: int) -> Iterator[Change]:
    """The changes of a repository of so many libraries, two at least."""
    gate = Repository(folder, libraries)
    for chapter in (_grow, _rename, _improve, _lose, _rebuild, _remove, _edit_header, _break):
        chapter(gate)
    yield from gate.changes


def _grow(gate: Repository) -> None:
    gate.change("nothing")
    gate.state.kernels["lib00"]["axpy"] = ""
    gate.state.files["settings"] = 'gate.new = "error"'
    gate.change('new kernel, `new = "error"`', "axpy", response=TAKEN_BACK)
    gate.state.kernels["lib00"]["axpy"] = ""
    gate.change("new kernel", "axpy", response=UPDATE)
    further = gate.state.further_targets
    further["lib01"] = ("gfx1100",)
    gate.change("new target of a library", *gate.state.kernels["lib01"], response=UPDATE)
    further.update(dict.fromkeys(gate.state.kernels, ("gfx1100",)))
    gate.change("new target of all", *_list_symbols(gate), response=UPDATE)
    further.clear()
    gate.change("target gone", *_list_symbols(gate), response=UPDATE, loss=True)


def _rename(gate: Repository) -> None:
    kernels = gate.state.kernels["lib00"]
    kernels["axpy_v2"] = kernels.pop("axpy")
    response = f"{UPDATE} --rename axpy=axpy_v2"
    gate.change("rename without a loss", "axpy", "axpy_v2", response=response, loss=True)
    kernels["axpy_v3"] = "vgpr=100" + kernels.pop("axpy_v2")
    touched = ("axpy_v2", "axpy_v3")
    option = "--rename axpy_v2=axpy_v3"
    gate.change("rename with a loss, compared", *touched, options=option, loss=True)
    gate.change("rename with a loss, dropped", *touched, options=UPDATE, loss=True)
    gate.change("rename with a loss", *touched, response=TAKEN_BACK, loss=True)
    kernels = gate.state.kernels["lib00"]
    kernels[gemm(0, "v2")] = kernels.pop(gemm(0))
    gate.change("another namespace", gemm(0), gemm(0, "v2"), response=UPDATE)


def _improve(gate: Repository) -> None:
    own = gate.state.kernels["lib01"]
    own[gemm(1)] = "vgpr=64,spill=4"
    gate.change("improvement, not pinned", gemm(1))
    gate.change("improvement, `--strict-baseline`", gemm(1), options="--strict-baseline")
    gate.change("slack taken back", gemm(1), response=TIGHTEN)
    own[gemm(1)] = "vgpr=80,spill=4"
    gate.change("its loss", gemm(1), response=TAKEN_BACK, loss=True)
    own = gate.state.kernels["lib01"]
    own |= {gemm(1): "vgpr=64", "fresh": ""}
    gate.change("spills ended, beside a new kernel", gemm(1), response=TIGHTEN)
    gate.change("the new kernel", "fresh", response=UPDATE)


def _lose(gate: Repository) -> None:
    for title, numbers in (
        ("waves lost", "vgpr=90"),
        ("spills", "spill=3"),
        ("scratch", "scratch=64"),
    ):
        gate.state.kernels["lib00"]["copy0"] = numbers
        gate.change(title, "copy0", response=TAKEN_BACK, loss=True)
    gate.state.kernels["lib00"]["copy0"] = "vgpr=60"
    gate.change("fewer registers within a step", "copy0")


def _rebuild(gate: Repository) -> None:
    gate.state.files["stamp"] = CLANG_22
    gate.change("another compiler, no waves moved", "copy0", response=UPDATE)
    gate.state.files["stamp"] = CLANG_19
    gate.state.kernels["lib01"]["copy1"] = "vgpr=90"
    gate.change("another compiler, waves lost: told", "copy1")
    gate.state.kernels["lib01"]["copy1"] = "vgpr=90,spill=2"
    gate.change("another compiler, spills", "copy1", loss=True)
    gate.change("pinned", "copy1", response=UPDATE, loss=True)


def _remove(gate: Repository) -> None:
    kernels = gate.state.kernels
    last = sorted(kernels)[-1]
    names = [*kernels.pop(last)]
    gate.change("library removed", *names, response=UPDATE, loss=True)
    del kernels["lib00"]["copy0"]
    gate.change("kernel removed", "copy0", response=UPDATE, loss=True)
    kernels["libnew"] = kernels.pop("lib01")
    gate.change("library renamed", *kernels["libnew"], response=UPDATE)


def _edit_header(gate: Repository) -> None:
    tiles = [name for name in _list_symbols(gate) if name.startswith("tile")]
    for title, numbers, response in (
        ("header edited, waves lost", "vgpr=140", TAKEN_BACK),
        ("header edited, waves gained", "vgpr=32", TIGHTEN),
    ):
        for kernels in gate.state.kernels.values():
            kernels.update({name: numbers for name in kernels if name.startswith("tile")})
        gate.change(title, *tiles, response=response, loss=response == TAKEN_BACK)


def _break(gate: Repository) -> None:
    gate.state.files["cut"] = "libnew-gfx942.s"
    gate.change("damaged night", response=TAKEN_BACK, loss=True)
    baseline = gate.folder / BASELINE
    whole = baseline.read_text()
    damages = {
        "merge conflict": whole.replace("\n  ]", "\n<<<<<<< ours\n=======\n>>>>>>> theirs\n  ]", 1),
        "baseline with a key twice": whole.replace('"waves":', '"waves":1,"waves":', 1),
    }
    for title, text in damages.items():
        baseline.write_text(text)
        out, code = gate.check()
        update = gate.check(UPDATE)
        assert (update[1], baseline.read_text()) == (2, text), "not overwritten"
        baseline.write_text(whole)
        lines = gate.list_lines()
        gate.changes.append(Change(title, True, out, code, "restored", frozenset(), lines, lines))
    gate.state.kernels.clear()
    gate.change("nothing built", response=TAKEN_BACK, loss=True)


def _list_symbols(gate: Repository) -> list[str]:
    return [name for kernels in gate.state.kernels.values() for name in kernels]


def main(libraries: str = "40") -> None:
    """Print the table."""
    print("| change | exit | then | lines | what is told |\n| --- | --- | --- | --- | --- |")
    with TemporaryDirectory() as folder:
        for change in live(Path(folder), int(libraries)):
            first, *_, last = change.out.splitlines() * 2
            told = last if first == last else f"{first} … {last}"
            cells = (change.title, change.code, change.response, len(change.lines), told)
            print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
