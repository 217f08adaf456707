"""Register pressure in words, for the text formats and `explain`."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence

from kernelinfo.kernel import counted
from kernelinfo.kernel.code_object import FEW_COPIES, InstructionCounts
from kernelinfo.kernel.names import demangle, short
from kernelinfo.kernel.needs import RegisterNeeds, in_words, registers_of
from kernelinfo.model import Occupancy
from kernelinfo.model.limits import RESOURCES
from kernelinfo.pressure.debug_information import LdsUse, LdsVariable
from kernelinfo.pressure.function import CodeLocation
from kernelinfo.pressure.listing import is_whole
from kernelinfo.pressure.measure import Measured
from kernelinfo.pressure.nouns import CodeRange, InstructionMix, LiveValues, LoopPressure, Story
from kernelinfo.reading.facts import SourceLine
from kernelinfo.render.paint import known, percent, printable, size, waves_per_simd

HEADINGS = InstructionCounts._make(
    (
        *("instr", "vector", "matrix", "scalar", "LDS", "load", "store", "atomic", "s_load"),
        *("scratch", "branch", "wait", "barrier", "copy", "other", "load B", "store B"),
    )
)
"""Heading of each count."""

_AMONG_SOURCE = "asm "
"""Before a line of the assembly that stands beside lines of the source."""
NO_LINE = "no source line"
"""Name of the row of instructions without a source line."""
_MOST_CALLS = 3
_MOST_COPYING = 5  # source lines that one sentence names
_MOST_IDLE = 2  # groups of values that one sentence names
_WHY = {
    "half an instruction": "half an instruction: one side of `::` is empty",
    "tangled branches": "tangled branches: values were not followed through every way",
    "far values": "far values: the search for where they are written and used ended early",
    "calls": "calls: what the callee uses, its arguments and results are not in the text",
    "indexed registers": "indexed registers: which ones depends on m0",
    "indirect branch": "indirect branch: where it leads is not in the text",
    "undecoded words": "undecoded words: no llvm-objdump that is installed knows what they encode",
    "unknown mode of s_set_vgpr_msb": "s_set_vgpr_msb: where paths with different modes"
    " meet, the VGPRs are not known",
}


def located(location: CodeLocation, near: CodeLocation | None = None) -> str:
    """A source line, else an assembly line, else an address. It is `:44` in the same file as
    `near`, and `asm line 44` if only `near` has a source line."""
    if location.source is not None:
        return _line(location.source, near and near.source)
    if location.line is not None:
        return f"{_AMONG_SOURCE if near and near.source else ''}line {location.line}"
    return (
        f"0x{location.address:x}"
        if location.address is not None
        else f"instruction {location.number}"
    )


def begin(loop: LoopPressure, story: Story) -> str:
    """The place of the first instruction of a loop's header. A line of assembly is marked as such
    if other loops have source lines."""
    is_among_source = story.has_source and not loop.at.source and loop.at.line is not None
    return f"{_AMONG_SOURCE if is_among_source else ''}{located(loop.at)}"


def _line(source: SourceLine, near: SourceLine | None) -> str:
    file = "" if near and near.file == source.file else posixpath.basename(source.file)
    return printable(f"{file}:{source.line}")


def in_text(location: CodeLocation) -> str:
    """The source line and the assembly line; without a source line only the assembly line."""
    place = located(location._replace(source=None))
    return f"{located(location)} ({place})" if location.source else place


def written(value: LiveValues, near: CodeLocation) -> str:
    """The place of a value's last write: a location or range, or a region relative to the loop."""
    if value.written is None or value.written_last is None:
        return "at the entry" if value.next_read else "unknown"
    return _relative(value.written, value.written_last, value.total, near)


def next_read(value: LiveValues, near: CodeLocation) -> str:
    """Place of a value's next read."""
    if value.next_read is None or value.next_read_last is None:
        return "unknown"
    if value.next_turn and value.next_read.source is None and value.total > 2:
        return "next turn"
    return _relative(value.next_read, value.next_read_last, value.total, near)


def _relative(first: CodeLocation, last: CodeLocation, count: int, near: CodeLocation) -> str:
    """A location, or a range of locations; for a group of more than two values the region relative
    to a loop."""
    if first.source is None and first.region != "elsewhere" and count > 2:
        return first.region
    return _span(first, last, near)


def _span(begin: CodeLocation, last: CodeLocation, near: CodeLocation | None = None) -> str:
    first, end = located(begin, near), located(last, near)
    return (
        first
        if first == end
        else f"{first} – {end.removeprefix(_AMONG_SOURCE).removeprefix('line ')}"
    )


