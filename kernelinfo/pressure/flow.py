"""Instructions -> basic blocks and the ways between them; registers that are live along these ways.

Blocks stand in flat arrays: a function may have 300,000 of them.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from kernelinfo.pressure.instructions import InstructionEffect
from kernelinfo.pressure.listing import ENDS, Instruction, Listing, number

_NONE = -1


class BlockLists(NamedTuple):
    """Lists of blocks, stored one after another in one array."""

    starts: array[int]  # position of the first block of each list; at the end, number of blocks
    blocks: array[int]

    def of(self, number: int) -> array[int]:
        """The blocks of the list with this number."""
        return self.blocks[self.starts[number] : self.starts[number + 1]]


class Flow:
    """Basic blocks, whose instructions run one after the other, and the ways between them. Block 0
    is the entry."""

    def __init__(self, firsts: array[int], block_of: array[int], after: BlockLists) -> None:
        self.firsts = firsts
        """Index of each block's first instruction; at the end, number of instructions."""
        self.block_of = block_of
        """The block of each instruction."""
        self.after = after
        """Blocks that may follow each block."""

    def instructions(self, block: int) -> range:
        """Indices of the instructions of a block."""
        return range(self.firsts[block], self.firsts[block + 1])

    def is_reached(self, block: int) -> bool:
        """True if a path leads from the entry to a block."""
        return self.group_of[block] != _NONE

    # Walks and loops ask for these again. A report with --instructions of a kernel of 1,000 blocks
    # takes 1.32 G instructions; 6.76 G without the cache of `before`, 1.41 G without that of
    # `walked`, 4.97 G without that of `groups`, 5.02 G without that of `group_of`.

    @cached_property
    def before(self) -> BlockLists:
        """Predecessors of each block."""
        return _reversed(self.after)

    @cached_property
    def walked(self) -> tuple[array[int], array[int], array[int]]:
        """A depth-first walk over the reachable blocks: blocks in postorder, in preorder, and the
        parent of each block."""
        return _walked(self.after)

    @property
    def order(self) -> array[int]:
        """Reachable blocks in postorder."""
        return self.walked[0]

    @cached_property
    def groups(self) -> BlockLists:
        """Strongly connected blocks. A group precedes the groups that it leads to."""
        return _groups(self.order, self.before)

    @cached_property
    def group_of(self) -> array[int]:
        """Number of each block's group; −1 for an unreachable block."""
        numbers = array("i", [_NONE]) * (len(self.firsts) - 1)
        starts, blocks = self.groups
        for group in range(len(starts) - 1):
            for position in range(starts[group], starts[group + 1]):
                numbers[blocks[position]] = group
        return numbers


def _reversed(edges: BlockLists) -> BlockLists:
    """For each block, the blocks whose lists contain it, in ascending order."""
    starts, ways = edges
    sizes = array("i", [0]) * len(starts)
    for way in ways:
        sizes[way + 1] += 1
    begins = array("i", accumulate(sizes))
    free, predecessors = begins[:], array("i", ways)
    for block in range(len(starts) - 1):
        for way in ways[starts[block] : starts[block + 1]]:
            predecessors[free[way]] = block
            free[way] += 1
    return BlockLists(begins, predecessors)


def _walked(after: BlockLists) -> tuple[array[int], array[int], array[int]]:
    """A depth-first walk: blocks in postorder, in preorder, and the parent of each block."""
    starts, ways = after
    postorder, preorder = array("i"), array("i")
    seen = bytearray(len(starts) - 1)
    parents = array("i", [_NONE]) * len(seen)
    pending = [0] if seen else []
    while pending:
        block = pending.pop()
        if block < 0:
            postorder.append(~block)
        elif not seen[block]:
            seen[block] = 1
            preorder.append(block)
            pending.append(~block)
            for way in ways[starts[block] : starts[block + 1]][::-1]:
                if not seen[way]:
                    parents[way] = block
                    pending.append(way)
    return postorder, preorder, parents


