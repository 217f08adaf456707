"""The benchmark's comparisons, one entry per line of its table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import inputs

READELF = inputs.tool("llvm-readelf")
OBJDUMP = inputs.tool("llvm-objdump")

NOTES = f"find . -name '*amdgcn*' -print0 | xargs -0 {READELF} --notes"
OFFLOADING = f'ln -s "$0" library.so; {OBJDUMP} --offloading library.so > list.txt; {NOTES}'
UNBUNDLE = f"""
targets=$({inputs.BUNDLER} -type=o -list -input="$0" | grep amdgcn)
for target in $targets; do set -- "$@" -output=amdgcn.$target; done
{inputs.BUNDLER} -type=o -unbundle -input="$0" -targets=$(echo $targets | tr ' ' ,) "$@"
{NOTES}
"""
FIELDS = """
/^[ \\t]*\\.amdhsa_kernel / { print "kernel " $2 }
/^; (TotalNumSgprs|NumVgprs|NumAgprs|ScratchSize|LDSByteSize|Occupancy):/ { print }
"""

JSON_LINE, NOTE, BLOCK = b'"Kernel_Name":', b".vgpr_count:", b"kernel "
"""Bytes that each output contains once per kernel."""


ALONE = ("{}",)
LINES = ("{}", "--format", "jsonl", "--jobs", "1")
TEXT = ("{}", "--jobs", "1")
TWO_PROCESSES = ("{}", "--format", "jsonl", "--jobs", "2")


class Case(NamedTuple):
    """kernelinfo with some arguments, and another command that reads the same input."""

    name: str
    peer_name: str
    tools: tuple[str, ...]
    """Without these the line is left out."""
    make: Callable[[Path, bool, str], Path | None]
    """The input, in a folder that is kept; small where the run is only to show that it works; made
    by this interpreter's kernelinfo if it needs one. None where it cannot be made."""
    arguments: tuple[str, ...]
    """Arguments of kernelinfo; `{}` is the input's path."""
    peer: Callable[[str, str], list[str]]
    """The other command, by the interpreter and the input's path."""
    marks: tuple[bytes, bytes] = (b"", b"")
    """Bytes that mark a kernel in each of the two outputs; empty if an output names no kernels."""

    extra: str = ""
    """Without this module, of one of kernelinfo's extras, the line is left out."""
    is_short: bool = False
    """So short that its instructions are counted, too."""
    is_medium: bool = False
    """So short that its instructions are counted against another version of kernelinfo."""

    @property
    def processes(self) -> int:
        """Number of processes that kernelinfo runs."""
        return 2 if self.arguments == TWO_PROCESSES else 1


def kernelinfo(python: str) -> str:
    """The command that pip installs next to an interpreter, as users start it."""
    return str(Path(python).with_name("kernelinfo"))


def bare_python(python: str, path: str) -> list[str]:
    return [python, "-c", "pass"]


def shell(script: str) -> Callable[[str, str], list[str]]:
    return lambda python, path: ["sh", "-euc", script, path]


def readelf(python: str, path: str) -> list[str]:
    return [READELF, "--notes", path]


def awk(python: str, path: str) -> list[str]:
    return ["awk", FIELDS, path]


def reports(*builds: str) -> Callable[[str, str], list[str]]:
    """kernelinfo itself, which reads the same and judges nothing."""
    return lambda python, path: [
        *(kernelinfo(python), "report"),
        *(f"{path}/{build}" for build in builds),
    ]


def fixture(path: Path) -> Callable[[Path, bool, str], Path]:
    return lambda folder, short, python: path


def library(name: str) -> Callable[[Path, bool, str], Path | None]:
    return lambda folder, short, python: None if short else inputs.library(name)


PIPELINE = (OBJDUMP, READELF)
READ_NOTES = f'find "$0" -name "*.co" -print0 | xargs -0 {READELF} --notes'


def start(name: str, path: Path, *arguments: str, tools: tuple[str, ...] = ()) -> Case:
    """A command that takes little more than its start, against the bare interpreter."""
    make = fixture(path)
    return Case(name, "`python -c pass`", tools, make, arguments, bare_python, is_short=True)


def of_library(name: str, of: str, arguments: tuple[str, ...], mark: bytes = JSON_LINE) -> Case:
    """A library of Debian's, against what writes its code objects to files and reads those."""
    return Case(
        name,
        "objdump + readelf",
        PIPELINE,
        library(of),
        arguments,
        shell(OFFLOADING),
        (mark, NOTE if mark else b""),
        is_medium=of == "rocrand",
    )


