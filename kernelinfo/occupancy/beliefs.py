"""What compilers, runtimes and profilers take a target for, where the hardware is another."""

from __future__ import annotations

from kernelinfo.light_typing import Any, Literal, NamedTuple


class Belief(NamedTuple):
    """Another value of one field of a topic, as versions of some software have it."""

    by: Literal["LLVM", "HIP", "rocprofiler-sdk"]
    before: int
    """The first version without it: LLVM's major one, HIP's year; 0 if every version has it."""
    field: str
    value: int
    source: str


def believed(beliefs: tuple[Belief, ...], by: str, version: int = 0) -> dict[str, Any]:
    """The values that `version` has instead of the hardware's, by the names of their fields."""
    return {
        belief.field: belief.value
        for belief in beliefs
        if belief.by == by and (version < belief.before or not belief.before)
    }