def _groups(order: Sequence[int], before: BlockLists) -> BlockLists:
    """The strongly connected blocks, by Kosaraju's algorithm."""
    starts, ways = before
    left = bytearray(len(starts) - 1)
    for block in order:
        left[block] = 1
    begins, grouped = array("i"), array("i")
    for first in reversed(order):
        if not left[first]:
            continue
        left[first] = 0
        begins.append(len(grouped))
        grouped.append(first)
        position = begins[-1]
        while position < len(grouped):
            block = grouped[position]
            position += 1
            for other in ways[starts[block] : starts[block + 1]]:
                if left[other]:
                    left[other] = 0
                    grouped.append(other)
    begins.append(len(grouped))
    return BlockLists(begins, grouped)


_BRANCHES = ("s_branch", "s_cbranch", "s_subvector_loop")
_INDIRECT = ("s_setpc", "s_set_pc", "s_add_pc", "s_rfe")
_LONG = re.compile(r"\(?([\w.$@]+)-\.?L?post_(?:getpc|addpc)\d*", re.IGNORECASE)
_EXEC = ("exec", "exec_lo", "exec_hi")
_BACK = 8  # most instructions between address and jump of a long branch; LLVM writes fewer


def read_flow(listing: Listing) -> tuple[Flow, Flow, tuple[str, ...]]:
    """(flow of lanes, flow of the wave, reasons). The first has the ways between blocks that some
    lane may take. The second has the ways of the wave as a whole, without those that only inactive
    lanes take. The reasons say why edges may be missing.

    Blocks are in the order of the text, the first is the entry.
    """
    code = listing.instructions
    reasons: dict[str, None] = {}
    addresses = {
        instruction.address: index for index, instruction in enumerate(code) if instruction.address
    }
    mnemonics = [instruction.effect.mnemonic for instruction in code]
    ends = array("i", _beginning_with(ENDS, mnemonics))
    jumps = array("i", [_NONE]) * len(code)
    """Index that each instruction may jump to."""
    is_first = bytearray(len(code) + 1)
    is_first[0] = 1
    for index in _beginning_with((*_BRANCHES, *_INDIRECT), mnemonics):
        jumps[index] = to = _target(listing, addresses, index, reasons)
        is_first[index + 1] = 1
        if to != _NONE:
            is_first[to] = 1
    skips = dict(skip_edges(code))
    for index in (*ends, *skips):
        is_first[index + 1] = 1
    for to in skips.values():
        is_first[to] = 1
    del mnemonics, is_first[len(code) :]
    firsts = array("i", compress(range(len(code)), is_first))
    firsts.append(len(code))
    block_of = array("i", accumulate(is_first, initial=_NONE))[1:]
    continues = bytearray(b"\1") * (len(code) - 1) + b"\0"
    for index in ends:
        continues[index] = 0
    of_wave = Flow(firsts, block_of, _edges(firsts, block_of, continues, jumps, {}))
    of_lanes = of_wave
    if skips:
        of_lanes = Flow(firsts, block_of, _edges(firsts, block_of, continues, jumps, skips))
    return of_lanes, of_wave, tuple(reasons)


def _beginning_with(begins: tuple[str, ...], mnemonics: Sequence[str]) -> list[int]:
    """Indices of the instructions whose mnemonic begins with one of `begins`."""
    fitting = {mnemonic for mnemonic in {*mnemonics} if mnemonic.startswith(begins)}
    return [index for index, mnemonic in enumerate(mnemonics) if mnemonic in fitting]


