"""Results of opening an input: blobs of code, problems, notes, and references to other files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kernelinfo.errors import Message
from kernelinfo.reading.budget import BY_DEFAULT, UNBOUNDED, Bounds, FileBudget, KernelBudget
from kernelinfo.reading.data import Data
from kernelinfo.reading.facts import CodeKind, Numbers
from kernelinfo.reading.messages import in_file, say


class Blob(NamedTuple):
    """One code object, assembly text or build log, and its place in the input."""

    path: str
    data: Data
    budget: FileBudget
    """Shared by all blobs of the outermost file."""
    containers: tuple[str, ...] = ()
    """Kinds of the containers around the bytes, outermost first: `("fatbin",)`."""
    member: str | None = None
    """Name inside the container: a bundle entry's id, an archive member."""
    offset: int | None = 0
    """Bytes from the start of the outermost file; None inside compressed data."""
    launch: Numbers | None = None
    """Numbers that the container states of its one kernel's launch; None if it states none."""
    sidecar: Mapping[str, Any] | None = None
    """Triton's metadata, from a caller who has it; None to read the JSON next to the file."""
    is_one_of_many: bool = False
    """True for a member of a container that mostly holds other things than AMD GPU code."""
    kind: CodeKind | None = None
    """None for data of a kind that is not told yet: an outermost file, a member of a container."""
    bounds: Bounds = BY_DEFAULT
    """Limits on the bytes, entries and kernels to read."""
    kernels: KernelBudget = UNBOUNDED
    """Shared by all blobs of the outermost file."""
    command: tuple[str, ...] | None = None
    """The command that compiled the source at `path` to this text."""


class Elsewhere(NamedTuple):
    """A host file with its device code in kpack archives."""

    blob: Blob
    search_paths: tuple[str, ...]
    """Relative to the file's folder."""
    name: str
    """The file's name in the archives."""
    units: tuple[int, ...] | None
    """Numbers of the file's compilation units; None if not known.

    The archives hold one code object for each unit and target.
    """

    def binary(self, unit: int) -> str:
        """Name of a unit in the archives: `NAME#UNIT`."""
        return f"{self.name}#{unit}"


class Note(NamedTuple):
    """A warning about an input that was read; a report shows it once for all inputs of a path."""

    path: str
    message: Message
    member: str | None = None

    @property
    def code(self) -> str:
        """Kind of the note, which stays as sentences change: `data-not-searched`."""
        return self.message.code


class Problem(NamedTuple):
    """An input, or a part of one, that could not be read, with the reason and the mend."""

    path: str  # the file as it was named
    message: Message  # what was found; what to do
    member: str | None = None  # name inside the container
    offset: int | None = None  # bytes from the start of the outermost file
    line: int | None = None  # 1-based line of assembly text

    @property
    def code(self) -> str:
        """Kind of the problem, which stays as sentences change: `zip-damaged`."""
        return self.message.code

    @property
    def located(self) -> Message:
        """The message behind its path, for an error."""
        return in_file(self.path, self.message)


class Missing(NamedTuple):
    """A host file that refers to kpack archives, none of which was found."""

    path: str
    member: str | None
    archives: str  # names as the file spells them
    place: str  # where they were sought: `here`, `in this file`

    @staticmethod
    def problem(hosts: Sequence[Missing]) -> Problem:
        """One problem for all such host files of a path."""
        first, *others = hosts
        more = say("kpack-and-for-more", count=len(others)) if others else ""
        message = say("kpack-missing", archives=first.archives, place=first.place, more=more)
        return Problem(first.path, message, first.member)


class Again(NamedTuple):
    """A file that the run reads once already: under another name, or as the log of a database."""

    path: str


class SpirV(NamedTuple):
    """An entry with SPIR-V, which is compiled when it is loaded: it has no registers yet."""

    path: str
    member: str | None


Found = Blob | Problem | Elsewhere | Missing | Note | Again | SpirV
"""One result of opening an input.

`Blob`: code. `Problem`: unreadable. `Elsewhere`: a host file with its code in an archive of this
run. `Missing`: a host file without its archive. `Note`: a warning. `Again`: nothing new. `SpirV`:
code for later.
"""
