"""A signal that does not interrupt a wait ends the command all the same.

The system may give it to another thread, or it comes between the last step of the main thread and
the wait. Here another thread gets it once the main thread waits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..lifeline import Lifeline
from ..sweep.compilers import script

pytestmark = pytest.mark.skipif(os.name != "posix", reason="compilers of these tests are scripts")

PROGRAM = """
import signal, sys, threading, time
from kernelinfo import waiting

sys.setswitchinterval(1000)  # the sender runs only when the main thread waits
number, waits = int(sys.argv.pop(1)), threading.Lock()
real = waiting.wait_in_turns

def send():
    waits.acquire()
    signal.pthread_kill(threading.get_ident(), number)

def entered(wait, seconds=waiting.inf):
    waits.acquire(blocking=False)
    threading.Thread(target=send, daemon=True).start()

    def begin(seconds):
        if waits.locked():
            waits.release()
        return wait(seconds)

    return real(begin, seconds)

{patch}
from kernelinfo.__main__ import main
for module in list(sys.modules.values()):
    if module.__name__ != "__main__" and getattr(module, "wait_in_turns", None) is real:
        module.wait_in_turns = entered
main()
"""
HANGS = """
from kernelinfo.analysis import parallel
parallel.ReadWorker.work = lambda self, task: time.sleep(1000)
"""
ASSEMBLY = str(FIXTURES / "assembly" / "occupancy-clang22-gfx90a.s")
IR = 'target triple = "amdgcn-amd-amdhsa"\ndefine amdgpu_kernel void @k() { ret void }\n'


@pytest.mark.parametrize(
    ("number", "patch", "command", "code"),
    [
        (1, "", ["sweep", "k.ll", "--compiler", "./slow"], 129),
        (2, "", ["sweep", "k.ll", "--compiler", "./slow"], 130),
        (15, "", ["sweep", "k.ll", "--compiler", "./slow"], 143),
        (2, "", ["report", "k.hip", "--arch", "gfx90a", "--compiler", "./slow"], 130),
        (2, HANGS, ["report", str(FIXTURES / "code_object"), "--jobs", "2"], 130),
        # Ctrl-C is the way to end a watch.
        (2, "", ["watch", "k.hip", "--arch", "gfx90a", "--compiler", "./slow"], 0),
        (2, "", ["watch", ASSEMBLY, "--format", "jsonl"], 0),
        (2, "", ["watch", ASSEMBLY, "--run", "./slow"], 0),
    ],
    ids=lambda value: " ".join(value[::3])[-20:] if isinstance(value, list) else "",
)
def test_a_signal_ends_each_wait(
    number: int, patch: str, command: list[str], code: int, tmp_path: Path
) -> None:
    line = Lifeline(tmp_path / "line")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "k.ll").write_text(IR)
    (tmp_path / "k.hip").write_text("__attribute__((global)) void k() {}\n")
    script(tmp_path / "slow", f"{line.shell}; sleep 1000 & wait")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(patch=patch), str(number), *command],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(FIXTURES.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code
    assert not list((tmp_path / "tmp").iterdir())
    line.ended()


def test_a_signal_after_the_end_says_nothing() -> None:
    """A handler that raises while the interpreter clears up prints a traceback."""
    program = (
        "import atexit, os, signal\n"
        "from kernelinfo.__main__ import main\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "main()\n"
    )
    words = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(words, cwd=FIXTURES.parent, capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", -2)


LOST = """
import os, signal, time, weakref
from kernelinfo import cli
from kernelinfo.__main__ import main

class Lock: pass

def lose(reference):
    os.kill(os.getpid(), signal.SIGINT)
    return [number for number in range(9)]

def wait():
    lock = Lock()
    reference = weakref.ref(lock, lose)
    del lock
    time.sleep(1000)

cli.app = wait
main()
"""


def test_an_exit_that_a_callback_of_the_interpreter_loses_comes_again() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


HOOKED = """
import sys
from kernelinfo import cli
from kernelinfo.__main__ import main

class Damaged:
    def __del__(self): raise ValueError("lost")

def hook(lost): print(lost.exc_value)

sys.unraisablehook, cli.app = hook, Damaged
main()
print(sys.unraisablehook is hook)
"""


def test_a_program_that_calls_the_command_keeps_its_hook_for_lost_exceptions() -> None:
    done = subprocess.run([sys.executable, "-c", HOOKED], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("lost\nTrue\n", "")