def _edges(
    firsts: Sequence[int],
    block_of: Sequence[int],
    continues: Sequence[int],
    jumps: Sequence[int],
    skips: Mapping[int, int],
) -> BlockLists:
    """The blocks that may follow each block, in ascending order.

    `continues` is 1 for instructions that may fall through to the next one. `jumps` holds the index
    that each instruction may jump to, −1 for none; `skips` maps indices as in `skip_edges`.
    """
    starts, ways = array("i", [0]), array("i")
    for following in range(1, len(firsts)):
        last = firsts[following] - 1
        to = jumps[last]
        successors = [] if to == _NONE else [block_of[to]]
        if continues[last] and following not in successors:
            successors.append(following)
        if last in skips and block_of[skips[last]] not in successors:
            successors.append(block_of[skips[last]])
        if len(successors) > 1:
            successors.sort()
        ways.extend(successors)
        starts.append(len(ways))
    return BlockLists(starts, ways)


def _target(
    listing: Listing, addresses: Mapping[int, int], index: int, reasons: dict[str, None]
) -> int:
    """The index that a branch may jump to; −1 for none. Adds a reason if the target is unknown."""
    branch = listing.instructions[index].effect
    if branch.mnemonic.startswith(_INDIRECT):
        label = _long_branch(listing.instructions, index)
        returns = "s[30:31]" in branch.operands and not branch.mnemonic.startswith("s_rfe")
        if not label and not returns:
            reasons["indirect branch"] = None
        if not label:
            return _NONE
    else:
        label = (
            branch.operands[-1] if branch.operands else listing.instructions[index].text.split()[1]
        )
    to = listing.labels.get(label)
    if to is None and (dwords := number(label)) is not None:
        to = _by_offset(listing.instructions, addresses, index, dwords)
    if to is None:
        reasons["branch to an unknown label"] = None
    return _NONE if to is None else to


def _long_branch(code: Sequence[Instruction], index: int) -> str | None:
    """The label of a branch over more than 128 KiB; None if not found.

    LLVM SIInstrInfo::insertIndirectBranch.
    """
    for instruction in reversed(code[max(index - _BACK, 0) : index + 1]):
        for operand in instruction.effect.operands[-1:]:
            if label := _LONG.match(operand):
                return label[1]
    return None


def _by_offset(
    code: Sequence[Instruction], addresses: Mapping[int, int], index: int, dwords: int
) -> int | None:
    """Index of the instruction at an offset in dwords from the end of the branch at `index`; None
    if no instruction begins there.

    LLVM 15 prints branch targets as such offsets.
    """
    following = code[index + 1].address if index + 1 < len(code) else None
    if following is None:
        return None
    if dwords > 0x7FFF:
        dwords -= 0x10000
    return addresses.get(following + 4 * dwords)


def skip_edges(code: Sequence[Instruction]) -> Iterator[tuple[int, int]]:
    """One edge, as two indices, from each instruction that turns lanes off to the one that turns
    them on again.

    Liveness of vector registers is per lane: a masked write leaves registers of inactive lanes
    unchanged. If LLVM has removed a short `s_cbranch_execz` (SIPreEmitPeephole), the text does not
    show the path of these lanes. These edges replace it; there is none where a branch on exec
    follows before the next change of exec.
    """
    changes = [index for index, instruction in enumerate(code) if instruction.effect.exec_change]
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
            if (position := bisect_right(candidates, index)) < len(candidates):
                yield index, candidates[position]
                break


def _saved_in(change: InstructionEffect) -> str:
    """The register in which an instruction itself saves the lane mask; empty if it names none."""
    if "saveexec" in change.mnemonic:
        return change.operands[0]
    if change.mnemonic.startswith(("s_xor", "s_andn2", "s_and_not1")):
        return next((operand for operand in change.operands if operand not in _EXEC), "")
    return ""


def _saved_before(code: Sequence[Instruction]) -> str:
    """The register to which exec was last copied; empty if it was not copied."""
    for instruction in reversed(code):
        mnemonic, operands = instruction.effect[:2]
        if mnemonic.startswith("s_mov_b") and len(operands) > 1 and operands[1] in _EXEC:
            return operands[0]
    return ""


