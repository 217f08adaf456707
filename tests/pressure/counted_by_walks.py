"""Values alive at each instruction of one kernel's text, counted by walks along its code.

It shares nothing with the package: each register and each slot is followed on its own, one
instruction at a time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

_REGISTER = re.compile(r"(?<![\w.$])([va])(?:(\d+)|\[(\d+):(\d+)\])(?![\w$])")
_NAMED = re.compile(r"((?:killed|def|renamable|implicit|dead| )*)\$(\w+)")
_LABEL = re.compile(r"([.\w$]+):")
_WITHOUT_RESULT = re.compile(
    r".*store.*|ds_write.*|exp|export|v_nop|s_.*|global_load_lds.*|buffer_wb.*|buffer_inv.*"
)
_IN_PLACE = re.compile(
    r"v_(pk_)?(fmac|mac)_.*|v_writelane.*|v_dot\dc.*|v_smfmac.*|v_swmmac.*|v_.*mix(lo|hi).*"
    r"|.*_load_.*d16.*|ds_(read|load).*d16.*|v_swap.*"
)
_STACK = re.compile(r"(?:scratch|buffer)_(load|store)_(\w+?)(?:x(\d))? ")
_BITS = {"dword": 32, "b32": 32, "b64": 64, "b96": 96, "b128": 128}
_WIDENS = re.compile(r"s_(or|mov)_b(32|64) exec")
_NARROWS = re.compile(r"s_(and|andn2|and_not1|xor)_b(32|64) exec|s_\w+_saveexec_\w+|v_cmpx")
Place = tuple[str, int]


class Line:
    """One instruction."""

    def __init__(self, code: str, comment: str) -> None:
        self.code, self.ways = code, list[int]()
        self.writes, self.reads = set[Place](), set[Place]()
        for half in code.split(" :: "):
            writes, reads = _effect(half.replace("v_dual_", "v_"))
            self.writes |= writes
            self.reads |= reads
        self.stores: list[tuple[Place, Place]] = []
        self.loads: list[tuple[Place, Place]] = []
        if "Folded" in comment and (access := _STACK.match(code)):
            bits = _BITS[access[2]] * int(access[3] or 1)
            offset = int((re.findall(r"offset:(\d+)", code) or ["0"])[0])
            both = sorted(self.reads | self.writes, key=lambda place: place[1])
            assert len(both) == bits // 32, code
            moved = [(("m", offset // 4 + k), register) for k, register in enumerate(both)]
            self.stores, self.loads = (moved, []) if access[1] == "store" else ([], moved)

    def ends(self, place: Place) -> bool:
        """True if the instruction overwrites a register or slot."""
        return place in self.writes or any(place == slot for slot, _ in self.stores)


def _effect(code: str) -> tuple[set[Place], set[Place]]:
    """Registers that an instruction writes and reads: its first operand, and the others."""
    name, _, rest = code.partition(" ")
    first = (re.findall(r"^\w\[[\d:]+\]|^[^,]*", rest) or [""])[0]
    writes = set[Place]() if _WITHOUT_RESULT.fullmatch(name) else _registers(first)
    reads = _registers(rest[len(first) :] if writes else rest)
    if _IN_PLACE.fullmatch(name) or ("_dpp" in name and "bound_ctrl" not in code):
        reads |= writes
    return writes, reads


def _registers(text: str) -> set[Place]:
    places = set()
    for kind, single, first, last in _REGISTER.findall(text):
        numbers = range(int(single or first), int(single or last) + 1)
        places |= {(kind, number) for number in numbers}
    return places


def read(text: str, kernel: str, *, only_spills: bool = False) -> list[Line]:
    """The instructions of a kernel, with those that may follow each. With `only_spills`, its whole
    stack is spill slots, of which LLVM 15 to 19 leave out the comment in a clause."""
    lines, labels = list[Line](), dict[str, int]()
    body = text[text.index(f"\n{kernel}:") + len(kernel) + 2 :]
    clause = 0
    for written in body.splitlines():
        code, _, comment = written.partition(";")
        if code.startswith((".Lfunc_end", "\t.section", "\t.size")):
            break
        if label := _LABEL.match(code):
            labels[label[1]] = len(lines)
        elif (code := " ".join(code.split())) and not code.startswith("."):
            clause -= 1
            if code.startswith("s_clause") and "Folded" in comment:
                clause = int(code.split()[1], 16) + 1
            elif clause >= 0:  # the comment of a clause is that of its instructions
                comment = "Folded"
            if only_spills and re.match(r"scratch_|buffer_.* s\[\d+:\d+\], 0( offset:\d+)?$", code):
                comment = "Folded"
            lines.append(Line(code, comment))
        elif match := re.search("implicit-def: |kill: ", comment):
            line = Line("v_nop", "")
            line.code, is_kill = "", match[0] == "kill: "
            for how, name in _NAMED.findall(comment[match.end() :]):
                named = {(k, int(n)) for k, n in re.findall(r"(v|a)gpr(\d+)", name)}
                if not is_kill or "def" in how:
                    line.writes |= named
                if is_kill and "killed" in how:
                    line.reads |= named
            lines.append(line)
    for index, line in enumerate(lines):
        name, *target = line.code.split() or [""]
        if name not in ("s_endpgm", "s_branch") and index + 1 < len(lines):
            line.ways.append(index + 1)
        if name.startswith(("s_branch", "s_cbranch")):
            line.ways.append(labels[target[0]])
    return lines


def _reached(
    starts: Iterable[int], ways: list[list[int]], stops: Callable[[int], bool]
) -> set[int]:
    """Instructions that a walk comes to; it does not go on behind those that stop it."""
    seen, pending = set[int](), list(starts)
    while pending:
        index = pending.pop()
        if index not in seen:
            seen.add(index)
            if not stops(index):
                pending += ways[index]
    return seen


def counted(text: str, kernel: str, at_entry: int, *, only_spills: bool = False) -> list[int]:
    """Most values alive before or after each instruction, VGPRs and AGPRs each for themselves.

    `at_entry` is the number of VGPRs that the hardware sets; `only_spills` is as in `read`.
    """
    lines = read(text, kernel, only_spills=only_spills)
    after = [line.ways for line in lines]
    before: list[list[int]] = [[] for _ in lines]
    for index, ways in enumerate(after):
        for way in ways:
            before[way].append(index)
    reachable = _reached([0], after, lambda index: False)
    places = {place for line in lines for place in (*line.reads, *line.writes)}
    slots = {slot for line in lines for slot, _ in (*line.stores, *line.loads)}
    ended, made = defaultdict[Place, set[int]](set), defaultdict[tuple[Place, Place], set[int]](set)
    read_by = defaultdict[Place, set[int]](set)
    for index, line in enumerate(lines):
        for place in (*line.reads, *(slot for slot, _ in line.loads)):
            read_by[place].add(index)
        for place in (*line.writes, *(slot for slot, _ in line.stores)):
            ended[place].add(index)
        for pair in (*line.stores, *line.loads):
            made[pair].add(index)
    alive: dict[Place, set[int]] = {}
    """Place → instructions before which it is alive."""
    filled: dict[Place, set[int]] = {}
    """Place → instructions behind which something may have filled it."""
    for place in places | slots:
        needed = set(read_by[place])
        pending = [*needed]
        while pending:
            for other in before[pending.pop()]:
                if other not in needed and other not in ended[place]:
                    needed.add(other)
                    pending.append(other)
        fills = [index for index in ended[place] & reachable if lines[index].code]
        starts = [way for index in fills for way in after[index]]
        if place[0] == "v" and place[1] < at_entry:
            starts.append(0)
        here = _reached(starts, after, lambda index: False)
        alive[place], filled[place] = needed & here, here | {*fills}
    pairs = set(made)
    same: dict[tuple[Place, Place], set[int]] = {}
    """Slot and register → instructions before which both hold one value on every way."""
    for slot, register in pairs:
        makes = made[slot, register]
        breaks = (ended[slot] | ended[register]) - makes
        broken = _reached(
            [0, *(way for index in breaks for way in after[index])], after, makes.__contains__
        )
        same[slot, register] = reachable - broken
    moved = defaultdict[Place, set[Place]](set)
    for slot, register in pairs:
        moved[slot].add(register)
    held_as: dict[Place, str] = {}
    for line in lines:
        for slot, (kind, _) in line.stores:
            held_as[slot] = "v" if held_as.get(slot, kind) == "v" else kind

    def number(registers: set[Place], held: set[Place], index: int) -> dict[str, int]:
        count = defaultdict[str, int](int)
        for kind, _ in registers:
            count[kind] += 1
        for slot in held:
            is_double = any(
                register in registers and index in same[slot, register] for register in moved[slot]
            )
            count["a" if held_as.get(slot) == "a" else "v"] += not is_double
        return count

    most = []
    for index, line in enumerate(lines):
        if not line.code:
            continue
        if index not in reachable:
            most.append(0)
            continue
        live = {place for place in places if index in alive[place]}
        held = {slot for slot in slots if index in alive[slot]}
        sides = [number(live, held, index)]
        there = [p for p in alive if index in filled[p] and any(w in alive[p] for w in line.ways)]
        live, held = places.intersection(there), slots.intersection(there)
        ends = {pair for pair in pairs if _holds_behind(pair, line, index, same)}
        count = defaultdict[str, int](int)
        for kind, _ in live | line.writes:
            count[kind] += 1
        for slot in held:
            is_double = any(s == slot and r in live | line.writes for s, r in ends)
            count["a" if held_as.get(slot) == "a" else "v"] += not is_double
        sides.append(count)
        most.append(max(side["v"] for side in sides) + max(side["a"] for side in sides))
    return most


def _holds_behind(
    pair: tuple[Place, Place], line: Line, index: int, same: dict[tuple[Place, Place], set[int]]
) -> bool:
    """True if a slot and a register hold one value behind an instruction."""
    if pair in line.stores or pair in line.loads:
        return True
    return index in same[pair] and not (line.ends(pair[0]) or line.ends(pair[1]))
