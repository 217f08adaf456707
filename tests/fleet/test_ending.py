"""A scan listens to nobody, and leaves nothing behind, whatever ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import require
from ..lifeline import Lifeline
from .scans import comparable, descendants, many_objects, process, reported, rows, scan

require("duckdb")

TABLES = ("tcp", "tcp6", "udp", "udp6", "unix")
EXITING = 4
"""Flag of a process that ends or is a zombie; PF_EXITING of Linux, include/linux/sched.h."""


def sockets(pid: int) -> list[str]:
    """The sockets that a process has open."""
    found = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(file))
        except OSError:
            continue  # closed meanwhile
    return [name for name in found if name.startswith("socket:")]


def test_no_process_of_a_scan_has_a_socket(tmp_path: Path) -> None:
    folder = many_objects(tmp_path / "objects", 3000)
    command = ("scan", folder, "--to", tmp_path / "fleet", "--build", "b", "--workers", 2)
    most = 0
    with process("-m", "kernelinfo", *command) as running:
        while running.poll() is None:
            workers = descendants(running.pid)
            most = max(most, len(workers))
            for pid in (running.pid, *workers):
                try:
                    assert sockets(pid) == []
                except OSError:
                    continue  # ended meanwhile
            time.sleep(0.05)
    assert running.returncode == 0
    assert most == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_finds_nothing_to_talk_to(tmp_path: Path) -> None:
    """A network namespace shows the sockets of the scan alone, of any kind."""
    if subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system makes no network namespaces")
    folder = many_objects(tmp_path / "objects", 3000)
    command = ["scan", folder, "--to", tmp_path / "fleet", "--build", "b", "--workers", "2"]
    program = [sys.executable, "-m", "kernelinfo", *map(str, command)]
    seen = 0
    with subprocess.Popen(["unshare", "-n", *program], stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            # With `nobody` as user, in the namespace of the scan.
            enter = ["nsenter", f"--net=/proc/{running.pid}/ns/net", "setpriv", "--reuid=65534"]
            files = [f"/proc/net/{table}" for table in TABLES]
            look = [*enter, "--regid=65534", "--clear-groups", "grep", "-c", "", *files]
            has_workers = len(descendants(running.pid)) > 1
            looked = subprocess.run(look, capture_output=True, text=True, check=False)
            if looked.returncode == 0 and has_workers and running.poll() is None:
                seen += 1
                assert looked.stdout.split() == [f"{file}:1" for file in files]  # the headings
            time.sleep(0.05)
    assert running.returncode == 0
    assert seen > 3


PROGRAM = """
import os, sys, time
from kernelinfo.__main__ import main
from kernelinfo.analysis import Analysis
from kernelinfo.fleet.dataset import Dataset

line = os.open(sys.argv.pop(1), os.O_WRONLY)  # its workers have it, too

def stop_after(owner, name):
    do = getattr(owner, name)

    def work(*arguments, **named):
        do(*arguments, **named)
        os.write(line, b".")
        time.sleep(1000)

    setattr(owner, name, work)

{stop}
main()
"""


@pytest.mark.parametrize("number", ["SIGHUP", "SIGTERM", "SIGINT", "SIGKILL"])
@pytest.mark.parametrize(
    "stop",
    [
        'stop_after(Dataset, "write_manifest")',
        'stop_after(Analysis, "results")',
        'stop_after(Dataset, "write_part")',
    ],
    ids=["the list of files", "a file", "a part"],
)
def test_an_ended_scan_leaves_nothing(stop: str, number: str, tmp_path: Path) -> None:
    folder = many_objects(tmp_path / "objects", 40)
    line = Lifeline(tmp_path / "line")
    end_scan(number, line, line.begun, folder, tmp_path / "scan", reported(folder), stop=stop)


def end_scan(
    number: str,
    line: Lifeline,
    wait: Callable[[], object],
    folder: Path,
    place: Path,
    expected: list[str],
    *,
    group: bool = False,
    stop: str = "",
) -> None:
    """End a scan after a wait, by a signal to it or to its workers too; scan again.

    `stop` is a line of `PROGRAM`."""
    fleet, temporary = place / "fleet", place / "temporary"
    temporary.mkdir(parents=True)
    command = [line.path, "scan", folder, "--to", fleet, "--build", "b", "--workers", 2]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(stop=stop), *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
    ) as running:
        wait()
        (os.killpg if group else os.kill)(running.pid, signal.Signals[number])
        _, err = running.communicate()
    assert "Traceback" not in err, err
    line.ended()
    assert session(running.pid) == []
    if number != "SIGKILL" and running.returncode == 128 + signal.Signals[number]:
        assert list(temporary.iterdir()) == []
    scan(folder, to=fleet)
    assert comparable(rows(fleet)) == expected
    assert [one for one in fleet.rglob("*") if one.is_file() and one.suffix != ".parquet"] == []
    shutil.rmtree(place)


def session(leader: int) -> list[int]:
    """The processes of a session that live; one that ends closes its files before it is gone."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and not int(fields[6]) & EXITING:
            found.append(int(status.parent.name))
    return found