MOST_VISITS = 16  # of each block, on average; compiled code needs 2
_MOST_SHARED = 1 << 16  # sets; 300,000 blocks of one loop need some hundred different ones


def may_be_written(flow: Flow, defines: Sequence[int], entry: int) -> list[int]:
    """Registers that may have been written before each block.

    `defines` holds the registers to which each block writes a defined value, `entry` those that
    hold a value at function entry. A write is never undone, so all blocks of a group have the same
    registers. Neighbours with equal sets share one object.
    """
    begin, end = [0] * len(defines), [0] * len(defines)
    starts, ways = flow.before
    begins, blocks = flow.groups
    earlier = entry
    for begin_of_group, end_of_group in pairwise(begins):
        group = blocks[begin_of_group:end_of_group]
        for block in group:
            for other in ways[starts[block] : starts[block + 1]]:
                later = end[other] | earlier
                if later != earlier:
                    earlier = end[other] if later == end[other] else later
        is_loop = len(group) > 1 or group[0] in ways[starts[group[0]] : starts[group[0] + 1]]
        for block in group if is_loop else ():
            if defines[block] | earlier != earlier:
                earlier |= defines[block]
        for block in group:
            later = defines[block] | earlier
            begin[block], end[block] = earlier, earlier if later == earlier else later
        earlier = 0
    return begin


def _share(sets: dict[int, int], registers: int) -> int:
    """One object for equal sets of registers, as long as there are few."""
    is_full = len(sets) >= _MOST_SHARED
    return sets.get(registers, registers) if is_full else sets.setdefault(registers, registers)


def needed_from(flow: Flow, reads: Sequence[int], writes: Sequence[int]) -> tuple[list[int], bool]:
    """Registers that each block, or a later one, may read before they are written; False if the
    search was cut short.

    `reads` holds the registers that each block reads before it writes them, `writes` those that it
    writes.
    """
    needed = [0] * len(reads)
    rank = array("i", needed)
    """Position of each block in postorder; `_settle` makes it the position within the block's
    group."""
    for position, block in enumerate(flow.order):
        rank[block] = position
    sets: dict[int, int] = {}
    starts, ways = flow.after
    begins, blocks = flow.groups
    left = MOST_VISITS * len(flow.order) + 1000
    for group in reversed(range(len(begins) - 1)):
        if begins[group + 1] - begins[group] > 1:
            left = _settle(flow, reads, writes, group, needed, rank, sets, left)
            continue
        block, later = blocks[begins[group]], 0
        for way in ways[starts[block] : starts[block + 1]]:
            later = later | needed[way] if later else needed[way]
        needed[block] = _share(sets, reads[block] | later & ~writes[block])
    return needed, left > 0


def _settle(
    flow: Flow,
    reads: Sequence[int],
    writes: Sequence[int],
    group: int,
    needed: list[int],
    rank: array[int],
    sets: dict[int, int],
    left: int,
) -> int:
    """Update what the blocks of a group need, in at most `left` visits. Returns the visits left."""
    (starts, ways), (befores, predecessors) = flow.after, flow.before
    group_of = flow.group_of
    order = sorted(flow.groups.of(group), key=rank.__getitem__)
    for position, block in enumerate(order):
        rank[block] = position
    is_waiting = bytearray(b"\1") * len(order)
    position = 0
    while position >= 0 and left:
        left -= 1
        is_waiting[position] = 0
        block, registers = order[position], 0
        for way in ways[starts[block] : starts[block + 1]]:
            registers = registers | needed[way] if registers else needed[way]
        if writes[block]:
            registers &= ~writes[block]
        if reads[block]:
            registers |= reads[block]
        if registers != needed[block]:
            needed[block] = _share(sets, registers)
            for other in predecessors[befores[block] : befores[block + 1]]:
                if group_of[other] == group:
                    is_waiting[rank[other]] = 1
        position = is_waiting.find(1, position + 1)
        if position < 0:
            position = is_waiting.find(1)
    return left
