"""What compilers and runtimes take a target for, where that is not what the hardware is."""

from __future__ import annotations

from kernelinfo.light_typing import Any, Literal, NamedTuple


class Belief(NamedTuple):
    """Another value of one field of a topic, as versions of LLVM or HIP have it."""

    by: Literal["LLVM", "HIP"]
    before: int
    """The first version with the hardware's value: LLVM's major one, HIP's year; 0 for none yet."""
    field: str
    value: int
    source: str


def believed(
    beliefs: tuple[Belief, ...], by: Literal["LLVM", "HIP"], version: int
) -> dict[str, Any]:
    """The values that `version` has instead of the hardware's, by the names of their fields."""
    return {
        belief.field: belief.value
        for belief in beliefs
        if belief.by == by and (version < belief.before or not belief.before)
    }
