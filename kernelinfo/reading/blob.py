"""Bytes that hold code, where they lie, and what could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kernelinfo.reading.budget import BY_DEFAULT, UNBOUNDED, Bounds, FileBudget, KernelBudget
from kernelinfo.reading.data import Data


class Launch(NamedTuple):
    """What a container states of the launch of its one kernel."""

    lds_bytes: int | None
    """Of a workgroup, all of it sized at launch; None where it is, but not known to what."""
    workgroup_size: int | None
    """Workitems."""
    asked_waves: int | None = None
    """Waves per SIMD that the source asked the compiler for."""


class Blob(NamedTuple):
    """Bytes that hold one code object or one assembly text, and where they lie."""

    path: str
    data: Data
    budget: FileBudget
    """Of the outermost file."""
    containers: tuple[str, ...] = ()
    """What the bytes were wrapped in, outermost first: `("fatbin",)`."""
    member: str | None = None
    """Name inside the container: a bundle entry's id, an archive member."""
    offset: int | None = 0
    """Bytes from the start of the outermost file; None inside compressed data."""
    launch: Launch | None = None
    """None where the container states nothing of it."""
    is_one_of_many: bool = False
    """Whether it is a member of a container most of whose members are not for AMD GPUs."""
    is_build_log: bool = False
    """Whether it is the output of compilers, or their optimization record."""
    bounds: Bounds = BY_DEFAULT
    """How much of it may be read."""
    kernels: KernelBudget = UNBOUNDED
    """Of the outermost file."""


class Elsewhere(NamedTuple):
    """A host file whose device code is in kpack archives."""

    blob: Blob
    search_paths: tuple[str, ...]
    """Relative to the file's folder."""
    name: str
    """The file's name in the archives."""
    units: tuple[int, ...] | None
    """Of the file, each with a code object for every target; None where that is not known."""

    def binary(self, unit: int) -> str:
        """The name of a unit in the archives."""
        return f"{self.name}#{unit}"


class Note(NamedTuple):
    """A warning about an input that was read; reported once for all inputs of a path."""

    path: str
    message: str
    member: str | None = None


class Problem(NamedTuple):
    """Something that could not be read, or read only in part."""

    path: str
    message: str
    member: str | None = None
    offset: int | None = None
    line: int | None = None


class Missing(NamedTuple):
    """A host file whose device code is in kpack archives that are not there."""

    path: str
    member: str | None
    archives: str  # as the file refers to them
    place: str  # where they are not: `here`, `in this file`

    @staticmethod
    def problem(hosts: Sequence[Missing]) -> Problem:
        """The one problem of all such host files of a path."""
        first, *others = hosts
        message = (
            f"its device code is in {first.archives}, which is not {first.place}; "
            "install the device package of your target, or give the archive"
        )
        so = f" (so of {len(others)} more)" if others else ""
        return Problem(first.path, message + so, first.member)


Found = Blob | Problem | Elsewhere | Missing | Note
"""What comes out of an input: code, what could not be read, a host file whose code this run reads
from another input, one whose code is not there, and what is worth knowing."""
