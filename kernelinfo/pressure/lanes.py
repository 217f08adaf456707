"""How the exec mask branches: the paths of lanes that are off where no branch is left for them.

Liveness of vector registers is per lane: a write under a mask is none for the lanes that are off,
which keep what the register held. Where LLVM has removed a short `s_cbranch_execz`
(SIPreEmitPeephole), the path of those lanes is invisible; these edges stand for it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kernelinfo.pressure.instructions import Effect
from kernelinfo.pressure.listing import Step

_EXEC = ("exec", "exec_lo", "exec_hi")


def skip_edges(steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    """From each instruction that turns lanes off to the one that wakes them: two indices."""
    changes = [index for index, step in enumerate(steps) if step.effect.exec_change]
    widenings, by_register = _widenings(steps, changes)
    for index, (before, after) in zip(changes, _neighbours(changes, len(steps)), strict=True):
        change = steps[index].effect
        if change.exec_change == "widens" or _branches(steps, index + 1, after):
            continue
        saved = _saved_in(change) or _saved_before(steps, before, index)
        for candidates in (by_register.get(saved, ()), widenings):
            if (found := bisect_right(candidates, index)) < len(candidates):
                yield index, candidates[found]
                break


def _widenings(
    steps: Sequence[Step], changes: Sequence[int]
) -> tuple[list[int], dict[str, list[int]]]:
    """Where lanes wake up: all indices, and those by the scalar register that holds the lanes."""
    every: list[int] = []
    by_register: dict[str, list[int]] = defaultdict(list)
    for index in changes:
        change = steps[index].effect
        if change.exec_change in ("widens", "both"):
            every.append(index)
            for operand in change.operands[1:]:
                by_register[operand].append(index)
    return every, by_register


def _neighbours(changes: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
    """Of each change the one before it and the one after it."""
    return zip([-1, *changes[:-1]], [*changes[1:], end], strict=True) if changes else iter(())


def _branches(steps: Sequence[Step], first: int, end: int) -> bool:
    return any(steps[i].effect.mnemonic.startswith("s_cbranch_exec") for i in range(first, end))


def _saved_in(change: Effect) -> str:
    """The register that holds the lanes, as far as the instruction itself names it."""
    if "saveexec" in change.mnemonic:
        return change.operands[0]
    if change.mnemonic.startswith(("s_xor", "s_andn2", "s_and_not1")):
        return next((operand for operand in change.operands if operand not in _EXEC), "")
    return ""


def _saved_before(steps: Sequence[Step], previous: int, index: int) -> str:
    """The register to which exec was copied between two changes, the last one."""
    for step in reversed(steps[previous + 1 : index]):
        if step.effect.mnemonic.startswith("s_mov_b") and step.effect.operands[1] in _EXEC:
            return step.effect.operands[0]
    return ""