def untouched(value: LiveValues) -> str:
    """In words, for how many instructions a value is untouched, and how the loop uses it."""
    if value.untouched is None or value.untouched_most is None:
        return "unknown"
    span = str(value.untouched)
    if value.untouched_most > value.untouched:
        span += f" – {value.untouched_most}"
    if value.in_loop == "through":
        return f"{span}: not touched in the whole loop"
    return f"{span}; only read in the loop" if value.in_loop == "constant" else span


def inexact(story: Story) -> str:
    """Reasons why the story is a lower bound, in words; empty if it is exact."""
    return "; ".join(_WHY.get(reason, reason) for reason in story.reasons)


def unwritten(measured: Measured) -> str:
    """The registers that the code reads before anything wrote them; empty if a finding names
    them."""
    story = measured.story
    is_found = any(finding.rule == "KI007" for finding in measured.result.findings)
    if not story.unwritten or is_found:
        return ""
    place = f" at {located(story.unwritten_at)}" if story.unwritten_at else ""
    return (
        f"{', '.join(story.unwritten)}: read{place} before any write; compilers do so where the "
        "value does not matter"
    )


def copies(story: Story) -> str:
    """In words, the source lines that copy the most registers; empty if there are few copies or no
    line information."""
    number = story.code.counts.copies
    by_line = {line.source: line.code.counts.copies for line in story.lines}
    lines = [(source, count) for source, count in by_line.items() if source and count]
    if number < FEW_COPIES or not lines:
        return ""
    lines.sort(key=lambda line: -line[1])
    parts, near = list[str](), None
    for source, count in lines[:_MOST_COPYING]:
        parts.append(f"{count} at {_line(source, near)}")
        near = source
    if hidden := lines[_MOST_COPYING:]:
        rest = sum(count for _, count in hidden)
        parts.append(f"{rest} at {counted(len(hidden), 'more line')}")
    if unknown := by_line.get(None):
        parts.append(f"{unknown} without a source line")
    total = f"{number} of {counted(story.instructions, 'instruction')} copy registers"
    return f"{at_least(story)}{total}: {', '.join(parts)}"


def at_least(story: Story, blank: str = "") -> str:
    """`≥` and a space if some of the code was not read, so that its counts are too low."""
    return "" if is_whole(story.reasons) else f"≥{blank}"


def in_short(story: Story, most_idle: int = _MOST_IDLE) -> list[tuple[str, str]]:
    """(label, sentence) of the peak, of what holds it, of called functions, of used registers that
    are not live, and of the next step below the peak with up to `most_idle` groups of values.
    Sentences that do not apply are left out."""
    peak = story.peak
    bound = "" if story.exact else "at least "
    loop = f" in {printable(peak.loop)}" if peak.loop else ""
    text = f"{bound}{peak.pressure.vector} vector registers live at {in_text(peak.at)}{loop}"
    if reason := inexact(story):
        text += f" ({reason})"
    rows = [("pressure", text), ("held by", held_by(story)), ("calls", calls(story))]
    rows += [("used", unused_step(story)), ("to reach", to_reach(story, most_idle))]
    return [(label, sentence) for label, sentence in rows if sentence]


_CLASSES = {
    "vector": ("vector", "vector"),
    "matrix": ("matrix", "matrix"),
    "scalar": ("scalar", "scalar"),
    "lds": ("LDS", "LDS"),
    "loads": ("load", "loads"),
    "stores": ("store", "stores"),
    "atomics": ("atomic", "atomics"),
    "scalar_loads": ("scalar load", "scalar loads"),
    "scratch": ("scratch", "scratch"),
    "branches": ("branch", "branches"),
    "waits": ("wait", "waits"),
    "barriers": ("barrier", "barriers"),
    "copies": ("copy", "copies"),
}
"""Class of instructions -> what one and several of them are called."""


def mix(story: Story) -> list[str]:
    """In words, the largest classes of instructions, matrix instructions always among them, each
    with its number: in the whole code, then in the loop with the most instructions."""
    count = f"{at_least(story)}{counted(story.instructions, 'instruction')}"
    parts = [f"{count}: {_by_class(story.code, 4)}"]
    if story.loops:
        loop = max(story.loops, key=lambda loop: loop.code.counts.instructions)
        where = printable(loop.label) if loop.label else "the loop"
        count = f"{loop.code.counts.instructions} in {where} at {begin(loop, story)}"
        parts.append(f"{count}: {_by_class(loop.code, 3)}")
    return parts


