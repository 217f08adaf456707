"""Sweeps ended by a signal at a random moment leave no compiler and no partial file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

ENDING = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
KERNEL = """
extern "C" __global__ void crowded(double *p, int n) {
  double v[48];
  for (int i = 0; i < 48; i++) v[i] = p[i * n];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i * 7 + 1) % 48] + p[j];
  for (int i = 0; i < 48; i++) p[i * n] = v[i];
}
"""
_TIMEOUT = 5  # seconds per compiler; the CPU limit is one second more
_PATIENCE = 120  # seconds that a busy machine may take for one compiler


def alive(folder: Path) -> list[str]:
    """Commands running with a temporary folder inside `folder`. Only Linux can tell."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):  # ended meanwhile, or belongs to another user
            if process.name.isdigit() and bytes(folder) in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def start(bitcode: str, compiler: str, folder: Path) -> subprocess.Popen[bytes]:
    """A running sweep that writes `folder/out/sweep.json`. Its temporary folder is `folder/tmp`."""
    (folder / "tmp").mkdir(parents=True)
    (folder / "out").mkdir()
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "kernelinfo", "sweep", bitcode, "--compiler", compiler),
            *("--timeout", str(_TIMEOUT), "--format", "json"),
            *("-o", str(folder / "out" / "sweep.json")),
        ],
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def trial(
    bitcode: str, compiler: str, number: signal.Signals, delay: float, folder: Path
) -> list[str]:
    """Faults of a sweep that gets the signal after `delay` seconds."""
    process = start(bitcode, compiler, folder)
    time.sleep(delay)
    process.send_signal(number)
    process.communicate(timeout=_PATIENCE)
    faults = []
    until = time.monotonic() + (_PATIENCE if number == signal.SIGKILL else 0)
    while (running := alive(folder)) and time.monotonic() < until:
        time.sleep(0.2)
    faults += [f"lives on: {command}" for command in running]
    # At the start Python has no handlers yet; near the end the sweep may finish first.
    if process.returncode not in (0, -number, 128 + number):
        faults.append(f"exit code {process.returncode}")
    written = folder / "out" / "sweep.json"
    if written.exists():
        json.loads(written.read_text("utf-8"))
    if number != signal.SIGKILL:
        left = [*(folder / "tmp").iterdir(), *(folder / "out").glob("*.part")]
        faults += [f"left behind: {path.name}" for path in left]
    return [f"{number.name} after {delay:.2f} s: {fault}" for fault in faults]


def run(bitcode: str, compiler: str, times: int, random: Random, folder: Path) -> list[str]:
    """Faults of `times` trials of each signal, including SIGKILL."""
    began = time.monotonic()
    start(bitcode, compiler, folder / "whole").communicate()
    whole = time.monotonic() - began
    faults = []
    for count in range(times):
        for number in (*ENDING, signal.SIGKILL):
            where = folder / f"{number.name}-{count}"
            faults += trial(bitcode, compiler, number, random.uniform(0, whole), where)
    return faults
