"""Random codes that load and wait, and a machine that runs all their ways, counter by counter.

It shares nothing with the analysis: it has its own table of counters, follows single ways with
their real queues, and takes no union of states.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

TARGETS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250")


class Operation(NamedTuple):
    """A kind of instruction that counters count."""

    text: str  # `{v}`: a VGPR, `{s}`: an SGPR, `{w}` and `{t}`: the register behind it
    places: tuple[str, ...]  # counters, `~` before those in which it completes in any order
    memory: str = ""  # what it loads from; empty for no load
    bytes: int = 0
    written: int = 0  # registers


def operations(target: str) -> list[Operation]:
    """The instructions of a target."""
    is_old, is_new = target in ("gfx90a", "gfx942"), target in ("gfx1201", "gfx1250")
    vm, lds = ("loadcnt", "dscnt") if is_new else ("vmcnt", "lgkmcnt")
    smem = "~kmcnt" if is_new else "~lgkmcnt"
    store = "vmcnt" if is_old else "~storecnt" if is_new else "~vscnt"
    flat = ("~vmcnt", "~lgkmcnt") if is_old else (vm, lds)
    flat_store = flat if is_old else (store, lds)
    long = target in ("gfx1100", "gfx1201", "gfx1250")
    one, two = ("b32", "b64") if long else ("dword", "dwordx2")
    load, save = ("load_b32", "store_b32") if long else ("read_b32", "write_b32")
    known = [
        Operation(f"global_load_{one} v{{v}}, v[200:201], off", (vm,), "global", 4, 1),
        Operation(f"global_load_{two} v[{{v}}:{{w}}], v[200:201], off", (vm,), "global", 8, 2),
        Operation(f"global_store_{one} v[200:201], v202, off", (store,)),
        Operation(f"ds_{load} v{{v}}, v200", (lds,), "LDS", 4, 1),
        Operation(f"ds_{save} v200, v202", (lds,)),
        Operation(f"s_load_{two} s[{{s}}:{{t}}], s[0:1], 0x0", (smem,), "scalar", 8, 2),
        Operation(f"flat_load_{one} v{{v}}, v[200:201]", flat, "FLAT", 4, 1),
        Operation(f"flat_store_{one} v[200:201], v202", flat_store),
    ]
    if target != "gfx90a":
        known.append(Operation(f"scratch_load_{one} v{{v}}, off, off", (vm,), "scratch", 4, 1))
    if target == "gfx90a":
        text = "global_atomic_add v{v}, v[200:201], v202, off glc"
        known.append(Operation(text, (vm,), "global", 4, 1))
    if target in ("gfx1030", "gfx1100", "gfx1201"):
        text = "image_sample v{v}, v[200:201], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D"
        place = "samplecnt" if is_new else vm
        known.append(Operation(text, (place,), "global", 4, 1))
    if target in ("gfx1100", "gfx1201"):
        text = "lds_direct_load v{v}" if target == "gfx1100" else "ds_direct_load v{v}"
        known.append(Operation(text, ("expcnt",), "LDS", 4, 1))
    if target == "gfx1250":
        text = "global_load_async_to_lds_b128 v200, v[202:203], off"
        known.append(Operation(text, ("asynccnt",), "global", 16))
    return known


def most_of(target: str, counter: str) -> int:
    """The largest value of a counter."""
    if counter == "lgkmcnt" and target in ("gfx90a", "gfx942"):
        return 15
    return {"expcnt": 7, "kmcnt": 31}.get(counter, 63)


class Line(NamedTuple):
    """An instruction of a random code."""

    text: str
    operation: Operation | None = None
    register: int = 0  # first that it writes
    waits: tuple[tuple[str, int], ...] = ()
    ways: tuple[int, ...] = ()  # lines that may follow


def random_code(target: str, random: Random) -> list[Line]:
    """Code of some blocks with branches forwards and backwards, the last of which ends."""
    known = operations(target)
    chosen = random.sample(known, random.randint(1, 4))
    counters = sorted({place.strip("~") for each in chosen for place in each.places})
    blocks = random.randint(1, 5)
    heads: list[list[Line]] = []
    for _ in range(blocks):
        block = []
        for _ in range(random.randint(1, 7)):
            kind = random.random()
            if kind < 0.55:
                block.append(_operation(random.choice(chosen), random))
            elif kind < 0.9:
                block.append(_wait(target, counters, random))
            else:
                block.append(Line("v_add_u32_e32 v210, v211, v212"))
        heads.append(block)
    starts = [sum(len(block) + 1 for block in heads[:number]) for number in range(blocks)]
    lines: list[Line] = []
    for number, block in enumerate(heads):
        for line in block:
            lines.append(line._replace(ways=(len(lines) + 1,)))
        last = number == blocks - 1
        to = random.randrange(blocks)
        following = (len(lines) + 1,)
        text = f"s_cbranch_scc0 .L{to}"
        lines.append(Line("s_nop 0") if last else Line(text, ways=(*following, starts[to])))
    return lines


def _operation(operation: Operation, random: Random) -> Line:
    register = random.randrange(0, 12, 2)
    s = 20 + register
    text = operation.text.format(v=register, w=register + 1, s=s, t=s + 1)
    return Line(text, operation, s + 1000 if operation.memory == "scalar" else register)


def _wait(target: str, counters: list[str], random: Random) -> Line:
    counter, stays = random.choice(counters), random.choice((0, 0, 1, 1, 2, 3, 4, 6))
    stays = min(stays, most_of(target, counter))
    if target not in ("gfx1201", "gfx1250"):
        if counter == "vscnt":
            return Line(f"s_waitcnt_vscnt null, {stays:#x}", waits=((counter, stays),))
        second = random.choice(counters)
        if second in (counter, "vscnt") or random.random() < 0.6:
            return Line(f"s_waitcnt {counter}({stays})", waits=((counter, stays),))
        both = ((counter, stays), (second, 0))
        return Line(f"s_waitcnt {counter}({stays}) {second}(0)", waits=both)
    if counter == "loadcnt" and "dscnt" in counters and random.random() < 0.5:
        text = f"s_wait_loadcnt_dscnt {stays << 8 | 1:#x}"
        return Line(text, waits=(("loadcnt", stays), ("dscnt", 1)))
    return Line(f"s_wait_{counter} {stays:#x}", waits=((counter, stays),))


def written(code: list[Line]) -> str:
    """The code as text; its labels are those of its first lines."""
    starts = {way: line.text.split()[-1] for line in code for way in line.ways[1:]}
    text = ""
    for number, line in enumerate(code):
        text += f"{starts[number]}:\n" if number in starts else ""
        text += f"\t{line.text}\n"
    return text


_OTHER = -1
_Contents = tuple[tuple[str, tuple[int, ...]], ...]
"""By queue, the operations in it, youngest first: a line's number, `_OTHER` for what is no load,
and a number below for a load whose register was loaded anew."""


class Seen(NamedTuple):
    """What a wait was seen to do."""

    completes: dict[int, int]  # line of a load → fewest instructions between
    stays: dict[tuple[str, str], tuple[int, int]]  # queue in order, memory → loads, bytes
    together: dict[str, set[int]]  # queue of any order → lines of the loads that stay on some way

    def left(self, code: list[Line]) -> dict[str, list[int]]:
        """Memory → most loads that stay, and their bytes."""
        sums: dict[str, list[int]] = {}
        parts = [(memory, both) for (_, memory), both in self.stays.items()]
        loads = (code[load].operation for each in self.together.values() for load in each)
        parts += [(load.memory, (1, load.bytes)) for load in loads if load]
        for memory, both in parts:
            sums[memory] = [a + b for a, b in zip(sums.get(memory, (0, 0)), both, strict=True)]
        return sums


def run(target: str, code: list[Line], most_states: int = 4000) -> dict[int, Seen] | None:
    """What each wait that is reached does; None if there are too many states."""
    seen: dict[tuple[int, _Contents], tuple[tuple[int, ...], ...]] = {(0, ()): ()}
    pending: list[tuple[int, _Contents]] = [(0, ())]
    waits: dict[int, Seen] = {}
    while pending:
        at, contents = key = pending.pop()
        if len(seen) > most_states:
            return None
        queues = {
            name: [*zip(entries, issued, strict=True)]
            for (name, entries), issued in zip(contents, seen[key], strict=True)
        }
        line = code[at]
        if line.operation:
            _issue(target, code, at, queues)
        elif line.waits:
            note = waits.setdefault(at, Seen({}, {}, {}))
            for counter, stays in line.waits:
                _complete(code, queues, counter, stays, note)
            _note(code, queues, note)
        after = tuple((name, tuple(load for load, _ in queues[name])) for name in sorted(queues))
        aged = tuple(tuple(n + 1 for _, n in queues[name]) for name in sorted(queues))
        for way in line.ways:
            before = seen.get((way, after))
            joined = aged if before is None else tuple(map(_least, before, aged))
            if joined != before:
                seen[way, after] = joined
                pending.append((way, after))
    return waits


def _least(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(min, one, other))


def _issue(
    target: str, code: list[Line], at: int, queues: dict[str, list[tuple[int, int]]]
) -> None:
    line = code[at]
    assert line.operation
    for position, place in enumerate(line.operation.places):
        is_load = bool(line.operation.memory) and not position
        queue = queues.setdefault(place, [])
        if place.startswith("~"):  # no order: kept sorted, an operation once
            if is_load and at not in [load for load, _ in queue]:
                queue[:] = sorted([*queue, (at, 0)])
            elif is_load:
                queue[:] = sorted((load, 0 if load == at else n) for load, n in queue)
            if not queue:
                del queues[place]
            continue
        if is_load and line.operation.written:
            queue[:] = [(_replaced(code, load, line), n) for load, n in queue]
        queue.insert(0, (at if is_load else _OTHER, 0))
        del queue[most_of(target, place) :]


def _replaced(code: list[Line], load: int, line: Line) -> int:
    """The load, or a number that stands for it if a line loads all its registers anew."""
    other = code[load].operation if load >= 0 else None
    if other is None or line.operation is None or other.places != line.operation.places:
        return load
    begin, end = line.register, line.register + line.operation.written
    first = code[load].register
    covered = other.written and begin <= first and first + other.written <= end
    return -2 - load if covered else load


def _complete(
    code: list[Line],
    queues: dict[str, list[tuple[int, int]]],
    counter: str,
    stays: int,
    note: Seen,
) -> None:
    for name in (counter, f"~{counter}"):
        if name not in queues or (stays and name[0] == "~"):
            continue
        for load, since in queues[name][stays:]:
            if load >= 0:
                note.completes[load] = min(note.completes.get(load, since - 1), since - 1)
        del queues[name][stays:]
        if not queues[name]:
            del queues[name]


def _note(code: list[Line], queues: dict[str, list[tuple[int, int]]], note: Seen) -> None:
    """Note what stays in flight."""
    for name, queue in queues.items():
        sums: dict[str, tuple[int, int]] = {}
        for load, _ in queue:
            operation = code[load if load >= 0 else -2 - load].operation if load != _OTHER else None
            if operation:
                loads, size = sums.get(operation.memory, (0, 0))
                sums[operation.memory] = loads + 1, size + operation.bytes
        if name[0] == "~":
            note.together.setdefault(name, set()).update(load for load, _ in queue)
            continue
        for memory, both in sums.items():
            note.stays[name, memory] = max(note.stays.get((name, memory), (0, 0)), both)