CASES = (
    start("small `.s`", inputs.SMALL_TEXT, *ALONE),
    start("symbolic `.s`", inputs.SYMBOLIC_TEXT, *ALONE),
    Case(
        "small `.hsaco`",
        "readelf",
        (READELF,),
        fixture(inputs.SMALL_OBJECT),
        ALONE,
        readelf,
        is_short=True,
    ),
    start("`--version`", inputs.SMALL_TEXT, "--version"),
    start("`check`, small `.s`", inputs.SMALL_TEXT, "check", "{}", "--exit-zero"),
    start("`explain`, small `.s`", inputs.SMALL_TEXT, "explain", "{}", "vgprbound"),
    start("`diff`, small `.s`", inputs.SMALL_TEXT, "diff", "{}", "{}"),
    start("`pressure`, small `.s`", inputs.SMALL_TEXT, "pressure", "{}", "vgprbound"),
    start("`extract`, a bundle", inputs.BUNDLE, "extract", "{}", "-o", "objects"),
    start("`compare-profile`", inputs.SMALL_OBJECT, "compare-profile", str(inputs.TRACE), "{}"),
    start(
        "`sweep`",
        inputs.IR,
        "sweep",
        "{}",
        "--arch",
        "gfx1010",
        "--waves",
        "4",
        tools=(inputs.CLANG,),
    ),
    Case(
        "`scan`, small `.s`",
        "`python -c pass`",
        (),
        lambda folder, short, python: inputs.folder_of_small_text(folder),
        ("scan", "{}", "--to", "dataset", "--build", "1", "--workers", "1", "-q"),
        bare_python,
        extra="duckdb",
    ),
    Case(
        "`trend`, two builds",
        "`python -c pass`",
        (),
        lambda folder, short, python: inputs.dataset(folder, python),
        ("trend", "{}"),
        bare_python,
        extra="duckdb",
    ),
    start("`limits`", inputs.SMALL_TEXT, "limits", "gfx942"),
    start("`calc`", inputs.SMALL_TEXT, "calc", "--arch", "gfx942", "--vgpr", "96"),
    start("`arch`", inputs.SMALL_TEXT, "arch"),
    start("`rules`", inputs.SMALL_TEXT, "rules"),
    of_library("librocrand, 25 MB", "rocrand", LINES),
    of_library("librocsparse, 1310 MB", "rocsparse", LINES),
    of_library("librocsparse, two processes", "rocsparse", TWO_PROCESSES),
    of_library("librocsparse, as text", "rocsparse", TEXT, b""),
    Case(
        "librocsparse, objects cut before",
        "readelf alone",
        (READELF,),
        lambda folder, short, python: None if short else inputs.cut(folder, "rocsparse"),
        ("{}/library.so", *LINES[1:]),
        shell(READ_NOTES),
        (JSON_LINE, NOTE),
    ),
    Case(
        "3000 code objects",
        "readelf over all",
        (READELF,),
        lambda folder, short, python: inputs.objects(folder, 30 if short else 3000),
        LINES,
        shell(READ_NOTES),
        (JSON_LINE, NOTE),
    ),
    Case(
        "3000 code objects, two processes",
        "readelf over all",
        (READELF,),
        lambda folder, short, python: inputs.objects(folder, 30 if short else 3000),
        TWO_PROCESSES,
        shell(READ_NOTES),
        (JSON_LINE, NOTE),
    ),
    Case(
        "`.s` of 82 MB, 2000 kernels",
        "awk",
        ("awk",),
        lambda folder, short, python: inputs.text(folder, 10 if short else 2000),
        LINES,
        awk,
        (JSON_LINE, BLOCK),
    ),
    Case(
        "compressed bundle of 93 MB",
        "bundler + readelf",
        (inputs.BUNDLER, READELF),
        lambda folder, short, python: (
            None if short else inputs.compressed_bundle(folder, inputs.library("rocsparse"))
        ),
        LINES,
        shell(UNBUNDLE),
        (JSON_LINE, NOTE),
    ),
    Case(
        "`check`, 10000 kernels and a baseline",
        "report of the same",
        (inputs.CLANG,),
        lambda folder, short, python: inputs.builds(folder, 100 if short else 10000),
        ("check", "{}/old", "--config", "{}/gate.toml", "--baseline", "{}/pinned.json"),
        reports("old"),
    ),
    Case(
        "`diff`, 10000 kernels each",
        "report of both",
        (inputs.CLANG,),
        lambda folder, short, python: inputs.builds(folder, 100 if short else 10000),
        ("diff", "{}/old", "{}/new"),
        reports("old", "new"),
    ),
)


class Series(NamedTuple):
    """An input that is doubled three times."""

    name: str
    first: int
    make: Callable[[Path, int], Path | None]
    """So many of it, in a folder that is kept; None where that cannot be made."""


SERIES = (
    Series("kernels and bytes of a `.s`", 250, inputs.text),
    Series("files of a directory", 500, inputs.objects),
)
