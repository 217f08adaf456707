"""An audit of what kernelinfo writes and starts while its tests run in process.

Python tells an audit hook of each file opened, renamed or deleted, each program started and each
socket (PEP 578, and "Audit events table" of Python's library reference). The nearest frame of
kernelinfo or of its tests did it. What a module of kernelinfo does has to stand in the table of
CONTRIBUTING; else the test fails. The hook sees neither into started programs nor into DuckDB.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

TESTS = str(Path(__file__).parent)
PACKAGE = str(Path(__file__).parent.parent / "kernelinfo")
TABLE = Path(__file__).parent.parent / ".github" / "CONTRIBUTING.md"

ACTS = {
    "open": "write",
    "os.truncate": "write",
    "sqlite3.connect": "database",
    "os.rename": "rename",
    "os.link": "link",
    "os.symlink": "link",
    "os.remove": "delete",
    "os.rmdir": "delete",
    "os.mkdir": "folder",
    "os.chmod": "mode",
    "os.chown": "mode",
    "os.utime": "mode",
    "subprocess.Popen": "start",
    "os.system": "start",
    "os.exec": "start",
    "os.fork": "start",
    "os.forkpty": "start",
    "os.posix_spawn": "start",
    "os.spawn": "start",
    "socket.__new__": "socket",
    "socket.connect": "socket",
    "socket.bind": "socket",
    "socket.getaddrinfo": "socket",
}
"""Audit event -> what the table calls it. An `open` counts if it may write, and is no pipe's."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

Act = tuple[str, str]
"""A module, and what it does: `("atomic_write", "rename")`."""


def allowed(text: str) -> frozenset[Act]:
    """The acts that the table in a page allows."""
    _, _, rest = text.partition("<!-- audit -->")
    rows = re.findall(
        r"^\| `([\w.]+)` \| ([a-z, ]+) \|", rest.partition("<!-- /audit -->")[0], re.M
    )
    return frozenset((module, act) for module, acts in rows for act in acts.split(", "))


def actor(frame: FrameType | None) -> str | None:
    """The module of kernelinfo whose frame is nearest; None if a test's is, or an import's."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            return file[len(PACKAGE) + 1 :].removesuffix(".py").replace(os.sep, ".")
        if file.startswith((TESTS, "<frozen importlib")):
            return None
        frame = frame.f_back
    return None


class Audit:
    """A plugin of pytest that fails a test for an act that is not allowed."""

    def __init__(self) -> None:
        self._allowed = allowed(TABLE.read_text("utf-8"))
        self._process = os.getpid()
        self._others = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        """Forbidden acts of forked processes too, a line each."""
        self._told = 0
        self.seen = Counter[Act]()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, values: tuple[Any, ...]) -> None:
        act = ACTS.get(event)
        if act is None or (event == "open" and not values[2] & _WRITING):
            return
        if act == "write" and (isinstance(values[0], int) or values[0] == os.devnull):
            return
        module = actor(sys._getframe(1))
        if module is None:
            return
        self.seen[module, act] += 1
        if (module, act) not in self._allowed:
            os.write(self._others.fileno(), f"{module}: {act} {values[:1]!r}\n".encode())

    def forbidden(self) -> str:
        """The acts since the last call that the table does not allow, a line each."""
        size = os.fstat(self._others.fileno()).st_size
        lines = os.pread(self._others.fileno(), size - self._told, self._told).decode()
        self._told = size
        return lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        yield
        if lines := self.forbidden():
            pytest.fail(f"not in the table of {TABLE.name}:\n{lines}", pytrace=False)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (answers := getattr(session.config, "workeroutput", None)) is not None:
            answers["audit"] = [[*act, count] for act, count in self.seen.items()]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        for module, act, count in getattr(node, "workeroutput", {}).get("audit", ()):
            self.seen[module, act] += count

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        modules = {module for module, _ in self.seen}
        acts = Counter[str]()
        for (_, act), count in self.seen.items():
            acts[act] += count
        told = ", ".join(f"{count} {act}" for act, count in acts.most_common())
        terminalreporter.write_line(
            f"audit: {acts.total()} acts of {len(modules)} modules of kernelinfo: {told}"
        )
        if terminalreporter.config.get_verbosity() > 0:
            for (module, act), count in sorted(self.seen.items()):
                terminalreporter.write_line(f"  {module}: {act} {count}")
