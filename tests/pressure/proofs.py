"""Proofs: input, oracle and result of each comparison, and its failures."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random

from kernelinfo import Options, Result, analyse

from ..conftest import CORPUS, FIXTURES
from ..differential.compilers import Compiler
from ..tools import missing
from . import grep, instruction_flags, live_ins, machine_code, two_routes, upper_vgprs
from .texts import kernels as texts_of

Row = tuple[str, str, str]
Proof = Callable[[bool], tuple[Row, list[str]]]

PROCESSORS = (
    *("gfx803", "gfx900", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"),
)
LIBRARIES = (
    *Path("/usr/lib/x86_64-linux-gnu").glob("librocsparse.so.0.*"),
    *Path("/usr/lib/x86_64-linux-gnu").glob("librocrand.so.1.*"),
)
_LEAST = {"llvm": 0.99, "ours": 0.98}
"""Required share of LLVM's live registers that we list, and of ours that LLVM lists."""


def fuzzed_instructions(full: bool) -> tuple[Row, list[str]]:
    """Reads and writes of disassembled random encodings."""
    title = "reads and writes of random instructions", "LLVM 22's descriptions (MC)"
    if absent := missing("llvm-22-dev"):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally, faults, mnemonics = Counter[str](), [], 0
    for processor in PROCESSORS if full else PROCESSORS[3:8:2]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "fuzzed.s")
            tries = 6_000_000 if full else 300_000
            lines = machine_code.fuzzed(processor, 1, 12 if full else 2, tries)
            path.write_text("\n".join(lines) + "\n")
            mnemonics += len({line.split()[0] for line in lines})
            faults += _compare(processor, path, tally)
    return (*title, f"{mnemonics:,} mnemonic × target, {_counted(tally, faults)}"), faults


def written_instructions(full: bool) -> tuple[Row, list[str]]:
    """Reads and writes in every assembly text."""
    title = "reads and writes in fixtures and corpus", "LLVM 22's descriptions (MC)"
    if absent := missing("llvm-22-dev"):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally, faults = Counter[str](), []
    paths = sorted([*FIXTURES.glob("assembly/*.s"), *CORPUS.rglob("*.s")])
    for path in paths if full else paths[::10]:
        for processor in _processors(path):
            faults += _compare(processor, path, tally)
    return (*title, _counted(tally, faults)), faults


def _processors(path: Path) -> Iterator[str]:
    """The processor of a text; nothing if it has several or none is read."""
    text = path.read_bytes().decode("utf-8", "replace")
    if "\n" not in text:
        return  # the oracle counts newlines
    named = set(re.findall(r"\.amdgcn_target \"[^\"]*?(gfx(?:[\d-]+-generic|[0-9a-f]+))\b", text))
    if len(named) == 1:
        yield named.pop()


def _compare(processor: str, path: Path, tally: Counter[str]) -> list[str]:
    faults = []
    for _, difference in machine_code.compared(processor, path):
        tally["instructions"] += 1
        if difference:
            why = machine_code.reason(difference)
            tally[why or ""] += 1
            if why is None:
                faults.append(f"{processor} {path.name}: {difference}")
    return faults


def _counted(tally: Counter[str], faults: list[str]) -> str:
    reasons = {why: count for why, count in tally.most_common() if why not in ("", "instructions")}
    listed = "; ".join(f"{why} {count:,}" for why, count in reasons.items())
    where = f" (where LLVM is imprecise: {listed})" if listed else ""
    return f"{tally['instructions']:,} instructions, {len(faults)} unexplained differences{where}"


def blocks(full: bool) -> tuple[Row, list[str]]:
    """Live-in registers of labelled blocks, and loops."""
    title = "registers live at labelled blocks of random kernels", "llc 22 after branch relaxation"
    if absent := missing("clang-22", "llvm-22"):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally = Counter[str]()
    for target in live_ins.TARGETS:
        for seed in range(9 if full else 1):
            with tempfile.TemporaryDirectory() as folder:
                random = Random(f"proof {target} {seed}")
                tally += live_ins.compare(*live_ins.compiled(random, target, 10, Path(folder)))
    shares = {}
    for key, letter in ((key, letter) for key in _LEAST for letter in "VS"):
        both = tally[f"both {letter}"]
        shares[key, letter] = both / (both + tally[f"{key} {letter}"])
    low = [name for name, share in shares.items() if share < _LEAST[name[0]]]
    faults = [f"blocks: {name}: {shares[name]:.4f}" for name in low]
    if tally["loops agree"] < 0.99 * tally["kernels"]:
        faults.append(f"loops of {tally['loops agree']} of {tally['kernels']} kernels agree")
    percent = {name: f"{100 * share:.2f} %" for name, share in shares.items()}
    found = (
        f"{tally['kernels']} kernels, {len(live_ins.TARGETS)} targets, {tally['blocks']:,} blocks: "
        f"{percent['llvm', 'V']} of LLVM's vector and {percent['llvm', 'S']} of its scalar "
        f"registers, {percent['ours', 'V']} and {percent['ours', 'S']} of ours; "
        f"loop headers and depths of {tally['loops agree']}"
    )
    return (*title, found), faults


