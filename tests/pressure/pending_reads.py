"""Registers that code reads or overwrites while a load into them may be in flight: by the flow
analysis of the waits, and by walks through the code with one queue for each counter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from kernelinfo.analysis import Analysis
from kernelinfo.analysis.inputs import Events, opened
from kernelinfo.analysis.options import Options
from kernelinfo.hardware.counters import OperationKind, WaitCounter
from kernelinfo.kernel import Kernel, Result
from kernelinfo.pressure.function import LiveFunction
from kernelinfo.pressure.in_flight import Flight, WaitFlow
from kernelinfo.pressure.instructions import effect
from kernelinfo.pressure.kernel_code import code_in, functions_of, wait_flow
from kernelinfo.pressure.memory import ANY_ORDER, Queue
from kernelinfo.reading.blob import Blob

Pair = tuple[int, int]
"""Index of an instruction, and of the load whose register it touches too early."""


def functions(paths: list[Path]) -> Iterator[tuple[Kernel, LiveFunction]]:
    """The kernels of texts and objects that compilers made, with their code."""
    for path in map(str, paths):
        analysis = Analysis(Options(), [path])
        for blob in opened(path, Options()):
            items = analysis.results(blob, Events()) if isinstance(blob, Blob) else ()
            results = [item for item in items if isinstance(item, Result)]
            if not results or not results[0].kernel.code_object.stamps:
                continue
            assert isinstance(blob, Blob)
            code = code_in(blob, results[0].kernel)
            for result, function in functions_of(code, blob, results):
                if isinstance(function, LiveFunction) and function.code:
                    yield result.kernel, function


def _pending(flow: WaitFlow, function: LiveFunction, block: int) -> dict[int, Counter[int]]:
    """Before each instruction of a block, or behind its own wait, the loads that may be in flight,
    each with the number of its queues that it is in."""
    now, behind = _counted(flow.begins[block]), dict[int, Counter[int]]()
    for index, _, flight in flow.walk(block):
        behind[index] = _counted(flight)
    pending = {}
    for index in function.flow.instructions(block):
        is_wait = function.instructions[index].effect.mnemonic.startswith("s_wait")
        after = behind.get(index, now)
        pending[index] = after if index in flow.waiting and not is_wait else now
        now = after
    return pending


def _counted(flight: Flight) -> Counter[int]:
    return Counter(
        load for ages in flight[0].values() for load in {load for age in ages for load in age}
    )


def early(flow: WaitFlow, function: LiveFunction) -> tuple[int, list[Pair]]:
    """How often code touches loaded registers, and where too early. A load of FLAT is complete when
    both of its counters say so."""
    code, after = function.instructions, function.wave_flow.after
    reach: dict[int, dict[int, int]] = {0: {}}
    """Block → load → its registers that nothing wrote since."""

    def through(block: int, seen: dict[int, dict[int, int]] | None = None) -> dict[int, int]:
        now = dict(reach[block])
        for index in function.flow.instructions(block):
            writes = code[index].effect.writes
            if seen is not None and now:
                seen[index] = dict(now)
            if writes:
                now = {load: left for load, held in now.items() if (left := held & ~writes)}
                if index in flow.queues:
                    now[index] = writes
        return now

    waiting = {0}
    while waiting:
        end = through(block := waiting.pop())
        for way in after.of(block):
            old = reach.get(way)
            new = {**(old or {})}
            for load, held in end.items():
                new[load] = new.get(load, 0) | held
            if new != old:
                reach[way] = new
                waiting.add(way)
    touches, wrong = 0, list[Pair]()
    for block in reach:
        held_at: dict[int, dict[int, int]] = {}
        through(block, held_at)
        before = _pending(flow, function, block)
        for index, loaded in held_at.items():
            effect = code[index].effect
            for load, registers in loaded.items():
                is_next = flow.queues.get(index) == flow.queues[load] and all(
                    order >= 0 for _, order in flow.queues[load]
                )  # of one order: writes in order
                touched = effect.reads & ~effect.writes if is_next else effect.reads | effect.writes
                if registers & touched:
                    touches += 1
                    if before[index][load]:
                        wrong.append((index, load))
    return touches, wrong


def with_global_flat(counters: Sequence[WaitCounter]) -> list[WaitCounter]:
    """The counters as if FLAT addresses were global. LLVM counts an access so if it knows that
    (SIInsertWaitcnts.cpp, `getEventsFor`), which a text does not tell."""

    def kinds(group: tuple[OperationKind, ...]) -> tuple[OperationKind, ...]:
        kept = [kind for kind in group if kind not in ("flat load", "flat store")]
        loads: list[OperationKind] = ["flat load"] if "load" in kept else []
        stores: list[OperationKind] = ["flat store"] if "store" in kept else []
        return (*kept, *loads, *stores)

    return [
        counter._replace(
            in_order=tuple(map(kinds, counter.in_order)), any_order=kinds(counter.any_order)
        )
        for counter in counters
    ]


class Touches(NamedTuple):
    """What code does with loaded registers."""

    number: int
    wrong: list[Pair]
    in_both: set[int]
    """Indices of loads of FLAT that both counters complete before each touch."""
    as_global: set[int]
    """Of those that are complete as global loads are, in the counter of these alone."""


def touches_of(kernel: Kernel, function: LiveFunction) -> Touches | None:
    """None if it is not known what the code's waits wait for."""
    flow = wait_flow(kernel, function)
    if flow.unknown:
        return None
    assert kernel.target
    number, wrong = early(flow, function)
    flat = {load for load, queues in flow.queues.items() if len(queues) > 1}
    doubted = flat & {load for _, load in wrong}
    unexplained = set[int]()
    if doubted:
        counters = with_global_flat(kernel.target.counters)
        global_flow = WaitFlow(function, counters, trusts_calls=True)
        unexplained = doubted & {load for _, load in early(global_flow, function)[1]}
    as_global = doubted - unexplained
    left = [pair for pair in wrong if pair[1] not in as_global]
    return Touches(number, left, flat - doubted, as_global)


