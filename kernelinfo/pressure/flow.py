"""Instructions -> basic blocks, and the edges between them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from kernelinfo.pressure.instructions import InstructionEffect
from kernelinfo.pressure.listing import ENDS, Instruction, Listing, number

_BRANCHES = ("s_branch", "s_cbranch", "s_subvector_loop")
_INDIRECT = ("s_setpc", "s_set_pc", "s_add_pc")
_LONG = re.compile(r"\(?([\w.$@]+)-\.?L?post_(?:getpc|addpc)\d*", re.IGNORECASE)
_EXEC = ("exec", "exec_lo", "exec_hi")
_BACK = 8  # most instructions between address and jump of a long branch; LLVM writes fewer


class BasicBlock(NamedTuple):
    """A basic block: instructions that run one after the other."""

    first: int
    end: int  # after its last instruction
    successors: tuple[int, ...]  # blocks that may follow for at least one lane
    branches: tuple[int, ...]
    """Successors of the wave as a whole, without the paths of inactive lanes."""


def read_flow(listing: Listing) -> tuple[tuple[BasicBlock, ...], tuple[str, ...]]:
    """Blocks in the order of the text, and reasons why edges may be missing.

    The first block is the entry.
    """
    code = listing.instructions
    reasons: dict[str, None] = {}
    addresses = {one.address: index for index, one in enumerate(code) if one.address}
    jumps = {
        index: _targets(listing, addresses, index, reasons)
        for index in _beginning_with((*_BRANCHES, *_INDIRECT), code)
    }
    skips = {off: (on,) for off, on in skip_edges(code)}
    ends = _beginning_with(ENDS, code)
    firsts = _firsts(len(code), [jumps, skips], ends)
    block_at = {first: block for block, first in enumerate(firsts)}
    never_continue = {*ends, len(code) - 1}
    blocks: list[BasicBlock] = []
    for first, end in pairwise([*firsts, len(code)]):
        branches = [block_at[to] for to in jumps.get(end - 1, ())]
        if end - 1 not in never_continue:
            branches.append(len(blocks) + 1)
        successors = inner = tuple(branches[:1] if len(branches) < 2 else sorted({*branches}))
        if end - 1 in skips:
            successors = tuple(sorted({*branches, *(block_at[to] for to in skips[end - 1])}))
        blocks.append(BasicBlock(first, end, successors, inner))
    return tuple(blocks), tuple(reasons)


def _beginning_with(begins: tuple[str, ...], code: Sequence[Instruction]) -> list[int]:
    """Indices of the instructions whose mnemonic begins with one of `begins`."""
    mnemonics = {one.effect.mnemonic for one in code}
    fitting = {mnemonic for mnemonic in mnemonics if mnemonic.startswith(begins)}
    return [index for index, one in enumerate(code) if one.effect.mnemonic in fitting]


def _firsts(
    count: int, edges: Iterable[Mapping[int, Sequence[int]]], ends: Iterable[int]
) -> list[int]:
    """Indices at which blocks begin: each target, and after each branch and each end."""
    found = {0, *(index + 1 for index in ends)}
    for ways in edges:
        found.update(index + 1 for index in ways)
        found.update(chain.from_iterable(ways.values()))
    return sorted(first for first in found if first < count)


def _targets(
    listing: Listing, addresses: Mapping[int, int], index: int, reasons: dict[str, None]
) -> tuple[int, ...]:
    """Indices that a branch may lead to. Adds a reason if they are not known."""
    branch = listing.instructions[index].effect
    if branch.mnemonic.startswith(_INDIRECT):
        label = _long_branch(listing.instructions, index)
        if not label and "s[30:31]" not in branch.operands:
            reasons["indirect branch"] = None
        if not label:
            return ()
    else:
        label = branch.operands[-1]
    to = listing.labels.get(label)
    if to is None and (dwords := number(label)) is not None:
        to = _by_offset(listing.instructions, addresses, index, dwords)
    if to is None:
        reasons["branch to an unknown label"] = None
    return () if to is None else (to,)


def _long_branch(code: Sequence[Instruction], index: int) -> str | None:
    """The label of a branch over more than 128 KiB; None if not found.

    LLVM SIInstrInfo::insertIndirectBranch.
    """
    for one in reversed(code[max(index - _BACK, 0) : index + 1]):
        for operand in one.effect.operands[-1:]:
            if label := _LONG.match(operand):
                return label[1]
    return None


def _by_offset(
    code: Sequence[Instruction], addresses: Mapping[int, int], index: int, dwords: int
) -> int | None:
    """The index at an offset in dwords from the next instruction; None if none is there.

    LLVM 15 prints branch targets as such offsets.
    """
    following = code[index + 1].address if index + 1 < len(code) else None
    if following is None:
        return None
    if dwords > 0x7FFF:
        dwords -= 0x10000
    return addresses.get(following + 4 * dwords)


def predecessors(blocks: Sequence[Sequence[int]]) -> list[list[int]]:
    """The predecessors of each block, by the successors of each."""
    found: list[list[int]] = [[] for _ in blocks]
    for block, ways in enumerate(blocks):
        for way in ways:
            found[way].append(block)
    return found


def postorder(ways: Sequence[Sequence[int]]) -> list[int]:
    """The reachable blocks in postorder."""
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


def components(order: Sequence[int], before: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Strongly connected blocks as groups. A group precedes the groups that it leads to.

    `order` is the postorder of the reachable blocks (Kosaraju's algorithm).
    """
    left = set(order)
    for first in reversed(order):
        if first not in left:
            continue
        left.remove(first)
        found = [first]
        for block in found:
            for other in before[block]:
                if other in left:
                    left.remove(other)
                    found.append(other)
        yield found


