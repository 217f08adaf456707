"""Settings of a compilation of sources, and its result."""

from __future__ import annotations

from typing import NamedTuple

from kernelinfo.errors import Message


class Settings(NamedTuple):
    """How the user wants sources compiled."""

    targets: tuple[str, ...] = ()  # gfx names
    flags: tuple[str, ...] = ()  # with absolute paths
    compiler: str | None = None  # path, or a name to search on PATH
    compile_commands: str | None = None  # path of a compile_commands.json


class Compiled(NamedTuple):
    """A source compiled for one target, or what the compiler said against it."""

    path: str  # of the source, as the user wrote it
    target: str
    command: tuple[str, ...]  # the command that compiled the source, without its output
    messages: str  # the compiler's standard error
    assembly: bytes = b""  # empty if it failed
    dependencies: tuple[str, ...] = ()
    """Absolute paths: the source, its headers, and where a missing header would be found."""
    error: Message | None = None  # `path: what was found; what to do`

    def __repr__(self) -> str:
        return f"Compiled({self.path!r}, {self.target!r}, {len(self.assembly)} bytes)"
