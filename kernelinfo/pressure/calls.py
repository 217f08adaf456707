"""The code of a function -> the registers that it names, and the functions that it leads to.

The address of a function is `s_getpc_b64` plus an offset (LLVM SIInstrInfo::expandPostRAPseudo,
SI_PC_ADD_REL_OFFSET). It is followed through moves and the lanes of VGPRs that hold spilled SGPRs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kernelinfo.pressure.flow import Flow, read_flow
from kernelinfo.pressure.function import LiveFunction, with_high_vgprs
from kernelinfo.pressure.instructions import operation
from kernelinfo.pressure.listing import ENDS, Instruction, Listing, number
from kernelinfo.pressure.nouns import CallNeed
from kernelinfo.pressure.registers import EVERY, Counts, count, span, used
from kernelinfo.pressure.rules import CALLS, DIRECT_CALLS
from kernelinfo.reading.data import integer

FunctionPlace = str | int
"""A function: its name in a text, its address in a code object."""

_LEFT_OPEN = {"calls", "indirect branch", "branch to an unknown label"}
"""Reasons for inexact results that go away when calls and branches are followed."""
_JUMPS, _UNKNOWN_JUMPS = ("s_setpc_b64", "s_set_pc_i64"), ("s_add_pc", "s_rfe")
_BRANCHES = ("s_branch", "s_cbranch", "s_subvector_loop")
_GET = ("s_getpc_b64", "s_get_pc_i64")
_ADD_LOW, _ADD_HIGH = ("s_add_u32", "s_add_co_u32"), ("s_addc_u32", "s_add_co_ci_u32")
_ADD = (*_ADD_LOW, *_ADD_HIGH, "s_add_nc_u64")
_MOVES = ("s_mov_b32", "s_mov_b64", "s_sext_i32_i16")
"""The last one extends the sign of the high half, which changes no address (gfx12, 48 bits)."""
_LOADS = ("s_load_dwordx2", "s_load_b64")
_RETURN = "s[30:31]"
"""The return address (AMDGPUUsage, "Non-Kernel Functions")."""
_KEPT_SGPRS, _KEPT_VGPRS = 30, 40
"""The first registers that a callee may have to keep (the same section)."""
_REGISTERS = re.compile(r"s(?:(\d{1,3})|\[(\d{1,3}):(\d{1,3})\])")
_VGPR = re.compile(r"v(\d{1,3})")
_OF_SYMBOL = re.compile(r"([\w.$]+)@(rel|gotpcrel)\d*(?:@(?:lo|hi))?(?:[+-]\d+)?")
_OF_LABEL = re.compile(r"\(?([\w.$]+)-[\w.$]+(?:[+-]\d+)?\)?(?:&4294967295)?")
_LITERAL = re.compile(r"lit(?:64)?\((.*)\)")

_HeldIn = int | tuple[int, int]
"""An SGPR, or a VGPR and one of its lanes."""


class _Half(NamedTuple):
    """A half of an address."""

    base: FunctionPlace
    """The function, or the place of the instruction that read the program counter: the address
    after it in a code object, its index in a text."""
    is_high: bool
    added: str | int | None
    """The offset: as written in a text, in a code object 32 bits of it; None without one."""


_Addresses = Mapping[_HeldIn, _Half]


class FunctionBody:
    """What the code of a function refers to, and where its control flow leads."""

    def __init__(
        self, listing: Listing, flow: Flow, reasons: Sequence[str], symbol: str, is_linked: bool
    ) -> None:
        """`reasons` say why the flow may be inexact. `is_linked` is false for a code object in
        which relocations change offsets."""
        self.symbol = symbol
        self.listing = listing
        self.registers = 0
        """The set of registers that its reachable instructions name."""
        self.calls: dict[FunctionPlace, int] = {}
        """The functions that it calls or jumps to → index of the first instruction that does."""
        self._code = listing.instructions
        self._labels = listing.labels
        self._flow = flow
        self._is_linked = is_linked
        self._begins: dict[int, _Addresses] = {}
        """Index of an instruction where a way begins → what is known there on every way."""
        self._pending: list[int] = []
        every = {*listing.reasons, *reasons}
        self.is_known = bool(self._code) and not every - _LEFT_OPEN and self._walk(bool(every))
        """True if all of its code is known, and every place where it leads."""

    def _walk(self, follows: bool) -> bool:
        """Walk over the reachable instructions; false if it is not known where they lead.

        `follows` is true if there are calls or jumps, so that addresses in registers are tracked.
        """
        seen = set[int]()
        self._way(0, {})
        while self._pending:
            start = self._pending.pop()
            state = {**self._begins[start]}
            block = self._flow.block_of[start]
            ways = self._flow.after.of(block)
            for index in range(start, self._flow.firsts[block + 1]):
                effect = self._code[index].effect
                if not self._code[index].is_code:
                    continue
                if start not in seen:
                    self.registers |= effect.reads | effect.writes
                if follows and not self._follow(index, state, bool(ways)):
                    return False
            seen.add(start)
            if not ways and not effect.mnemonic.startswith(ENDS):
                return False  # its code runs off its end
            for way in ways:
                self._way(self._flow.firsts[way], state)
        return True

    def _way(self, to: int, state: _Addresses) -> None:
        """Record that a path with the known addresses `state` leads to the instruction at index
        `to`. Only what is known on every path to it stays known there."""
        before = self._begins.get(to)
        common = state if before is None else {k: v for k, v in before.items() if state.get(k) == v}
        if common != before:
            self._begins[to] = {**common}
            self._pending.append(to)

    def _follow(self, index: int, state: dict[_HeldIn, _Half], leads_on: bool) -> bool:
        """Record where an instruction leads, and update the state accordingly.

        False if it leads to an unknown place. `leads_on` is true if the flow knows what follows the
        instruction's block.
        """
        instruction = self._code[index]
        mnemonic = instruction.effect.mnemonic
        last = (instruction.effect.operands or instruction.text.split())[-1]
        if mnemonic in CALLS:
            return self._lead(index, self._address(last, state), _after_a_call(state), state)
        if mnemonic in DIRECT_CALLS:
            return self._lead(
                index, self._by_offset(instruction, last), _after_a_call(state), state
            )
        if mnemonic in _JUMPS:
            place = self._address(last, state)
            returns = place is None and last == _RETURN
            return returns or leads_on or self._lead(index, place, state, state)
        if mnemonic.startswith(_UNKNOWN_JUMPS):
            return False
        if mnemonic.startswith(_BRANCHES) and last not in self._labels:
            return self._lead(index, self._by_offset(instruction, last), state, state)
        self._change(index, state)
        return True

    def _lead(
        self,
        index: int,
        place: FunctionPlace | None,
        after: _Addresses,
        state: dict[_HeldIn, _Half],
    ) -> bool:
        """Record the target of a call or jump at `index`; False if the target is unknown. `after`
        is what remains known of `state` once the call has returned."""
        if place is None:
            return False
        inside = self._labels.get(place) if isinstance(place, str) else self._at.get(place)
        if inside is None:
            self.calls.setdefault(place, index)
        elif inside < len(self._code):
            self._way(inside, state)
        if after is not state:
            kept = {**after}
            state.clear()
            state.update(kept)
        return True

    @cached_property
    def _at(self) -> dict[int, int]:
        """Address → index of its instruction."""
        return {
            instruction.address: i
            for i, instruction in enumerate(self._code)
            if instruction.address is not None
        }

    def _by_offset(self, instruction: Instruction, written: str) -> FunctionPlace | None:
        """The target of a direct call or branch: a label, or a number of words after the
        instruction."""
        if instruction.address is None:
            return written
        words = number(written)
        if words is None or not self._is_linked:
            return None
        words &= 0xFFFF
        return instruction.address + 4 + 4 * (words - ((words & 0x8000) << 1))

    def _address(self, written: str, state: _Addresses) -> FunctionPlace | None:
        """The function whose address is in a pair of SGPRs; None if it is not known."""
        halves = [state.get(key) for key in _keys(written)]
        if len(halves) != 2 or None in halves:
            return None
        low, high = (half for half in halves if half)
        if low.base != high.base or low.is_high or not high.is_high:
            return None
        if isinstance(low.base, str):
            return low.base
        if isinstance(low.added, int) and isinstance(high.added, int):
            return (low.base + low.added + (high.added << 32)) % (1 << 64)
        if isinstance(low.added, str) and isinstance(high.added, str):
            return _symbol(low.added, "rel") or _symbol(low.added, "label")
        return None

    def _change(self, index: int, state: dict[_HeldIn, _Half]) -> None:
        """Update the known contents of registers and lanes after an instruction."""
        instruction = self._code[index]
        writes = instruction.effect.writes
        if instruction.effect.mnemonic == "v_writelane_b32":
            to, source, lane = _three(operation(instruction.text)[0].operands)
            made = {key: state.get(_key(source)) for key in _lane(to, lane)}
            writes = 0
        elif instruction.effect.mnemonic == "v_readlane_b32":
            to, source, lane = _three(operation(instruction.text)[0].operands)
            made = {_key(to): state.get(key) for key in _lane(source, lane)}
        else:
            made = self._made(index, state)
        if writes and state:
            for key in [key for key in state if writes & _set_of(key)]:
                del state[key]
        for key, half in made.items():
            state.pop(key, None)
            if half and key != _NO_KEY:
                state[key] = half

    def _made(self, index: int, state: _Addresses) -> dict[_HeldIn, _Half | None]:
        """The halves of addresses that an instruction writes, by where it writes them; None for a
        half that is not known."""
        instruction = self._code[index]
        mnemonic, operands = instruction.effect.mnemonic, _three(instruction.effect.operands)
        if mnemonic in _GET and self._is_linked:
            base = index if instruction.address is None else instruction.address + 4
            halves_of_base = _Half(base, False, None), _Half(base, True, None)
            return dict(zip(_keys(operands[0]), halves_of_base, strict=False))
        if mnemonic not in _MAKING or not state:
            return {}
        keys, sources = _keys(operands[0]), _keys(operands[1])
        halves = [state.get(key) for key in sources]
        if mnemonic in _MOVES:
            return dict(zip(keys, halves, strict=False))
        if mnemonic in _LOADS:
            entry = halves[0] if halves and number(operands[2]) == 0 else None
            added = entry.added if entry else None
            symbol = _symbol(added, "gotpcrel") if isinstance(added, str) else None
            if symbol is None or len(keys) != 2:
                return {}
            return {keys[0]: _Half(symbol, False, None), keys[1]: _Half(symbol, True, None)}
        halves_made: dict[_HeldIn, _Half | None] = {}
        for key, half in zip(keys, halves, strict=False):
            is_high = mnemonic in _ADD_HIGH if len(keys) == 1 else key != keys[0]
            if half and half.added is None and half.is_high == is_high:
                added = self._offset(operands[2], is_high and len(keys) == 2)
                halves_made[key] = None if added is None else half._replace(added=added)
        return halves_made

    def _offset(self, written: str, is_upper: bool) -> str | int | None:
        """An offset: in a text as written; in a code object the lower 32 bits of its value, or with
        `is_upper` the next 32 bits, and None if it is not a number."""
        if self._code[0].address is None:
            return written
        literal = _LITERAL.fullmatch(written)
        try:
            value = integer(literal[1] if literal else written, 0)
        except ValueError:
            return None
        return (value >> 32 if is_upper else value) & 0xFFFFFFFF


_MAKING = {*_ADD, *_MOVES, *_LOADS}
_NO_KEY = -1


def _symbol(added: str, kind: str) -> str | None:
    """The function `f` that an offset of this kind names: `f@rel32@lo+4` (`rel`),
    `f@gotpcrel32@lo+4` (`gotpcrel`) or `f-after` (`label`); None for another offset."""
    if kind == "label":
        label = _OF_LABEL.fullmatch(added)
        return label and label[1]
    symbol = _OF_SYMBOL.fullmatch(added)
    return symbol[1] if symbol and symbol[2] == kind else None


def _three(operands: tuple[str, ...]) -> tuple[str, str, str]:
    """The first three operands; empty where a damaged text has fewer."""
    first, second, third, *_ = *operands, "", "", ""
    return first, second, third


def _keys(written: str) -> list[_HeldIn]:
    """The SGPRs of an operand."""
    match = _REGISTERS.fullmatch(written)
    if match is None:
        return []
    first, last = match[1] or match[2], match[1] or match[3]
    return [*range(integer(first), integer(last) + 1)]


def _key(written: str) -> _HeldIn:
    return next(iter(_keys(written)), _NO_KEY)


def _lane(vgpr: str, lane: str) -> list[_HeldIn]:
    """The key of a lane; empty if the operands are not a VGPR and a number."""
    register, position = _VGPR.fullmatch(vgpr), number(lane)
    return [] if register is None or position is None else [(integer(register[1]), position)]


def _set_of(key: _HeldIn) -> int:
    """The register set of a key."""
    return span("s", key, key) if isinstance(key, int) else span("v", key[0], key[0])


def _after_a_call(state: _Addresses) -> _Addresses:
    """The state after a call: registers that the callee has to preserve."""
    return {
        key: half
        for key, half in state.items()
        if (key >= _KEPT_SGPRS if isinstance(key, int) else key[0] >= _KEPT_VGPRS)
    }


_NOT_FOLLOWED = "calls"
"""The reason for inexact results that goes away when calls are followed."""
_DEEPEST = 64  # calls inside calls


def callee(symbol: str, listing: Listing) -> FunctionBody:
    """The body of a function that others call."""
    listing = with_high_vgprs(listing)
    _, flow, reasons = read_flow(listing)
    return FunctionBody(listing, flow, reasons, symbol, True)


class CalledFunctions:
    """The functions that the kernels of one blob call, each read once."""

    def __init__(
        self, read: Callable[[FunctionPlace], FunctionBody | None], is_linked: bool = True
    ) -> None:
        """`is_linked` is as in `FunctionBody`."""
        self._read = read
        self._is_linked = is_linked
        self._bodies: dict[FunctionPlace, FunctionBody | None] = {}

    def body_of(self, function: LiveFunction) -> FunctionBody:
        """The body of a kernel or function, whose calls may lead to these functions."""
        reasons = function.flow_reasons
        return FunctionBody(function.listing, function.wave_flow, reasons, "", self._is_linked)

    def _at(self, place: FunctionPlace) -> FunctionBody | None:
        """The function at a place; None if it is not in the blob."""
        if place not in self._bodies:
            self._bodies[place] = self._read(place)
        return self._bodies[place]

    def used(self, body: FunctionBody) -> tuple[Counts, tuple[str, str, str]] | None:
        """(highest register number plus one, for each class, in a kernel and its callees; for each
        class, the symbol of the callee with that register, empty if the kernel names it, too). None
        if not all of the code is known."""
        if not body.is_known:
            return None
        counts, names = [*used(body.registers)], ["", "", ""]
        pending, seen = [*body.calls], {*body.calls}
        while pending:
            inner = self._at(pending.pop())
            if inner is None or not inner.is_known:
                return None
            for index, uses in enumerate(used(inner.registers)):
                if uses > counts[index]:
                    counts[index], names[index] = uses, inner.symbol
            pending += [place for place in inner.calls if place not in seen]
            seen |= inner.calls.keys()
        return Counts(*counts), (names[0], names[1], names[2])

    def needs(self, function: LiveFunction, body: FunctionBody, files: str) -> tuple[CallNeed, ...]:
        """The other functions of the file that a function calls, each with its first call; those
        that need most first.

        `files` is the target's `agprs.file`. Arguments count as the callee's.
        """
        needs: dict[str, tuple[int, bool]] = {}
        calls = [
            CallNeed(
                inner.symbol,
                function.location(index),
                live,
                *self._need(inner, files, 1, needs),
            )
            for index, inner, live in self._calls(function, body, files)
        ]
        return tuple(sorted(calls, key=lambda call: (-call.together, call.at.number)))

    def _need(
        self, body: FunctionBody, files: str, depth: int, needs: dict[str, tuple[int, bool]]
    ) -> tuple[int, bool]:
        """The most vector registers live in a function and in what it calls, and whether that is
        exact; with recursion, for example, it is a lower bound. `needs` holds the results of
        functions by symbol; new ones are added to it."""
        if body.symbol in needs:
            return needs[body.symbol]
        needs[body.symbol] = 0, False  # while it is computed: a circle of calls
        function = LiveFunction(body.listing, EVERY)
        peak = max((counts.vector(files) for counts in function.counts), default=0)
        is_exact = body.is_known and not {*function.reasons} - {_NOT_FOLLOWED}
        if depth == _DEEPEST:
            is_exact = is_exact and not body.calls
        for _, inner, live in self._calls(function, body, files) if depth < _DEEPEST else ():
            needed, is_exact_inside = self._need(inner, files, depth + 1, needs)
            peak = max(peak, live + needed)
            is_exact = is_exact and is_exact_inside
        needs[body.symbol] = peak, is_exact
        return peak, is_exact

    def _calls(
        self, function: LiveFunction, body: FunctionBody, files: str
    ) -> Iterator[tuple[int, FunctionBody, int]]:
        """For each other function that a function calls: the index of the first call, the called
        function's body, and the number of vector registers live across that call."""
        for place, index in body.calls.items() if body.is_known else ():
            if inner := self._at(place):
                before, after = function.live_at(index)
                written = function.instructions[index].effect.writes
                yield index, inner, count(before & after & ~written).vector(files)
