"""Commands and compilers that run between two looks; sources that are compiled at each save."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import IO

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, conclusions, run
from kernelinfo.analysis.options import Options
from kernelinfo.compile import Settings
from kernelinfo.compile.ir import Compiled
from kernelinfo.compile.processes import Processes
from kernelinfo.compile.sources import compile_sources
from kernelinfo.watch import looks
from kernelinfo.watch.files import Stamp, rested, stamp_of
from kernelinfo.watch.messages import say

# The user's own command, which builds when a source changes.

_KEPT = 1 << 16
"""Bytes of a command's last output that are kept."""
_GRACE = 1.0
"""Seconds that a command has to end its own children, as ninja does, before it is killed."""
_PAUSE = 0.01
"""Seconds between two looks whether the group has ended."""


class RunningCommand:
    """A command of the shell in a group of its own."""

    def __init__(self, command: str) -> None:
        self.began = time.monotonic()  # in seconds
        self._output = b""
        # The user typed it on the command line; nothing in a file adds to it.
        self._process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout,), daemon=True
        )
        self._reader.start()

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):  # closed by `end`
            while piece := os.read(stream.fileno(), _KEPT):
                self._output = (self._output + piece)[-_KEPT:]

    def wait(self, seconds: float) -> bool:
        """True if the command ended within the given time."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is not None

    def failure(self) -> str:
        """Last output of a command that failed, and its exit code; empty if it worked."""
        code = self._process.returncode
        if not code:
            return ""
        self._reader.join(_GRACE)  # a child in the background may hold the pipe
        output = self._output.decode("utf-8", "replace").rstrip()
        ended = (
            say("command-killed", signal=-code) if code < 0 else say("command-exit-code", code=code)
        )
        return f"{output}\n{ended}" if output else ended

    def end(self) -> None:
        """End the command and its process group: first with a request, after a second by force.

        If the command ended by itself, only its pipe is closed, so that a build server that it
        started keeps running.
        """
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            end = time.monotonic() + _GRACE
            while self._has_group() and time.monotonic() < end:
                time.sleep(_PAUSE)
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            self._process.wait()
        assert self._process.stdout is not None
        self._reader.join(_GRACE)
        if not self._reader.is_alive():
            self._process.stdout.close()

    def _has_group(self) -> bool:
        """True while a process of the group runs. The first one, a shell, may end before ninja has
        ended its children."""
        if self._process.poll() is None or not hasattr(os, "killpg"):  # Windows has no groups
            return self._process.returncode is None
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # macOS, of a group that has ended
            return self._process.returncode is None
        return True

    def _signal(self, number: int) -> None:
        """Send a signal to the group."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            else:  # Windows
                self._process.terminate()


_SECONDS = 600
"""Time limit of one compilation. Kernels of many templates take minutes."""
_GONE = 1.0
"""Seconds that a file must be gone to count as changed: until then it may be in the middle of a
save, which renames files."""


