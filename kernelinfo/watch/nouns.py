"""Records of a look, as renderers print them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from kernelinfo.analysis.inputs import Events
from kernelinfo.compare.changes import Effect, Move, Pair, effect
from kernelinfo.compare.summary import KernelSummary
from kernelinfo.kernel import Finding, Result
from kernelinfo.pressure.nouns import Peak
from kernelinfo.reading.blob import Problem
from kernelinfo.watch.files import Stamp


class FileReading(NamedTuple):
    """The kernels of one file as they were read once."""

    stamp: Stamp | None
    """None for a source: the compiler says what it was."""
    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    events: Events

    @classmethod
    def of(cls, items: Sequence[object], events: Events, stamp: Stamp | None = None) -> FileReading:
        """The reading of the items of an analysis."""
        results = tuple(item for item in items if isinstance(item, Result))
        problems = tuple(item for item in items if isinstance(item, Problem))
        return cls(stamp, results, problems, events)


class PeakLine(NamedTuple):
    """The peak of live vector registers, with the text of its source line."""

    peak: Peak
    exact: bool
    """False if the peak is a lower bound."""
    text: str
    """Text of the source line, or the instruction where no source line is known."""


class WatchedKernel(NamedTuple):
    """One kernel of a look, and what moved in it."""

    result: Result
    since_previous: Pair | None = None
    """What moved since the look before; None for the first look, a new kernel, and a file that was
    not read again."""
    since_first: Pair | None = None
    """What moved since the kernel was first seen; None if it is as it was."""
    is_new: bool = False
    """True for a kernel that the look before did not have; False in the first look."""
    new_findings: tuple[Finding, ...] = ()
    """Findings of rules without a finding in the look before."""
    ended_findings: tuple[Finding, ...] = ()
    """Findings of the look before, of rules without a finding now."""
    peak: PeakLine | None = None
    """None if it was not measured: the kernel did not change, or its code cannot be followed."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """Numbers that moved since the look before."""
        return self.since_previous.moves if self.since_previous else ()

    @property
    def status(self) -> Effect | Literal["new"]:
        """The effect of all moves since the look before."""
        return "new" if self.is_new else effect(self.moves)

    @property
    def has_changed(self) -> bool:
        """True for a new kernel, or if a number or a finding changed since the look before."""
        return self.status != "same" or bool(self.new_findings or self.ended_findings)


class WatchLook(NamedTuple):
    """One look at all files: each kernel and what moved in it, or the failure of a build."""

    number: int
    """1 for the first."""
    time: datetime
    """With the zone of this machine."""
    kernels: tuple[WatchedKernel, ...]
    """Changed kernels first, the worst before the others; then in the order of reading."""
    gone: tuple[KernelSummary, ...] = ()
    """Kernels of the look before that are not there now."""
    problems: tuple[Problem, ...] = ()  # parts that could not be read
    build: str = ""
    """The command that ran before the look; empty if somebody else builds."""
    seconds: float | None = None
    """Duration of the command; None without one."""
    failure: str = ""
    """Message of the command that failed: no kernel was read again. Empty if it worked."""
    is_first: bool = False
    """True for the first look that found files: it shows all kernels."""

    @property
    def changed(self) -> tuple[WatchedKernel, ...]:
        """Kernels that changed since the look before."""
        return tuple(kernel for kernel in self.kernels if kernel.has_changed)


class Began(NamedTuple):
    """A command or compiler that was started; a look follows when it ends."""

    command: str


Event = Began | WatchLook
