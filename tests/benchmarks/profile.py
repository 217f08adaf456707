"""Where the CPU time of the commands with goals goes: `python -m tests.benchmarks.profile`.

    python -m tests.benchmarks.profile LIB TEXT explain --python VENV/bin/python --write

Each millisecond of CPU time counts for the folder of kernelinfo whose code runs, or for the import
that is under way. `--write` puts the table into kernelinfo/manual/speed.md.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from tests.benchmarks.__main__ import is_asked, show, started
from tests.benchmarks.goals import goals

LEAST = 1000
"""Samples of a command, in as many runs as they take."""
COLUMNS = {
    "imports": ("import",),
    "reading": ("reading",),
    "kernels": ("analysis", "kernel"),
    "occupancy, rules": ("hardware", "model", "rules"),
    "builds, gate": ("compare", "gate"),
    "registers": ("pressure",),
    "answer": ("cli", "render"),
}
"""Column -> folders of kernelinfo; the rest is `other`."""
_SAMPLER = """
import collections, json, signal, sys
counts = collections.Counter()
def count(number, frame):
    room = "other"
    while frame is not None:
        file, _, path = frame.f_code.co_filename.rpartition("/kernelinfo/")
        if "importlib" in frame.f_code.co_filename:
            room = "import"
            break
        if file and room == "other":
            room = path.partition("/")[0]
        frame = frame.f_back
    counts[room] += 1
signal.signal(signal.SIGPROF, count)
signal.setitimer(signal.ITIMER_PROF, .001, .001)
kept, sys.argv = sys.argv[1], ["kernelinfo", *sys.argv[2:]]
from kernelinfo import __main__ as command
command._end_quietly = lambda: None
try:
    command.main()
finally:
    signal.setitimer(signal.ITIMER_PROF, 0)
    with open(kept, "w") as file:
        json.dump(counts, file)
"""


def samples(python: str, arguments: tuple[str, ...]) -> Counter[str]:
    """Folder of kernelinfo, `import` or `other` -> samples."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "counts.json")
        while counts.total() < LEAST:
            command = [python, "-c", _SAMPLER, str(kept), *arguments]
            subprocess.run(command, cwd=folder, capture_output=True, check=True)
            counts.update(json.loads(kept.read_text()))
    return counts


def row(shown: str, counts: Counter[str]) -> str:
    """The line of a command in the table."""
    parts = [sum(counts[room] for room in rooms) for rooms in COLUMNS.values()]
    shares = (100 * part / counts.total() for part in (*parts, counts.total() - sum(parts)))
    return "| " + " | ".join([f"`{shown}`", *(f"{share:.0f} %" for share in shares)]) + " |"


def main() -> None:
    with started(__doc__) as options:
        commands = {goal.shown: goal.arguments for goal in goals(options.folder)}
        columns = f"| command | {' | '.join([*COLUMNS, 'other'])} |"
        rows = (
            row(shown, samples(options.python, arguments))
            for shown, arguments in commands.items()
            if is_asked(options, shown)
        )
        show(options, columns, rows)


if __name__ == "__main__":
    main()
