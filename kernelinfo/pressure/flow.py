"""Instructions -> blocks and the edges between them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kernelinfo.light_typing import NamedTuple
from kernelinfo.pressure.lanes import skip_edges
from kernelinfo.pressure.listing import Listing, Step

_ENDS = ("s_endpgm", "s_branch", "s_setpc", "s_set_pc", "s_rfe", "s_add_pc")
_BRANCHES = ("s_branch", "s_cbranch", "s_subvector_loop")
_INDIRECT = ("s_setpc", "s_set_pc", "s_add_pc")
_LONG = re.compile(r"\(?([\w.$@]+)-\.?L?post_(?:getpc|addpc)\d*", re.IGNORECASE)
_OFFSET = re.compile(r"-?(?:0x[0-9a-f]+|\d+)$", re.IGNORECASE)
_BACK = 8
"""Instructions between the address of a long branch and its jump, more than LLVM writes."""


class Block(NamedTuple):
    """Instructions that run one after the other."""

    first: int
    end: int
    """Behind its last step."""
    successors: tuple[int, ...]
    """Blocks that may follow for some lane."""
    branches: tuple[int, ...]
    """Those of them that the wave reaches as a whole: without the ways of lanes that are off."""


class Flow(NamedTuple):
    """The control flow of one function."""

    blocks: tuple[Block, ...]
    reasons: tuple[str, ...]
    """Why edges may be missing."""


def read_flow(listing: Listing) -> Flow:
    """The blocks of a function in the order of the text, the first one its entry."""
    steps = listing.steps
    reasons: dict[str, None] = {}
    jumps = {
        index: _targets(listing, index, reasons)
        for index, step in enumerate(steps)
        if step.effect.mnemonic.startswith((*_BRANCHES, *_INDIRECT))
    }
    skips: dict[int, list[int]] = {}
    for off, on in skip_edges(steps):
        skips.setdefault(off, []).append(on)
    firsts = _firsts(steps, [jumps, skips])
    blocks: list[Block] = []
    for first, end in zip(firsts, [*firsts[1:], len(steps)], strict=True):
        branches = {bisect_right(firsts, to) - 1 for to in jumps.get(end - 1, ())}
        if end < len(steps) and not steps[end - 1].effect.mnemonic.startswith(_ENDS):
            branches.add(len(blocks) + 1)
        ways = branches | {bisect_right(firsts, to) - 1 for to in skips.get(end - 1, ())}
        blocks.append(Block(first, end, tuple(sorted(ways)), tuple(sorted(branches))))
    return Flow(tuple(blocks), tuple(reasons))


def _firsts(steps: Sequence[Step], edges: Iterable[Mapping[int, Sequence[int]]]) -> list[int]:
    """Where blocks begin: at each target, and behind each branch and each end."""
    found = {0} if steps else set()
    for ways in edges:
        for index, targets in ways.items():
            found |= {index + 1, *targets}
    found |= {i + 1 for i, step in enumerate(steps) if step.effect.mnemonic.startswith(_ENDS)}
    return sorted(first for first in found if first < len(steps))


def _targets(listing: Listing, index: int, reasons: dict[str, None]) -> tuple[int, ...]:
    """The steps to which a branch may jump; a reason where they are not known."""
    branch = listing.steps[index].effect
    if branch.mnemonic.startswith(_INDIRECT):
        label = _long_branch(listing.steps, index)
        if not label and "s[30:31]" not in branch.operands:
            reasons["indirect branch"] = None
        if not label:
            return ()
    else:
        label = branch.operands[-1]
    to = listing.labels.get(label)
    if to is None and _OFFSET.match(label):
        to = _by_offset(listing.steps, index, int(label, 0))
    if to is None:
        reasons["branch to an unknown label"] = None
    return () if to is None else (to,)


def _long_branch(steps: Sequence[Step], index: int) -> str | None:
    """The label of a branch over more than 128 KiB (LLVM SIInstrInfo::insertIndirectBranch)."""
    for step in [steps[index], *reversed(steps[max(index - _BACK, 0) : index])]:
        for operand in step.effect.operands[-1:]:
            if label := _LONG.match(operand):
                return label[1]
    return None


def _by_offset(steps: Sequence[Step], index: int, dwords: int) -> int | None:
    """The step at a distance in dwords from the next instruction, as LLVM 15 disassembles."""
    following = steps[index + 1].address if index + 1 < len(steps) else None
    if following is None:
        return None
    if dwords > 0x7FFF:
        dwords -= 0x10000
    wanted = following + 4 * dwords
    return next((i for i, step in enumerate(steps) if step.address == wanted), None)


def predecessors(blocks: Sequence[Sequence[int]]) -> list[list[int]]:
    """The blocks before each block, from those after each."""
    found: list[list[int]] = [[] for _ in blocks]
    for block, ways in enumerate(blocks):
        for way in ways:
            found[way].append(block)
    return found


def postorder(ways: Sequence[Sequence[int]]) -> list[int]:
    """The blocks that are reached from the first one, each behind those that it leads to."""
    found: list[int] = []
    seen = {0}
    pending: list[tuple[int, Iterator[int]]] = [(0, iter(ways[0]))] if ways else []
    while pending:
        block, rest = pending[-1]
        for way in rest:
            if way not in seen:
                seen.add(way)
                pending.append((way, iter(ways[way])))
                break
        else:
            found.append(block)
            pending.pop()
    return found
