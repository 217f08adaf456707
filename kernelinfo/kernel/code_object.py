"""The code object, assembly text or build log of kernels."""

from __future__ import annotations

from typing import NamedTuple

from kernelinfo.reading.facts import CodeKind, Features
from kernelinfo.reading.target_id import target_id


class CodeObject(NamedTuple):
    """One code object, assembly text or build log that kernels were read from."""

    path: str  # the file as it was named
    containers: tuple[str, ...]  # what the code is wrapped in, outermost first
    member: str | None
    """Name inside the innermost container: an entry of a bundle, a member of an archive."""
    offset: int | None
    """Bytes from the start of the outermost file; None inside compressed data."""
    size: int
    """Bytes."""
    kind: CodeKind  # what was read
    target: str | None  # target that the code is compiled for
    features: Features
    code_object_version: int | None
    """2 to 6, as LLVM counts the versions of its ABI; None in text that does not say."""
    compiler: str | None
    """Stamp of the compiler that made the kernels; None if unknown."""
    stamps: tuple[str, ...]
    """Stamps of all producers, sorted: the compiler, compilers of linked libraries, the linker."""
    conflicting_entry: str | None = None
    """Target id of an earlier entry of the same file and processor with other features."""
    kernel_count: int | None = None
    """Number of kernels in it, including those that a filter leaves out."""
    options: tuple[tuple[str, str], ...] = ()
    """Constants and compile options that Triton's JSON states: `(("BLOCK_M", "128"), …)`."""
    command: tuple[str, ...] | None = None
    """The command that compiled the source at `path`; None for code that was read from there."""

    @property
    def target_id(self) -> str | None:
        """The target with its features: `gfx90a:xnack-`; None without a target."""
        return self.target and target_id(self.target, self.features)

    @property
    def written_options(self) -> tuple[str, ...]:
        """The options as text: `BLOCK_M=128`."""
        return tuple(f"{name}={value}" for name, value in self.options)
