"""The user's own command, which builds when a source changes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO

from kernelinfo.watch.messages import say

_KEPT = 1 << 16
"""Bytes of a command's last output that are kept."""
_GRACE = 1.0
"""Seconds that a command has to end its own children, as ninja does, before it is killed."""
_PAUSE = 0.01
"""Seconds between two looks whether the group has ended."""


class RunningCommand:
    """A command of the shell in a group of its own."""

    def __init__(self, command: str) -> None:
        self.began = time.monotonic()
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
        """True if the command ended within this time."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is not None

    def failure(self) -> str:
        """Last output of a command that failed, and its exit code; empty if it worked."""
        code = self._process.returncode
        if not code:
            return ""
        self._reader.join(_GRACE)  # a child in the background may hold the pipe
        told = self._output.decode("utf-8", "replace").rstrip()
        ended = (
            say("command-killed", signal=-code) if code < 0 else say("command-exit-code", code=code)
        )
        return f"{told}\n{ended}" if told else ended

    def end(self) -> None:
        """End the command and its group: first by a request, after a second for good.

        If the command ended by itself, only its pipe is closed: a build server that it left
        behind goes on.
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
        """True while a process of the group runs. Its first, a shell, may end before ninja has
        ended its own children."""
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