def walked(kernel: Kernel, function: LiveFunction, random: Random, steps: int) -> set[Pair]:
    """Too early touches on random ways through so many blocks, by one list for each queue."""
    assert kernel.target
    flow, counters = wait_flow(kernel, function), kernel.target.counters
    touches, block = set[Pair](), 0
    queues: dict[Queue, list[int]] = {}
    held: dict[int, int] = {}
    """Load → its registers that nothing wrote since."""
    for _ in range(steps):
        changes = {change[0]: change for change in flow.steps[block]}
        for index in function.flow.instructions(block):
            effect = function.instructions[index].effect
            _, _, own, waits = changes.get(index, (index, 0, (), ()))
            for counter, stays in waits:
                for queue in [queue for queue in queues if queue[0] == counter]:
                    if not stays or queue[1] != ANY_ORDER:
                        del queues[queue][stays:]
            for queue, loads in queues.items():
                for load in loads:
                    is_next = own == flow.queues.get(load) and queue[1] != ANY_ORDER
                    touched = effect.reads & ~effect.writes if is_next else effect.reads
                    touched |= 0 if is_next else effect.writes
                    if held.get(load, 0) & touched:
                        touches.add((index, load))
            if effect.writes:
                held = {load: left for load, had in held.items() if (left := had & ~effect.writes)}
            for queue in own:
                queues.setdefault(queue, []).insert(0, index)
                if queue[1] != ANY_ORDER:
                    del queues[queue][counters[queue[0]].most :]
            if len(flow.queues.get(index, ())) == 1:  # not FLAT
                held[index] = effect.writes
        ways = function.wave_flow.after.of(block)
        if not ways:
            queues, held = {}, {}
        block = random.choice(ways) if ways else 0
    return touches


_COUNT = re.compile(r"(?:vmcnt|lgkmcnt|loadcnt|dscnt|kmcnt|samplecnt)[( ](0x[0-9a-f]+|\d+)")


def waits(kernel: Kernel, function: LiveFunction) -> list[int]:
    """Indices of the waits whose text has a count of its own."""
    indices = sorted(wait_flow(kernel, function).waiting)
    return [index for index in indices if _COUNT.search(function.instructions[index].text)]


def with_one_more(function: LiveFunction, index: int, random: Random) -> LiveFunction:
    """The function in which a wait lets one operation more stay in flight."""
    code = list(function.instructions)
    text = code[index].text
    count = random.choice([*_COUNT.finditer(text)])
    raised = f"{text[: count.start(1)]}{int(count[1], 0) + 1}{text[count.end(1) :]}"
    code[index] = code[index]._replace(text=raised, effect=effect(raised))
    return LiveFunction(function.listing._replace(instructions=tuple(code)), function.entry)


def early_touches(kernel: Kernel, function: LiveFunction) -> tuple[int, list[str]] | None:
    """How often code touches loaded registers, and texts of what does too early; None if it is not
    known what its waits wait for."""
    touches, code = touches_of(kernel, function), function.instructions
    if touches is None:
        return None
    wrong = [f"{kernel.symbol}: {code[i].text}; {code[j].text}" for i, j in touches.wrong]
    return touches.number, wrong
