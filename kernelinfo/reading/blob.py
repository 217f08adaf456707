"""Results of opening an input: blobs of code, problems, notes, and references to other files."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kernelinfo.errors import BoundError, Message
from kernelinfo.reading.data import Data
from kernelinfo.reading.facts import CodeKind, Numbers
from kernelinfo.reading.messages import in_file, say

# Limits on the bytes, members and kernels read of one file; `--bound NAME=N` sets them.

_FREE_BYTES = 64 << 20
_FREE_BYTES_OF_ALL = 2 * _FREE_BYTES
_NESTED = 8
_BYTES_PER_KERNEL = 1 << 10
_BYTES_PER_MEMBER = 1 << 8
_STATEMENTS_PER_KERNEL = 20


class Bounds(NamedTuple):
    """Limits that an honest file might reach some day, and that a hostile file must not exceed."""

    nesting: int = 6
    """Most containers around one code object. A gzip of a tar of an archive of objects with
    compressed fat binaries has six."""
    entries: int = 4096
    """Most entries of one bundle or OffloadBinary; real ones have a few dozen."""
    ratio: int = 200
    """Most decompressed bytes per compressed byte, beyond the first 64 MiB of one member and the
    first 128 MiB of a file. Real bundles reach 42."""
    memory: int = 8 << 30
    """Most bytes in memory at once: of one decompressed member, or of one text in UTF-16."""
    carved: int = 64 << 20
    """Most bytes of an unknown file in a directory, or of an unknown archive member, to search for
    code objects. A file named on the command line is searched whole."""

    members: int = 100_000
    """Most members of all containers of one file, plus code headers that lead nowhere; or one for
    each 256 bytes of the file, if that is more."""
    kernels: int = 20_000
    """Most kernels of one file; or one for each KiB of code, if that is more.

    A library's kernel takes more than a KiB, a log's takes half, a hostile one takes a few bytes.
    Text may have as many unlinked functions and twenty times as many definitions.
    """

    fetch: int = 4 << 30
    """Most bytes of a remote file to fetch, if the server gives no parts of it."""

    def __repr__(self) -> str:
        """The limits that differ from the defaults: `Bounds(entries=9)`."""
        chosen = [f"{k}={v}" for k, v in self._asdict().items() if v != self._field_defaults[k]]
        return f"Bounds({', '.join(chosen)})"

    def too_many(self, entries: int) -> Message:
        """Message for a table of too many entries."""
        return say("entries-too-many", entries=entries, most=self.entries)

    def streamed_bytes(self, compressed: int) -> int:
        """Most bytes that a stream of `compressed` bytes may decompress to."""
        return max(_FREE_BYTES, self.ratio * compressed)

    def held_bytes(self, compressed: int, *, nested: bool = False) -> int:
        """The most bytes that `compressed` bytes may decompress to in memory at once.

        A `nested` stream, that is one inside compressed data, gets an eighth of `memory`, because
        nesting squares the ratio.
        """
        memory = self.memory // _NESTED if nested else self.memory
        return min(self.streamed_bytes(compressed), memory)

    def budget(self, file_bytes: int) -> "FileBudget":
        """Budget shared by all blobs of a file of `file_bytes`.

        Without this shared budget, thousands of small traps, each within its own limit, would take
        hours.
        """
        size = max(_FREE_BYTES_OF_ALL, self.streamed_bytes(file_bytes))
        members = max(self.members, file_bytes // _BYTES_PER_MEMBER)
        return FileBudget(size, members, self.kernels)


BY_DEFAULT = Bounds()


class FileBudget:
    """What one file may still yield: decompressed bytes, members, kernels, statements of text. Also
    used for the bytes that one container may hand out.

    Without arguments it has no limits, for code that the caller passes instead of a file.
    """

    __slots__ = (
        *("_byte_limit", "_bytes_left", "_member_limit", "_members_left"),
        *("_code_bytes", "_kernels", "_least_kernel_limit", "_statements"),
    )

    def __init__(
        self, size: int = sys.maxsize, members: int = sys.maxsize, kernels: int = sys.maxsize
    ) -> None:
        self._byte_limit = self._bytes_left = size
        self._member_limit = self._members_left = members
        self._least_kernel_limit = kernels
        self._code_bytes = self._kernels = self._statements = 0

    def take_bytes(self, size: int) -> bool:
        """Subtract `size` bytes; False if fewer were left."""
        self._bytes_left -= size
        return self._bytes_left >= 0

    def spend_bytes(self, size: int) -> None:
        """Subtract `size` decompressed bytes. Raises `BoundError` if fewer were left."""
        if not self.take_bytes(size):
            raise BoundError(say("file-expands-too-far", most=self._byte_limit))

    def spend_member(self) -> None:
        """Subtract one member. Raises `BoundError` if none is left."""
        self._members_left -= 1
        if self._members_left < 0:
            raise BoundError(say("members-too-many", most=self._member_limit))

    @property
    def kernel_limit(self) -> int:
        """Most kernels allowed for the code added so far."""
        return max(self._least_kernel_limit, self._code_bytes // _BYTES_PER_KERNEL)

    def add_code(self, size: int) -> None:
        """Add `size` bytes of code, which may raise the limit on kernels."""
        self._code_bytes += size

    def check_kernels(self, kernels: int) -> None:
        """Raise `BoundError` if `kernels` more would exceed the limit, without counting them."""
        self._refuse_above(self.kernel_limit, self._kernels + kernels, "kernels")

    def spend_kernels(self, kernels: int = 1) -> None:
        """Count `kernels` more. Raises `BoundError` if they exceed the limit."""
        self.check_kernels(kernels)
        self._kernels += kernels

    def check_list(self, kernels: int) -> None:
        """Raise `BoundError` if one list of kernels alone exceeds the limit, without counting
        it."""
        self._refuse_above(self.kernel_limit, kernels, "kernels")

    def spend_statements(self, count: int) -> None:
        """Count statements of text. Raises `BoundError` above 20 times `kernel_limit`."""
        self._statements += count
        limit = _STATEMENTS_PER_KERNEL * self.kernel_limit
        self._refuse_above(limit, self._statements, "statements")

    def _refuse_above(self, limit: int, count: int, what: str) -> None:
        if count > limit:
            raise BoundError(say("kernels-too-many", most=limit, what=what, size=self._code_bytes))


UNBOUNDED = FileBudget()


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
    """Kind of the code; None until it is known, as in an outermost file or a container's member."""
    bounds: Bounds = BY_DEFAULT
    """Limits on the bytes, entries and kernels to read."""
    command: tuple[str, ...] | None = None
    """The command that compiled the source at `path` to this text."""
    within: tuple[Data, ...] = ()
    """Those of the containers around the bytes that hold nothing but code for devices, outermost
    first: the section `.hip_fatbin`, then the plain bundle to which a bundle in it decompresses."""


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
        """Code of the note, which stays when the wording changes: `data-not-searched`."""
        return self.message.code


