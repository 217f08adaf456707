"""Demangles, in a child process, names that could take all memory. As a script, it is the child.

Few real names come here; names of a sorting library repeat their parts some forty times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from select import select

import pycxxfilt

if sys.platform != "win32":
    import resource

_SECONDS = 2
_MEMORY_BYTES = 256 << 20
_MOST_LOST = 3  # after so many names over the limits no more names are tried

_lost: list[str] = []


def demangle_apart(symbol: str) -> str | None:
    """The C++ name; None if the symbol is not a C++ name, or takes too much time or memory."""
    if len(_lost) >= _MOST_LOST:
        return None
    try:
        worker = _worker(os.getpid())
    except OSError:
        return None
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(symbol.encode("utf-8", "surrogatepass").hex() + "\n")
    worker.stdin.flush()
    if select([worker.stdout], [], [], _SECONDS)[0] and (line := worker.stdout.readline()):
        return bytes.fromhex(line).decode() or None
    _lost.append(symbol)
    _worker.cache_clear()
    with worker:
        worker.kill()
    return None


@cache
def _worker(process: int) -> subprocess.Popen[str]:
    """The child that demangles, one for each `process`: after a fork, two processes would otherwise
    share its answers."""
    # -P: the child imports nothing from the user's current folder.
    command = [sys.executable, "-P", __file__]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def _work() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    for line in sys.stdin:
        try:
            name = pycxxfilt.demangle(bytes.fromhex(line).decode()) or ""
        except ValueError:
            name = ""
        print(name.encode().hex(), flush=True)


if __name__ == "__main__":
    _work()