def texts(full: bool) -> tuple[Row, list[str]]:
    """At most as many registers live as used, in every assembly text."""
    paths = sorted([*FIXTURES.glob("assembly/*.s"), *CORPUS.rglob("*.s")])
    title = "peak of every kernel of fixtures and corpus", "registers used, by its descriptor"
    return _bounded(title, paths if full else paths[::10])


def objects(full: bool) -> tuple[Row, list[str]]:
    """At most as many registers live as used, in a library's code objects."""
    title = "peak of every gfx90a kernel of librocsparse, disassembled", "its descriptor"
    return _bounded(title, LIBRARIES[:1] if full else LIBRARIES[1:], target="gfx90a")


def _bounded(
    title: tuple[str, str], paths: Sequence[Path], target: str = ""
) -> tuple[Row, list[str]]:
    kernels = inexact = equal = 0
    faults = []
    for path in paths:
        found = (item for item in analyse([str(path)], Options()) if isinstance(item, Result))
        limits = {item.kernel.symbol: item.kernel for item in found}
        words = ("--target", target) if target else ()
        for one in texts_of(path, *words):
            kernel, peak = limits[one["symbol"]], one["peak"]
            demand = kernel.traits.demand
            kernels += 1
            inexact += not one["exact"]
            equal += bool(demand and peak["vector"] == demand.vgprs)
            stated = {"vector": demand.vgprs if demand else None, "sgprs": kernel.numbers.sgprs}
            faults += [
                f"{path.name}: {kernel.symbol}: {name} {peak[name]} > {limit}"
                for name, limit in stated.items()
                if limit is not None and peak[name] > limit
            ]
    share = f", equal in {100 * equal / kernels:.0f} %" if kernels else ""
    told = f"{kernels:,} kernels, {len(faults)} above{share}; {inexact} not exact"
    return (*title, told), faults


def _units(
    count: int, kernels: int, compilers: Sequence[Compiler]
) -> Iterator[tuple[str, Random, Path, Path]]:
    """Target, random numbers, text and object of each compilation, all targets in turn."""
    settings = {
        compiler: {one.target.name: one for one in reversed(compiler.settings())}
        for compiler in compilers
    }
    kinds = [
        (compiler, settings[compiler][target])
        for target in two_routes.TARGETS
        for compiler in compilers
        if target in settings[compiler]
    ]
    for number in range(count):
        compiler, setting = kinds[number % len(kinds)]
        random = Random(f"two routes {number}")
        with tempfile.TemporaryDirectory() as folder:
            text, linked = two_routes.compiled(compiler, setting, random, kernels, Path(folder))
            yield setting.target.name, random, text, linked


def routes(full: bool) -> tuple[Row, list[str]]:
    """Text and object of one compilation; the text also with data words."""
    title = "instructions, registers used and live of kernels as text", "their objects"
    if absent := missing(*two_routes.NEEDED):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally, faults = Counter[str](), list[str]()
    compilers = [one for one in two_routes.COMPILERS if not missing(*one.needed)]
    for _, random, text, linked in _units(100 if full else 4, 30 if full else 5, compilers):
        faults += two_routes.compare(text, linked, tally)
        data = text.with_name("data.s")
        data.write_text(two_routes.with_data(text.read_text("utf-8"), linked, random))
        faults += two_routes.compare(data, linked, tally)
    names = ", ".join(one.name for one in compilers)
    reasons = "; ".join(
        f"{key.removeprefix('reason ')} {count}"
        for key, count in tally.items()
        if key.startswith("reason ")
    )
    found = (
        f"{tally['kernels']:,} kernels, half of them with data words among their instructions; "
        f"{names}; {len(two_routes.TARGETS)} targets; {len(faults)} differences, "
        f"{tally['inexact']} not exact{reasons and f' ({reasons})'}"
    )
    return (*title, found), faults


def symbols(full: bool) -> tuple[Row, list[str]]:
    """Objects assembled by llvm-mc from texts with symbols inside functions."""
    title = "instructions of objects with symbols inside functions", "llvm-objdump 22"
    if absent := missing(*two_routes.NEEDED):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally, faults = Counter[str](), list[str]()
    for target, random, text, _ in _units(34 if full else 1, 3, [two_routes.COMPILERS[2]]):
        for _ in range(30 if full else 3):
            changed = text.with_name("symbols.s")
            changed.write_text(two_routes.with_symbols(text.read_text("utf-8"), random))
            faults += two_routes.same_instructions(two_routes.assembled(changed, target), tally)
            tally["objects"] += 1
    found = (
        f"{tally['objects']:,} objects, {tally['kernels']:,} kernels, "
        f"{tally['instructions']:,} instructions, {len(faults)} kernels with others"
    )
    return (*title, found), faults