def by_class(code: InstructionMix) -> str:
    """All counts except the number of instructions: classes, spills, and the bytes that one lane
    moves."""
    parts = [_by_class(code, None)]
    if code.counts.other:
        parts.append(f"{code.counts.other} other")
    if code.counts.matrix:
        parts.append(f"matrix share {percent(100 * code.counts.matrix_share)}")
    if code.spill_stores or code.spill_reloads:
        parts.append(f"spill st/ld {code.spill_stores} / {code.spill_reloads}")
    for count, does in ((code.counts.load_bytes, "loads"), (code.counts.store_bytes, "stores")):
        if count != 0:
            parts.append(f"{does} {known(count)} B")
    return ", ".join(filter(None, parts))


def _by_class(code: InstructionMix, limit: int | None) -> str:
    numbers = [(getattr(code.counts, field), names) for field, names in _CLASSES.items()]
    largest = sorted(numbers, key=lambda pair: -pair[0])[:limit]
    if code.counts.matrix and (matrix := (code.counts.matrix, _CLASSES["matrix"])) not in largest:
        largest[-1] = matrix
    return ", ".join(f"{count} {names[count > 1]}" for count, names in largest if count)


_SINGULAR: dict[str | None, str] = {"addresses": "address", "others": "other", None: "SGPR"}
"""Role → its singular, where that is not the role without its final s."""


def of_role(total: int, role: str | None) -> str:
    """Registers of a role with their number: `64 accumulators`, `1 address`."""
    name = role or "SGPRs"
    return f"{total} {_SINGULAR.get(role, name.removesuffix('s')) if total == 1 else name}"


def held_by(story: Story) -> str:
    """Vector registers of each role in the bill: `64 accumulators, 32 fragments, 6 addresses`."""
    return ", ".join(of_role(line.total, line.role) for line in story.bill)


def needs(measured: Measured) -> str:
    """In words, what spilling code needs, and the step with enough registers; for a kernel whose
    needs are unknown, why. Empty for code without spill slots."""
    story, result = measured.story, measured.result
    needs = story.needs
    if needs is None:
        return f"cannot tell: {story.needs_unknown}" if measured.is_kernel else ""
    return in_words(needs, result.kernel.traits, result.occupancy) if needs.shares else ""


def crossing(measured: Measured) -> str:
    """In words, the needed values by role: first those that are live across the border of their
    loop or block, then the others; then how many cross it at once, if there are fewer registers."""
    needs, occupancy = measured.story.needs, measured.result.occupancy
    if needs is None or not needs.shares:
        return ""
    border = "the loop's border" if needs.is_loop else "the border of its block"
    parts = [
        f"{sum(counts)} {what} ({', '.join(_of_roles(needs, counts))})"
        for counts, what in (
            ([share.crossing for share in needs.shares], f"cross {border}"),
            ([share.inside for share in needs.shares], "begin and end inside"),
        )
        if any(counts)
    ]
    given = registers_of(occupancy) if occupancy else None
    if given is not None and needs.border > given:
        parts.append(f"{needs.border} values cross it at once; {given} registers")
    return "; ".join(parts)


def _of_roles(needs: RegisterNeeds, counts: Sequence[int]) -> list[str]:
    return [
        of_role(number, share.role) if share.role else f"{number} in spill slots alone"
        for share, number in zip(needs.shares, counts, strict=True)
        if number
    ]


def calls(story: Story) -> str:
    """What the first few called functions need on top of the caller's registers."""
    parts = [
        f"{printable(short(demangle(call.function)))} at {in_text(call.at)} needs "
        f"{'' if call.exact else 'at least '}{call.needs} vector registers, "
        f"{call.live} are live across it: {call.together}"
        for call in story.calls[:_MOST_CALLS]
    ]
    if hidden := len(story.calls) - len(parts):
        parts.append(f"and {counted(hidden, 'more function')} that need less")
    return "; ".join(parts)


def shared(lds: LdsUse) -> str:
    """Variables in LDS, with size in bytes and source line."""
    if not lds.bytes:
        return "reached and none reserved: sized at launch, see --dynamic-lds"
    if not lds.variables:
        return f"{size(lds.bytes)}, not all of which debug information names"
    first, *further = lds.variables
    parts = [_variable(first, None), *(_variable(variable, first.source) for variable in further)]
    return " · ".join(parts)


