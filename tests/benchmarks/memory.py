"""Peak memory of every command and format, by the number of kernels.

    python -m tests.benchmarks.memory --python VENV/bin/python      (librocrand1, librocsparse0)

Each command runs alone in one process after the other, in a folder for each input: the baseline and
the dataset of one command are there for the next. `--write` puts the table into
kernelinfo/manual/speed.md. The five copies of the largest library take 6.5 GB on disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import inputs
from tests.benchmarks.__main__ import is_asked, show, started
from tests.benchmarks.cases import kernelinfo
from tests.robustness.measure import measured

COLUMNS = "| command, MiB at most | 560 kernels | 88,137 kernels | 440,685 kernels |"
REPORTS = ("text", "markdown", "csv", "jsonl", "json", "html")
CHECKS = (*REPORTS, "sarif", "github", "gitlab", "junit")
PATTERN, ONE_TARGET = "*csr*", ("--target", "gfx1030")
IN_BOTH = "*device*"
"""Some 50 kernels of the small library and 200 of the large one, for one target."""
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("report", "{}", "--format", one) for one in REPORTS),
    ("report", "{}", "--by", "library"),
    ("report", "{}", *ONE_TARGET),
    ("report", "{}", "-k", PATTERN),
    ("explain", "{}"),
    *(("explain", "{}", PATTERN, *ONE_TARGET, "--format", one) for one in ("text", "json", "csv")),
    *(("diff", "{}", "{}", "--format", one) for one in REPORTS),
    *(("check", "{}", "--exit-zero", "--format", one) for one in CHECKS),
    ("check", "{}", "--exit-zero", "--baseline", "pinned.json.gz", "--update-baseline"),
    ("check", "{}", "--exit-zero", "--baseline", "pinned.json.gz"),
    ("extract", "{}", "-o", "objects", *ONE_TARGET),
    *(("pressure", "{}", "-k", IN_BOTH, *ONE_TARGET, "--format", one) for one in ("csv", "json")),
    ("scan", "{}", "--to", "dataset", "--workers", "1", "--timeout", "600", "--build", "1"),
    ("scan", "{}", "--to", "dataset", "--workers", "1", "--timeout", "600", "--build", "2"),
    ("trend", "dataset"),
)
"""`{}` is the input's path."""


def peak(command: list[str], folder: Path) -> str:
    """MiB of the command's process at most, with its exit code if that is not 0."""
    with tempfile.TemporaryFile() as out:
        code, _, _, megabytes = measured(command, folder, stdout=out, stderr=out)
    return f"{megabytes:.0f}" + (f" (exit {code})" if code else "")


def row(command: tuple[str, ...], python: str, inputs: dict[Path, Path]) -> str:
    """The peaks of a command for each input, in its folder."""
    cells = [
        peak([kernelinfo(python), *(word.format(path) for word in command)], folder)
        for path, folder in inputs.items()
    ]
    shown = " ".join(command).replace("{}", "LIB")
    return "| " + " | ".join([f"`{shown}`", *cells]) + " |"


def _paths(folder: Path, copies: int) -> Iterator[Path]:
    found = (inputs.library("rocrand"), inputs.library("rocsparse"))
    yield from filter(None, (*found, inputs.copies(folder, "rocsparse", copies)))


def main() -> None:
    with started(__doc__) as options, tempfile.TemporaryDirectory() as temporary:
        paths = _paths(options.folder, 5)
        folders = {path: Path(tempfile.mkdtemp(dir=temporary)) for path in paths}
        asked = (words for words in COMMANDS if is_asked(options, " ".join(words)))
        show(options, COLUMNS, (row(words, options.python, folders) for words in asked))


if __name__ == "__main__":
    main()