def broken(full: bool) -> tuple[Row, list[str]]:
    """Objects with words that no disassembler knows."""
    title = "objects with an undecodable word at a random place of each kernel", "never exact"
    if absent := missing(*two_routes.NEEDED):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    kernels, objects, faults = 0, 0, list[str]()
    for target, random, _, linked in _units(25 if full else 1, 3, [two_routes.COMPILERS[2]]):
        intact = linked.read_bytes()
        for word in two_routes.undecodable(target, random, 20 if full else 3):
            linked.write_bytes(intact)
            places = two_routes.broken(linked, word, random)
            found = two_routes.read(linked)
            objects += 1
            kernels += len(places)
            faults += [
                f"{target} {symbol}: 0x{word:08x} at 0x{at:x}: {found[symbol].reasons}"
                for symbol, at in places.items()
                if symbol in found and "undecoded words" not in found[symbol].reasons
            ]
    return (*title, f"{objects} objects, {kernels:,} kernels, {len(faults)} exact"), faults


def upper(full: bool) -> tuple[Row, list[str]]:
    """Registers above v255 on gfx1250, by the mode and by LLVM's comments."""
    title = "VGPRs above v255 of random gfx1250 instructions", "llvm-objdump 22's comments"
    if absent := missing("llvm-22-dev", *two_routes.NEEDED):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    lines = machine_code.fuzzed("gfx1250", 3, 6 if full else 1, 3_000_000 if full else 200_000)
    with tempfile.TemporaryDirectory() as folder:
        compared, faults = upper_vgprs.compared(lines, Path(folder))
    return (*title, f"{compared:,} instructions, {len(faults)} with other registers"), faults


def classes(full: bool) -> tuple[Row, list[str]]:
    """Classes of LLVM's opcodes and of disassembled random encodings."""
    title = (
        "classes of opcodes and of random instructions",
        "LLVM 22's flags (TSFlags)",
    )
    if absent := missing("llvm-22-dev"):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    reasons: dict[str, int] = {}
    opcodes = list(instruction_flags.opcodes())
    faults, found = list(instruction_flags.unexplained(opcodes, reasons)), 0
    processors = instruction_flags.PROCESSORS if full else instruction_flags.PROCESSORS[4::6]
    for processor in processors:
        described = list(instruction_flags.fuzzed(processor, 1, 3, 6_000_000 if full else 300_000))
        found += len({one.text.split()[0] for one in described})
        faults += instruction_flags.unexplained(described, reasons)
        faults += instruction_flags.wrong_bytes(described)
    listed = "; ".join(f"{why} {count:,}" for why, count in sorted(reasons.items()))
    told = (
        f"{len(opcodes):,} opcodes; {found:,} mnemonic × target of {len(processors)} targets; "
        f"{len(faults)} unexplained differences (explained: {listed})"
    )
    return (*title, told), faults


def grepped(full: bool) -> tuple[Row, list[str]]:
    """Counts of matrix, LDS, loads by width, stores, atomics, waits and barriers."""
    title = "instructions by class: our own kernels, Triton's, librocrand's", "grep"
    if absent := missing(*two_routes.NEEDED):
        return (*title, f"not run: {', '.join(absent)} missing"), []
    tally, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for target in grep.TARGETS:
            built = grep.compiled(Random(f"own {target}"), target, 40 if full else 8, folder)
            faults += grep.differences(built[0], grep.of_text(built[0]), folder, tally)
            faults += grep.differences(built[1], grep.of_object(built[1]), folder, tally)
        triton = [one for one in two_routes.COMPILERS[3:] if not missing(*one.needed)]
        for _, _, text, linked in _units(20 if full else 2, 4, triton) if triton else ():
            faults += grep.differences(text, grep.of_text(text), folder, tally)
            faults += grep.differences(linked, grep.of_object(linked), folder, tally)
        for linked in islice(grep.code_objects(LIBRARIES[1:], folder), None if full else 1):
            faults += grep.differences(linked, grep.of_object(linked), folder, tally)
    counts = ", ".join(f"{tally[one]:,} {one}" for one in ("matrix", "lds", "atomics", "barriers"))
    return (*title, f"{tally['kernels']:,} kernels: {counts}; {len(faults)} differences"), faults


ALL: dict[str, Proof] = {
    "fuzz": fuzzed_instructions,
    "instructions": written_instructions,
    "blocks": blocks,
    "texts": texts,
    "objects": objects,
    "symbols": symbols,
    "routes": routes,
    "broken": broken,
    "upper": upper,
    "classes": classes,
    "grep": grepped,
}