def skip_edges(code: Sequence[Instruction]) -> Iterator[tuple[int, int]]:
    """From each instruction that turns lanes off to the one that wakes them: two indices.

    Liveness of vector registers is per lane: a masked write leaves registers of inactive lanes
    unchanged. If LLVM has removed a short `s_cbranch_execz` (SIPreEmitPeephole), the text does not
    show the path of these lanes. These edges replace it.
    """
    changes = [index for index, one in enumerate(code) if one.effect.exec_change]
    widenings = [i for i in changes if code[i].effect.exec_change in ("widens", "both")]
    by_register: dict[str, list[int]] = defaultdict(list)
    """Scalar register → instructions that wake the lanes it holds."""
    for index in widenings:
        for operand in code[index].effect.operands[1:]:
            by_register[operand].append(index)
    neighbours = zip([-1, *changes], changes, [*changes[1:], len(code)], strict=False)
    for before, index, after in neighbours:
        change, until_next = code[index].effect, code[index + 1 : after]
        is_branch = any(s.effect.mnemonic.startswith("s_cbranch_exec") for s in until_next)
        if change.exec_change == "widens" or is_branch:
            continue
        saved = _saved_in(change) or _saved_before(code[before + 1 : index])
        for candidates in (by_register.get(saved, ()), widenings):
            if (found := bisect_right(candidates, index)) < len(candidates):
                yield index, candidates[found]
                break


def _saved_in(change: InstructionEffect) -> str:
    """The register in which an instruction itself saves the lanes; empty if it names none."""
    if "saveexec" in change.mnemonic:
        return change.operands[0]
    if change.mnemonic.startswith(("s_xor", "s_andn2", "s_and_not1")):
        return next((operand for operand in change.operands if operand not in _EXEC), "")
    return ""


def _saved_before(code: Sequence[Instruction]) -> str:
    """The register to which exec was copied last; empty if it was not."""
    for one in reversed(code):
        mnemonic, operands = one.effect[:2]
        if mnemonic.startswith("s_mov_b") and len(operands) > 1 and operands[1] in _EXEC:
            return operands[0]
    return ""
