"""How many branches of the readers what is tried here takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

READERS = ["kernelinfo.reading"]


def branches_reached(corpus: Path) -> str:
    """The share in words, as a process of its own measures it: imports take branches, too."""
    command = [sys.executable, "-m", "tests.robustness.reach", str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Show what is not reached, and say the share on the last line."""
    import coverage

    measured = coverage.Coverage(branch=True, source=READERS, data_file=None)
    measured.start()
    from ..conftest import FIXTURES
    from ..fuzz.promise import answer
    from ..fuzz.readers import READERS as FUZZED
    from ..fuzz.test_mutations import REGRESSIONS, SPECIMENS

    inputs = list(SPECIMENS.values())
    inputs += [path.read_bytes() for path in sorted(REGRESSIONS.iterdir())]
    for folder in ("assembly", "code_object", "container", "broken"):
        inputs += [path.read_bytes() for path in sorted((FIXTURES / folder).iterdir())]
    for data in inputs:
        answer(data, show=False)
    for name, reader in FUZZED.items():
        found = [path.read_bytes() for path in sorted(Path(sys.argv[1], name).glob("*"))]
        for data in (*reader.seeds, *found):
            with suppress(AssertionError):  # too slow, while it is measured
                reader.read(data)
    measured.stop()
    measured.report(show_missing=True, skip_covered=True)
    with tempfile.NamedTemporaryFile() as report:
        measured.json_report(outfile=report.name)
        total = json.loads(Path(report.name).read_text("utf-8"))["totals"]
    share = total["covered_branches"] / total["num_branches"]
    print(f"{share:.1%} of the readers' {total['num_branches']} branches taken")


if __name__ == "__main__":
    main()
