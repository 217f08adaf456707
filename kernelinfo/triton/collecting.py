"""Reports of all that Triton compiles for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kernelinfo.kernel.report import Report
from kernelinfo.opening import open_regular
from kernelinfo.reading.blob import Problem
from kernelinfo.triton.compiled import TritonCode, code_path, report_of, require_triton, stated_of
from kernelinfo.triton.messages import say

_Listener = Callable[..., Any]


class Collected:
    """The kernels that Triton compiled or found in its cache since `collect` began."""

    def __init__(self) -> None:
        self._codes: dict[str, TritonCode] = {}
        self._unread: list[Problem] = []

    @property
    def report(self) -> Report:
        """The kernels until now, each compilation once, in the order in which they were asked for.

        `problems` has the code objects that could not be read."""
        found = report_of(list(self._codes.values()))
        return Report(found.results, (*self._unread, *found.problems))

    def add(self, compilation: dict[str, Any]) -> None:
        """Keep the code object of one call of the listener; no other vendor's."""
        path = code_path(compilation["metadata_group"])
        if path is None or path in self._codes:
            return
        try:
            with open_regular(path) as file:
                code = file.read()
        except OSError as error:
            unread = say("compiled-unreadable", error=str(error.strerror).lower())
            self._unread.append(Problem(path, unread))
            return
        stated = stated_of(compilation["metadata"], compilation["src"])
        self._codes[path] = TritonCode(path, code, stated)


@contextmanager
def collect() -> Iterator[Collected]:
    """The kernels that Triton compiles in the `with` block, cached ones too, as `Collected`.

    It sets `triton.knobs.compilation.listener`, calls the listener that was there before as Triton
    would, and puts it back. A kernel that this process compiled before is not asked for again, so
    Triton does not tell of it. Raises `KernelinfoError` without Triton 3.4 or newer.
    """
    knobs = require_triton().knobs.compilation
    collected, earlier = Collected(), knobs.listener
    listener = knobs.listener = _listener(collected, earlier)
    try:
        yield collected
    finally:
        if knobs.listener is listener:  # else another one was set, which may call ours
            knobs.listener = earlier


def _listener(collected: Collected, earlier: _Listener | None) -> _Listener:
    def listen(**compilation: Any) -> Any:
        collected.add(compilation)
        return earlier(**compilation) if earlier else None

    return listen
