"""What only a clock measures: `python -m tests.benchmarks.times`.

    python -m tests.benchmarks.times pools page --python VENV/bin/python --write

Pools are compared with one process in pairs, A B A B, by the CPU time of all their processes. The
page of a library is opened in Chromium. Needs Debian's librocsparse0 and chromium. `--write` puts
the table into kernelinfo/manual/speed.md.
"""

from __future__ import annotations

import subprocess
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tests.benchmarks import inputs
from tests.benchmarks.__main__ import is_asked, show, started
from tests.benchmarks.cases import JSON_LINE, kernelinfo
from tests.benchmarks.measure import paired, run

COLUMNS = "| measured | command | value | goal |"
PAIRS = 5
SHARE = 5
"""Each so-manyth bundle of the library."""
POOLS = (2, 4, 8)
_ROW = "table.kernels tbody tr:not(.room)"


def pools(python: str, sample: Path) -> Iterator[tuple[str, str, str, str]]:
    """For each size of a pool, its CPU time as a share of that of one process."""
    report = ("report", str(sample), "--format", "jsonl", "--jobs")
    for jobs in POOLS:
        ours, alone = ([kernelinfo(python), *report, str(number)] for number in (jobs, 1))
        times = partial(run, ours, JSON_LINE), partial(run, alone, JSON_LINE)
        ratio = paired(*times, PAIRS).cpu_time
        shown = f"report LIB --format jsonl --jobs {jobs}"
        yield "CPU time over one process", shown, f"{ratio} ×", "1.15 ×"


def page(python: str, library: Path, folder: Path) -> tuple[str, str, str, str]:
    """CPU time that a browser's process takes until a library's page shows its first row, and the
    page's size. An idle machine takes no longer."""
    from tests.browser.chromium import browser  # only this row needs playwright

    made = folder / "page.html"
    command = [kernelinfo(python), "report", str(library), "--format", "html", "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    seconds = []
    with browser() as chromium:
        for _ in range(PAIRS):
            opened = chromium.new_page()
            session = opened.context.new_cdp_session(opened)
            session.send("Performance.enable")
            opened.goto(made.as_uri(), wait_until="commit")
            opened.wait_for_selector(_ROW, state="attached")
            metrics = session.send("Performance.getMetrics")["metrics"]
            seconds += [metric["value"] for metric in metrics if metric["name"] == "ProcessTime"]
            opened.close()
    value = f"{median(seconds):.1f} s, {made.stat().st_size / 1e6:.1f} MB"
    return "CPU time to the first row, size", "report LIB --format html", value, "2 s"


def rows(options: Namespace) -> Iterator[tuple[str, str, str, str]]:
    sample = inputs.sample(options.folder, "rocsparse", SHARE)
    if sample and is_asked(options, "pools"):
        yield from pools(options.python, sample / "sample.hipfb")
    library = inputs.library("rocsparse")
    if library and is_asked(options, "page"):
        yield page(options.python, library, options.folder)


def main() -> None:
    with started(__doc__) as options:
        cells = ((noun, f"`{command}`", *rest) for noun, command, *rest in rows(options))
        show(options, COLUMNS, ("| " + " | ".join(line) + " |" for line in cells))


if __name__ == "__main__":
    main()