class WatchedSources:
    """Sources, each compiled when it or one of its headers is saved.

    A save while the compiler runs ends it, and it starts again.
    """

    def __init__(self, paths: Sequence[str], settings: Settings, options: Options) -> None:
        self.options = options  # with the assembly of the compiled sources
        self._pool = ThreadPoolExecutor(1)
        self._processes = Processes(_SECONDS)  # those of the compilation that began last
        self._compiled: Future[tuple[Compiled, ...]] | None = None  # None if none runs
        self._began, self._began_at = 0.0, 0
        """When the compiler was started: in seconds of a monotonic clock, and in ns since 1970."""
        self._paths = tuple(paths)
        self._settings = settings
        self._history = looks.LookHistory()
        self._readings: looks.FileReadings = {}
        self._dependencies: dict[str, tuple[str, ...]] = {path: (path,) for path in paths}
        """Source -> the source and its headers, as the compiler listed them."""
        self._seen: dict[str, Stamp | None] = {}
        """Stamps of all sources and headers when the compiler was started."""
        self._gone: dict[str, float] = {}
        """File that is gone since the compiler was started -> when that was first seen."""
        self._due: tuple[str, ...] = self._paths
        """Sources that are being compiled, or that failed."""
        self._runs = 0

    def step(self) -> looks.Event | None:
        """The next event; None if nothing is new."""
        now = self._stamps()
        self._gone = {
            path: self._gone.get(path, time.monotonic())
            for path, stamp in now.items()
            if stamp is None and self._seen.get(path)
        }
        changed = [path for path in self._paths if self._runs and self._has_changed(path, now)]
        if changed or not self._runs:
            return self._start(changed)
        if self._compiled is None or not self._compiled.done():
            return None
        compiled, self._compiled = self._compiled.result(), None
        return self._look(compiled, time.monotonic() - self._began)

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds`, or until the compiler ends; True if it has ended."""
        if self._compiled is None:
            time.sleep(seconds)
            return False
        return bool(wait([self._compiled], seconds).done)

    def end(self) -> None:
        """Kill the compilers and their groups."""
        if self._compiled is not None:
            self._processes.end()
            wait([self._compiled])

    def _stamps(self) -> dict[str, Stamp | None]:
        paths = dict.fromkeys(path for files in self._dependencies.values() for path in files)
        return {path: stamp_of(path) for path in paths}

    def _has_changed(self, source: str, now: dict[str, Stamp | None]) -> bool:
        """True if the stamp of the source or a header has changed, or if either has been missing
        for a second."""
        files = self._dependencies[source]
        long_ago = time.monotonic() - _GONE
        return any(
            self._gone.get(path, math.inf) < long_ago
            if now[path] is None
            else now[path] != self._seen.get(path)
            for path in files
        )

    def _start(self, changed: Sequence[str]) -> str:
        """Start the compiler once the sources stop changing: a save may take several steps."""
        self.end()
        self._due = tuple(path for path in self._paths if path in {*self._due, *changed})
        absent = {path for path, stamp in self._seen.items() if stamp is None}
        self._seen = rested(self._stamps, absent=absent)
        self._runs += 1
        self._processes = Processes(_SECONDS)
        self._began, self._began_at = time.monotonic(), time.time_ns()
        self._compiled = self._pool.submit(_compile, self._due, self._settings, self._processes)
        return self._command

    @property
    def _command(self) -> str:
        targets = ", ".join(self._settings.targets)
        return f"{' '.join(self._due)}" + (f" for {targets}" if targets else "")

    def _look(self, compiled: Sequence[Compiled], seconds: float) -> looks.WatchLook:
        """The look after the compiler has ended; if a source failed, with all messages."""
        for path in self._due:
            assemblies = [source for source in compiled if source.path == path]
            # After a failure the list may lack headers.
            has_failed = any(source.error for source in assemblies)
            before = self._dependencies[path] if has_failed else (path,)
            listed = (file for source in assemblies for file in source.dependencies)
            self._dependencies[path] = tuple(dict.fromkeys((*before, *listed)))
        # A header that was saved since the compiler began, and that it had not listed, is changed.
        stamps = self._stamps().items()
        self._seen = {
            path: None if stamp and stamp.modified > self._began_at else stamp
            for path, stamp in stamps
        } | self._seen
        command = self._command
        if failure := _failure(compiled):
            return self._history.failed(failure, command, seconds)
        unchanged = tuple(
            source for source in self.options.compiled if source.path not in self._due
        )
        self.options = self.options._replace(compiled=(*unchanged, *compiled))
        self._readings = self._readings | {path: self._read(path) for path in self._due}
        self._due = ()
        problems = looks.nothing_chosen(self._readings, self._paths, self.options)
        return self._history.look(self._readings, problems, command, seconds)

    def _read(self, path: str) -> looks.FileReading:
        events = [(path, Events())]
        items = [*run(events, Analysis(self.options, [path]).results, self.options)]
        # The chosen kernels may be in another source.
        items += conclusions(events, self.options, required=not self._paths[1:])
        return looks.FileReading.of(items, events[0][1])


def _compile(
    paths: Sequence[str], settings: Settings, processes: Processes
) -> tuple[Compiled, ...]:
    with processes:
        return compile_sources(paths, settings, processes)


def _failure(compiled: Sequence[Compiled]) -> str:
    """The compiler's messages and what failed; empty if everything compiled."""
    failed = [source for source in compiled if source.error is not None]
    texts = [text for source in failed for text in (source.messages.rstrip(), source.error) if text]
    return "\n".join(dict.fromkeys(texts))