class Problem(NamedTuple):
    """An input, or a part of one, that could not be read, with the reason and what to do."""

    path: str  # the file as it was named
    message: Message  # what was found; what to do
    member: str | None = None  # name inside the container
    offset: int | None = None  # bytes from the start of the outermost file
    line: int | None = None  # 1-based line of assembly text

    @property
    def code(self) -> str:
        """Code of the problem, which stays when the wording changes: `zip-damaged`."""
        return self.message.code

    @property
    def located(self) -> Message:
        """The message with its path before it, for an error."""
        return in_file(self.path, self.message)


MISSING = "kpack-missing"
"""Code of the problem that all kpack archives to which a host file refers are missing."""


def sum_up(missing: Sequence[Problem]) -> Problem:
    """One problem for all host files of a path that lack their kpack archives: the first problem,
    with the number of the others."""
    first, *rest = missing
    if not rest:
        return first
    message = say("kpack-missing-and-more", reason=first.message, count=len(rest))
    return first._replace(message=message)


class File(NamedTuple):
    """A file to open."""

    path: str
    named: bool  # True if the user or a glob names it, False if it was found in a directory
    bytes: int | None = None  # size, known for files in directories
    inode: tuple[int, int] | None = None  # device and inode, known for files in directories
    is_repeated: bool = False
    """True if the run reads it already: under another name, or as the log of a database."""


class SpirV(NamedTuple):
    """An entry with SPIR-V, which is compiled when it is loaded: it has no registers yet."""

    path: str
    member: str | None
    containers: tuple[str, ...] = ()  # what it is wrapped in, outermost first
    blob: Blob | None = None
    """Its bytes; None in another process than the one that read them."""


Found = Blob | Problem | Elsewhere | Note | File | SpirV
"""One result of opening an input.

`Blob`: code. `Problem`: an unreadable input; its code is `MISSING` for a host file without its
archives. `Elsewhere`: a host file with its code in an archive of this run. `Note`: a warning.
`File`: a file that the run reads already. `SpirV`: code that is compiled when it is loaded.
"""