def _variable(variable: LdsVariable, near: SourceLine | None) -> str:
    where = f" {_line(variable.source, near)}" if variable.source else ""
    return printable(f"{variable.name} {size(variable.bytes)}") + where


def to_reach(story: Story, most_idle: int = _MOST_IDLE, occupancy: Occupancy | None = None) -> str:
    """The next occupancy step below the peak, in words, and the values whose registers have to be
    freed for that step. With an occupancy, the words also name another resource that allows fewer
    waves than the step. Empty if no step is below the peak."""
    if not story.advice:
        return ""
    step = story.advice[0]
    where = counted(step.above, "instruction")
    freed = [*zip(step.idle, step.freed, strict=True)]
    parts = [_idle(*group, story.peak.at) for group in freed[:most_idle]]
    if remaining := step.fewer - sum(step.freed[:most_idle]):
        longest = max((value.untouched_most or 0 for value, _ in freed[most_idle:]), default=0)
        idle = (
            f"untouched for {counted(longest, 'instruction')} or less" if longest else "none idle"
        )
        parts.append(f"and {remaining} more, {idle}")
    fewer = str(step.fewer)
    if story.files == "separate":
        of_class = Counter[str]()
        for value, number in freed:
            of_class[value.register_class] += number
        fewer = " and ".join(counted(of_class[kind], kind.upper()) for kind in of_class)
    waves = waves_per_simd(step.waves_per_simd) + _limited(step.waves_per_simd, occupancy)
    goal = f"≤ {step.at_most} ({waves}), {fewer} fewer live at {where}"
    if most_idle or not freed:
        return f"{goal}: {'; '.join(parts)}"
    first, number = freed[0]
    name = f" of {printable(first.variable)}" if first.variable else ""
    more = f", {step.fewer - number} more" if step.fewer > number else ""
    return f"{goal}: {some(first.registers, 2)}{name} idle for {first.untouched or '?'}{more}"


def _limited(waves: float, occupancy: Occupancy | None) -> str:
    """The lowest limit other than VGPRs, if it is below these waves per SIMD: `; LDS allows 3`;
    else empty."""
    others = [
        (limit.waves_per_simd, RESOURCES[limit.resource])
        for limit in (occupancy.limits if occupancy else ())
        if limit.resource != "vgpr" and limit.waves_per_simd is not None
    ]
    most, resource = min(others, default=(waves, ""))
    allows = "allow" if resource.endswith("s") else "allows"
    return f"; {resource} {allows} {most:.4g}" if most < waves else ""


def unused_step(story: Story) -> str:
    """A hint if the live registers would fit a better step than the used ones; else empty."""
    if not story.exact:
        return ""
    live, used = story.peak.pressure.vector, story.used.vector(story.files)
    fits = [step for step in story.steps if step.vgprs >= live]
    takes = [step for step in story.steps if step.vgprs >= used]
    if not takes or fits[0].waves_per_simd <= takes[0].waves_per_simd:
        return ""
    return (
        f"{used} used, yet {live} live at once, which may fit ≤ {fits[0].vgprs} "
        f"({waves_per_simd(fits[0].waves_per_simd)}): the compiler may not have aimed lower, as "
        "`kernelinfo sweep` asks it to; else look for tuples that need a gap, calls, or registers "
        "that assembly in the source claims"
    )


def _idle(value: LiveValues, freed: int, near: CodeLocation) -> str:
    name = f" of {printable(value.variable)}" if value.variable else ""
    total = value.total if freed == value.total else f"{freed} of {value.total}"
    span = "unknown instructions"
    if value.untouched is not None:
        span = counted(value.untouched, "instruction")
    return (
        f"{total} ({some(value.registers, 2)}){name} written {written(value, near)}, read "
        f"{next_read(value, near)}, untouched for {span}"
    )


def apart(loop: LoopPressure) -> str:
    """Where the blocks of a loop are; empty if they are contiguous from its header on."""
    if [part.first.number for part in loop.ranges] == [loop.at.number]:
        return ""
    places = (
        CodeRange(*(location._replace(source=None) for location in part)) for part in loop.ranges
    )
    pieces = " and ".join(_span(*place) for place in places).replace("and line ", "and ")
    return f"{pieces}, header at {located(loop.at._replace(source=None))}"


def some(registers: Sequence[str], limit: int = 4) -> str:
    """The first few names: `v[34:81] v83 …`."""
    return " ".join(registers[:limit]) + (" …" if len(registers) > limit else "")
