"""Answers of some 250 command lines, before and after a redesign.

    python -m tests.answers build/before      # a file for each command line
    python -m tests.answers build/after
    diff -r build/before build/after          # each difference is named in the commit that makes it

Every command in every format, over a dozen fixtures, in three widths. `{a,b}` stands for one line
with each of the words, as in a shell.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from kernelinfo import __version__
from kernelinfo.cli import COMMANDS

from .conftest import FIXTURES
from .test_golden import run

_A, _B = "assembly/occupancy-clang19-gfx90a.s", "assembly/occupancy-clang22-gfx90a.s"
_SPILLS = "assembly/spills-clang22-gfx90a.s"
_TABLES = "{text,json,jsonl,csv,markdown,html}"

_FIRST = (
    f"{_A} --format json -o saved.json",
    f"{_A} --format jsonl -o saved.jsonl",
    f"{_A} --format csv -o saved.csv",
    f"check {_A} --baseline baseline.json --update-baseline",
    "check code_object --baseline all.json --update-baseline",
)
"""Files that other lines read."""

_LINES = (
    f"{{{_A},{_SPILLS},assembly/handwritten.s,assembly/odd-clang22-gfx90a.s}} --format {_TABLES}",
    f"{{container/libmixed.so,container/libnested.a,code_object,broken}} --format {_TABLES}",
    "{assembly/clusters-clang22-gfx1250.s,code_object/padded-clang22-gfx1201.co} --format "
    "{text,json,csv}",
    "{assembly,container,log --arch gfx90a} --format {text,csv,jsonl}",
    f"{_A} --columns kernel,vgpr,VGPR_Count,waves --format {{text,csv}}",
    "assembly --sort {vgpr,lds,spills,waves,name} --top 5",
    "assembly --where {vgpr>64,vgpr-spill>0,lds>=1k,waves<4} --format {text,csv}",
    "assembly --by {target,library,limiter} --format {text,csv,json}",
    f"{_SPILLS} --instructions --format {{jsonl,csv}}",
    f"{_A} --workgroup-size {{64,256,1024}} --format {{text,json}}",
    f"{_A} --as {{gfx942,MI300X,gfx1100}} --format {{text,json}}",
    f"{_SPILLS} --{{source-lines,arguments,verbose,quiet,unique,spilling}}",
    f"explain {_A} {{vgprbound,ldsbound}} --format {_TABLES}",
    f"explain {_SPILLS} '*' --format {{text,json}}",
    "explain {KI101,KI106,rules,gate,reports,python,occupancy}",
    f"explain {_A} vgprbound {{--as gfx942,--workgroup-size 128}}",
    f"pressure {_SPILLS} --format {{text,json,jsonl,csv,html}}",
    f"pressure {_A} vgprbound --format {{text,json,html}}",
    f"pressure {_A} vgprbound {{--source,--at 10}}",
    f"diff {_A} {_B} --format {_TABLES}",
    f"diff {{saved.json,saved.jsonl,saved.csv}} {_B} --format {{text,json,csv}}",
    "diff code_object/occupancy-clang19-gfx90a.co code_object/occupancy-clang22-gfx90a.co "
    f"--format {_TABLES}",
    f"diff {_A} {_B} {{--by target,--top 1,--loose,--quiet,--fail-on change}}",
    f"diff assembly/spills-clang19-gfx90a.s {_SPILLS} --instructions --format {{text,json}}",
    f"check {_B} --baseline baseline.json --format "
    "{text,json,jsonl,csv,markdown,html,sarif,github,gitlab,junit}",
    f"check {_SPILLS} --format {{text,json,jsonl,csv,markdown,html,sarif,github,gitlab,junit}}",
    "check code_object --baseline all.json --format {text,json}",
    "check assembly {--select KI1,--ignore KI1} {--fail-on error,--fail-on warning}",
    f"check {_A} --config gate.toml --format {{text,json,csv}}",
    f"calc gfx90a --vgpr 96 --format {_TABLES}",
    "calc gfx942 --vgpr 128 --agpr 64 --vary {lds,workgroup-size} --format {text,json,csv}",
    "calc gfx1201 --vgpr 96 --wave {32,64}",
    "limits {gfx90a,gfx942,gfx1100,gfx1201} --format {text,json,jsonl,csv,markdown}",
    "arch {gfx90a,gfx1250} --format {text,json,jsonl,csv,markdown}",
    "arch --format {text,json,csv}",
    f"compare-profile {_A} profile/kernel_trace.csv --format {{text,json,jsonl,csv,markdown}}",
    "rules --format {text,json}",
    "{report,explain,diff,check,pressure,calc,limits,arch,sweep,watch,scan,trend,extract} --help",
)
_WIDTHS = (
    f"{_A}",
    "assembly/variety-clang22-gfx942.s",
    f"diff {_A} {_B}",
    f"explain {_A} vgprbound",
    f"pressure {_SPILLS}",
    f"check {_B} --baseline baseline.json",
    "limits gfx942",
    "calc gfx90a --vgpr 96",
)
"""Lines that are answered in these widths, too."""

_GATE = """\
[workgroup-size]
"*" = 256
[[budget]]
kernel = "*bound"
waves = 4
vgpr = 96
"""


def main(folder: Path) -> None:
    """Write the answer of each command line to a file of the folder."""
    folder.mkdir(parents=True)
    with TemporaryDirectory() as name:
        place = Path(name)
        prepare(place)
        for width in (60, 100, 140):
            for line in _WIDTHS:
                _answer(folder, place, line, width)
        for lines in _LINES:
            for line in _spread(lines):
                _answer(folder, place, line, 80)
    digest = sha256(b"".join(path.read_bytes() for path in sorted(folder.iterdir())))
    print(f"{len(list(folder.iterdir()))} answers, {digest.hexdigest()[:16]}")


def prepare(place: Path) -> None:
    """Make the folder that the lines are run in."""
    for fixtures in FIXTURES.iterdir():
        (place / fixtures.name).symlink_to(fixtures)
    (place / "gate.toml").write_text(_GATE)
    for line in _FIRST:
        run(*shlex.split(line), folder=place)


def list_first() -> list[str]:
    """The first line of each command."""
    first: dict[str, str] = {}
    for line in (line for lines in _LINES for line in _spread(lines)):
        word = line.partition(" ")[0]
        first.setdefault(word if word in COMMANDS else "report", line)
    return [*first.values()]


def _spread(line: str) -> Iterator[str]:
    """The lines that a line with `{a,b}` stands for."""
    before, opened, rest = line.partition("{")
    words, _, after = rest.partition("}")
    for word in words.split(",") if opened else [""]:
        yield from (before + word + end for end in (_spread(after) if opened else [""]))


def _answer(folder: Path, place: Path, line: str, width: int) -> None:
    with patch.dict(os.environ, {"COLUMNS": str(width)}):
        out, err, code = run(*shlex.split(line), folder=place)
    name = re.sub(r"[^\w.+-]+", "_", f"{line} {width}")[:150]
    text = f"$ kernelinfo {line}\n# {width} columns, exit code {code}\n{out}--- errors\n{err}"
    text = text.replace(str(place), "PLACE").replace(__version__, "VERSION")
    (folder / f"{name}-{sha256(line.encode()).hexdigest()[:6]}").write_text(text, "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the answers are written")
    answers = parser.parse_args().folder
    shutil.rmtree(answers, ignore_errors=True)
    main(answers)
