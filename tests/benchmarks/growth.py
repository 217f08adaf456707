"""Growth of a command's instructions when its input doubles: `python -m tests.benchmarks.growth`.

Start-up is left out: doubling the input a second time may add at most 2.1 times the instructions
that the first doubling added. Exits with 1 if a row exceeds that. Needs valgrind. `--write` puts
the table into kernelinfo/manual/speed.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.__main__ import heading, printed, write
from tests.benchmarks.inputs import FIXTURES, SMALL_TEXT
from tests.benchmarks.measure import instructions

COLUMNS = "| doubled | command | size | 1×, Mi | 2×, Mi | 4×, Mi | the second adds |"
MOST = 2.1
HEAD = '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n.text\n'
KERNEL = """
.globl k{number}
.type k{number},@function
k{number}:
{body}
 s_endpgm
.amdhsa_kernel k{number}
 .amdhsa_next_free_vgpr 8
 .amdhsa_next_free_sgpr 8
 .amdhsa_accum_offset 8
.end_amdhsa_kernel
"""
ADD = " v_add_f32_e32 v{0}, v{1}, v{0}"


class Growth(NamedTuple):
    """A command and an input of any size."""

    noun: str
    make: Callable[[Path, int], Path]
    first: int
    arguments: tuple[str, ...]


def _text(folder: Path, parts: Iterable[str]) -> Path:
    path = folder / "made.s"
    path.write_text(HEAD + "".join(parts))
    return path


def kernels(folder: Path, count: int) -> Path:
    return _text(folder, (KERNEL.format(number=n, body=ADD.format(1, 2)) for n in range(count)))


def files(folder: Path, count: int) -> Path:
    for number in range(count):
        shutil.copy(FIXTURES / "code_object" / "variety-clang22-gfx90a.co", folder / f"{number}.co")
    return folder


def comments(folder: Path, count: int) -> Path:
    return _text(folder, [KERNEL.format(number=0, body="; a comment of the compiler\n" * count)])


def straight(folder: Path, count: int) -> Path:
    lines = (ADD.format(number % 8, number * 3 % 8) for number in range(count))
    return _text(folder, [KERNEL.format(number=0, body="\n".join(lines))])


def blocks(folder: Path, count: int) -> Path:
    lines = (f".L{n}:\n{ADD.format(n % 8, 0)}\n s_cbranch_scc0 .L{n + 1}" for n in range(count))
    return _text(folder, [KERNEL.format(number=0, body="\n".join([*lines, f".L{count}:"]))])


def builds(folder: Path, count: int) -> Path:
    build, made = folder / "build", folder / "dataset"
    build.mkdir()
    shutil.copy(SMALL_TEXT, build)
    for number in range(count):
        scan = ("scan", str(build), "--to", str(made), "--workers", "1", "--build", f"{number:03}")
        subprocess.run([sys.executable, "-m", "kernelinfo", *scan], check=True, capture_output=True)
    return made


GROWTHS = (
    Growth("kernels", kernels, 500, ("report", "{}", "--format", "json")),
    Growth("kernels", kernels, 500, ("explain", "{}", "*")),
    Growth("kernels", kernels, 500, ("check", "{}", "--exit-zero")),
    Growth("kernels", kernels, 200, ("pressure", "{}", "--format", "csv", "--jobs", "1")),
    Growth("files", files, 100, ("report", "{}", "--format", "jsonl", "--jobs", "1")),
    Growth("bytes", comments, 100_000, ("report", "{}")),
    Growth("instructions", straight, 2000, ("pressure", "{}")),
    Growth("blocks", blocks, 1000, ("pressure", "{}")),
    Growth("builds", builds, 8, ("trend", "{}")),
)


def counted(growth: Growth) -> list[int]:
    """Instructions for the input once, twice and four times as large."""
    counts: list[int] = []
    for times in (1, 2, 4):
        with tempfile.TemporaryDirectory() as folder:
            path = growth.make(Path(folder), growth.first * times)
            arguments = (word.format(path) for word in growth.arguments)
            command = [sys.executable, "-m", "kernelinfo", *arguments]
            if not counts:  # so that no count has the compilation of our modules
                subprocess.run(command, check=True, capture_output=True)
            counts.append(instructions(command))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="rows of these commands or nouns")
    parser.add_argument("--write", action="store_true", help="put the table into manual/speed.md")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    exceeded = False
    table = [printed(heading(COLUMNS))]
    for growth in GROWTHS:
        command = growth.arguments[0]
        if options.only and not {growth.noun, command} & {*options.only}:
            continue
        once, twice, four = counted(growth)
        added = (four - twice) / max(1, twice - once)
        exceeded = exceeded or added > MOST
        sizes = (f"{number / 1e6:,.0f}" for number in (once, twice, four))
        shown = " ".join(growth.arguments).replace("{}", "PATH")
        cells = (growth.noun, f"`{shown}`", f"{growth.first:,}", *sizes, f"{added:.2f} ×")
        table.append(printed("| " + " | ".join(cells) + " |"))
    if options.write:
        write(table)
    sys.exit(exceeded)


if __name__ == "__main__":
    main()
