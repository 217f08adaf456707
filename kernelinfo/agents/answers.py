"""One function per tool, from its arguments to text and JSON values. Nothing is written."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import has_magic
from inspect import cleandoc
from typing import Any, NamedTuple

from kernelinfo.agents.messages import say
from kernelinfo.analysis import analyse
from kernelinfo.analysis.options import Options
from kernelinfo.compare import compare
from kernelinfo.compare.saved import read_build
from kernelinfo.errors import KernelinfoError, OptionError, ReadError, bug
from kernelinfo.hardware import targets
from kernelinfo.hardware.products import target_named
from kernelinfo.kernel import Item, Kernel, Result
from kernelinfo.kernel.columns import condition
from kernelinfo.kernel.record import record
from kernelinfo.model import occupancy
from kernelinfo.model.calculator import arch as find_arch
from kernelinfo.model.limits import Launch
from kernelinfo.opening import is_below, only_below
from kernelinfo.pressure.measure import Look, Measured, measure
from kernelinfo.reading.blob import Note, Problem
from kernelinfo.reading.containers.files import STANDARD_INPUT
from kernelinfo.reading.target_id import named_target_id
from kernelinfo.render import View, hardware, paint, table
from kernelinfo.render import text as report_text
from kernelinfo.render.diff import text as diff_text
from kernelinfo.render.diff.data import document as diff_document
from kernelinfo.render.explain import render_numbers
from kernelinfo.render.explanations import explanations
from kernelinfo.render.json import as_json, kernel_document, occupancy_document
from kernelinfo.render.pressure import text as pressure_text
from kernelinfo.render.pressure.data import kernel_document as pressure_document
from kernelinfo.rules import every_rule, find

# Answers cut to a bound, with a count of all that is left out.

ANSWER_BYTES = 20_000
"""Most bytes of one answer as JSON, text included: about 7,000 tokens of a model's context."""

MOST_ITEMS = 64
"""Most members of one list in an answer."""

_DOCUMENT_BYTES = 12_000
_ENVELOPE_BYTES = 300  # keys and counts around the answer
_COUNT_BYTES = 120  # the line that counts what a text lacks
_LIMITS = (
    *((MOST_ITEMS, 4000), (MOST_ITEMS, 400), (32, 400), (16, 200), (8, 200)),
    *((4, 120), (2, 120), (1, 80), (0, 80)),
)
"""(most members of a list, most characters of a text), tried in this order."""


class Answer(NamedTuple):
    """The answer to one call."""

    text: str
    document: dict[str, Any]
    left_out: Mapping[str, int] = {}
    """List of the document -> number of members that it lacks."""
    remarks: Iterable[Problem | Note] = ()
    is_error: bool = False
    """True if there is no answer, and the text says why."""


def bounded(answer: Answer) -> Answer:
    """The answer in at most `ANSWER_BYTES`."""
    document = _fitted(answer.document, answer.left_out)
    room = ANSWER_BYTES - _ENVELOPE_BYTES - _size(document)
    return Answer(_cut_text(answer.text, room), document, is_error=answer.is_error)


def refused(message: str) -> Answer:
    """The answer to a request that cannot be answered."""
    return bounded(Answer(message, {"problems": [message]}, is_error=True))


def _fitted(document: dict[str, Any], left_out: Mapping[str, int]) -> dict[str, Any]:
    """The document, with its lists and texts cut to the first of `_LIMITS` that makes it at most
    `_DOCUMENT_BYTES` long. What was cut is counted in the member `left_out`."""
    for members, longest in _LIMITS:
        counts = Counter(left_out)
        shown: dict[str, Any] = _cut(document, "", members, longest, counts)
        shown |= {"left_out": dict(counts)} if counts else {}
        if _size(shown) <= _DOCUMENT_BYTES:
            break
    return shown


def _cut(value: Any, place: str, members: int, longest: int, left_out: Counter[str]) -> Any:
    """The JSON value, with lists of at most `members` items and texts of at most `longest`
    characters, and without members of objects that are None. `left_out` counts the list items and
    characters that were cut, by place: `kernels[].limits`."""
    if isinstance(value, str):
        if len(value) > longest:
            left_out[f"{place} (characters)"] += len(value) - longest
        return _encodable(value[:longest])
    if isinstance(value, Mapping):
        dot = f"{place}." if place else ""
        stated = ((name, member) for name, member in value.items() if member is not None)
        return {
            str(name): _cut(member, f"{dot}{name}", members, longest, left_out)
            for name, member in stated
        }
    if isinstance(value, list | tuple):
        if len(value) > members:
            left_out[place] += len(value) - members
        return [_cut(item, f"{place}[]", members, longest, left_out) for item in value[:members]]
    return value


def _cut_text(text: str, room: int) -> str:
    """The first lines of a text, in at most `room` bytes of JSON. If some are missing, a last line
    states the number of all lines."""
    count = text.count("\n") + (not text.endswith("\n"))
    room -= _COUNT_BYTES
    kept: list[str] = []
    for line in paint.harmless(_encodable(text[:room]), color=False).splitlines():
        room -= _size(line)
        if room < 0:
            break
        kept.append(line)
    is_cut = len(kept) < count or len(text) > sum(map(len, kept)) + count
    rest = say("answer-cut-off", count=count)
    return "\n".join([*kept, rest] if is_cut else kept)


def _size(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _encodable(text: str) -> str:
    """The text; bytes of paths that are not UTF-8 are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


_EXPLAINED = 3
"""Most kernels explained in one answer; one takes about 5 kB."""
_MOST_PROBLEMS = 20
_VIEW = View(names="short", top=20)

ToolArguments = Mapping[str, Any]


def answer(name: str, arguments: ToolArguments, root: str) -> Answer:
    """The answer of the tool `name`. Files are read below the folder `root` only.

    A request that cannot be answered gets an answer, too: its text says what was found and what to
    do.
    """
    os.chdir(root)
    try:
        with only_below(root):
            whole = ANSWERS[name](arguments, root)
            problems = [*dict.fromkeys(whole.remarks)]
    except (KernelinfoError, OSError) as error:
        return refused(str(error))
    except Exception as error:
        return refused(bug(error))
    lines = [*map(_line, problems)]
    left = {"problems": len(lines) - _MOST_PROBLEMS} if lines[_MOST_PROBLEMS:] else {}
    document = whole.document | ({"problems": lines[:_MOST_PROBLEMS]} if lines else {})
    above = "".join(f"{line}\n" for line in lines[:_MOST_PROBLEMS])
    text, left_out = above + whole.text, {**whole.left_out, **left}
    return bounded(Answer(text, document, left_out, is_error=not whole.text))


def report(arguments: ToolArguments, root: str) -> Answer:
    """All kernels of a path, worst first."""
    items, remarks = _read(arguments, root, _options(arguments, root))
    results = sorted((item for item in items if isinstance(item, Result)), key=table.severity)
    rows = [record(result) for result in results[:MOST_ITEMS]]
    counts = Counter(finding.rule for result in results for finding in result.findings)
    summary = {
        "kernels": len(results),
        "spilling": sum(result.kernel.spilled_registers > 0 for result in results),
        "findings": dict(sorted(counts.items())),
    }
    text = report_text.render(items, _VIEW)
    document = {"summary": summary, "kernels": rows}
    return Answer("".join(text), document, _rest(results, rows), remarks)


def explain(arguments: ToolArguments, root: str) -> Answer:
    """The first three kernels of the given name, number by number."""
    options = _options(arguments, root)._replace(locate=_every, arguments=_every)
    items, remarks = _read(arguments, root, options)
    results = [item for item in items if isinstance(item, Result)]
    shown = results[:_EXPLAINED]
    bugs: list[Problem] = []
    text = "".join(explanations(iter(shown), _VIEW, None, None, None, options, bugs.append))
    documents = [kernel_document(result) for result in shown]
    return Answer(text, {"kernels": documents}, _rest(results, shown), [*remarks, *bugs])


def pressure(arguments: ToolArguments, root: str) -> Answer:
    """The live registers of one kernel, or the peak of each kernel of a path."""
    path, options = _path(arguments, "path", root), _options(arguments, root)
    is_one = "kernel" in arguments
    items = [*measure(path, options, Look(lds=is_one))]
    measured = [item for item in items if isinstance(item, Measured)]
    measured.sort(key=lambda kernel: -kernel.story.peak.pressure.vector)
    shown = measured[: _EXPLAINED if is_one else MOST_ITEMS]
    documents = [_without_curve(pressure_document(kernel)) for kernel in shown]
    if not is_one:
        documents = [{key: document[key] for key in _OF_EACH} for document in documents]
    text = pressure_text.render(shown, _VIEW._replace(whole=is_one))
    remarks = [item for item in items if not isinstance(item, Measured)]
    return Answer("".join(text), {"kernels": documents}, _rest(measured, shown), remarks)


def _without_curve(document: dict[str, Any]) -> dict[str, Any]:
    """The live registers of a kernel, without the numbers for each instruction, which only pages
    draw."""
    return {
        key: [*value] if isinstance(value, Iterator) else value
        for key, value in document.items()
        if key not in ("curve", "blocks")
    }


_OF_EACH = ("name", "symbol", "target", "exact", "instructions", "used", "peak")
"""Keys of a kernel's live registers that an answer on all kernels of a path keeps."""


def diff(arguments: ToolArguments, root: str) -> Answer:
    """Changes from one build to another."""
    old, new = (_path(arguments, side, root) for side in ("old", "new"))
    options = _options(arguments, root)._replace(instructions=False)
    (before, problems), (after, further) = read_build(old, options), read_build(new, options)
    comparison = compare(before, after)._replace(names=(old, new))
    document = diff_document(comparison)
    kernels = [*document["kernels"]]
    document = {
        "summary": document["summary"],
        "compilers": document["compilers"],
        "kernels": kernels[:MOST_ITEMS],
    }
    is_answered = comparison.pairs or (comparison.gone and comparison.new)
    text = diff_text.render(comparison, _VIEW) if is_answered else ()
    left_out = _rest(kernels, kernels[:MOST_ITEMS])
    return Answer("".join(text), document, left_out, [*problems, *further])


def calc(arguments: ToolArguments, root: str) -> Answer:
    """The occupancy of given numbers."""
    arch = find_arch(arguments["target"])
    demand = arch.demand(**{name: arguments[name] for name in _DEMANDED if name in arguments})
    launch = Launch(
        arguments.get("workgroup_size", 256), trap_handler=arguments.get("trap_handler", True)
    )
    result = occupancy(arch.target, demand, launch)
    document = {
        "target": arch.target.name,
        "workgroup_size": launch.workgroup_size,
        **occupancy_document(result),
    }
    return Answer("".join(render_numbers(arch.target, result, _VIEW, [])), document)


_DEMANDED = (
    "vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes_per_lane", "wave_size", "wgp_mode",
)  # fmt: skip


def limits(arguments: ToolArguments, root: str) -> Answer:
    """The step table of a target."""
    arch = find_arch(arguments["target"])
    size = arguments.get("workgroup_size", 256)
    rungs = arch.limits(
        workgroup_size=size,
        wave_size=arguments.get("wave_size"),
        wgp_mode=arguments.get("wgp_mode"),
        trap_handler=arguments.get("trap_handler", True),
    )
    about = f"{arch.target.name} ({arch.target.family}), workgroups of {size}"
    text = hardware.render_limits(rungs, f"{about}: the most for each step", _VIEW)
    steps = [rung._asdict() for rung in rungs]
    document = {"target": arch.target.name, "workgroup_size": size, "steps": steps}
    return Answer("".join(text), document)


def arch(arguments: ToolArguments, root: str) -> Answer:
    """The constants of a target, or the names of all targets."""
    if "target" in arguments:
        target = target_named(arguments["target"])
        return Answer(
            "".join(hardware.render_constants(target, _VIEW)), {"target": as_json(target)}
        )
    every = [targets.find(name) for name in targets.known()]
    named = [
        {"name": target.name, "family": target.family, "products": target.products}
        for target in every
    ]
    rows = named[:MOST_ITEMS]
    text = "".join(hardware.render_targets(every, _VIEW))
    return Answer(text, {"targets": rows}, _rest(named, rows, "targets"))


def rules(arguments: ToolArguments, root: str) -> Answer:
    """All rules, one line each, or one rule in full."""
    if "rule" not in arguments:
        names = [hardware.rule_document(rule) for rule in every_rule()]
        short = [{k: v for k, v in rule.items() if k != "documentation"} for rule in names]
        return Answer("".join(hardware.render_rules(_VIEW)), {"rules": short})
    rule = find(arguments["rule"])
    if rule is None:
        raise OptionError(say("rule-not-there", rule=arguments["rule"]))
    return Answer(cleandoc(rule.documentation), hardware.rule_document(rule))


ANSWERS: dict[str, Callable[[ToolArguments, str], Answer]] = {
    tool.__name__: tool for tool in (report, explain, pressure, diff, calc, limits, arch, rules)
}
"""The function of each tool."""


def _every(kernel: Kernel) -> bool:
    return True


def _read(
    arguments: ToolArguments, root: str, options: Options
) -> tuple[list[Item], Iterator[Problem | Note]]:
    """The items of the path of a request, and the problems and notes among them."""
    items = [*analyse([_path(arguments, "path", root)], options)]
    return items, (item for item in items if isinstance(item, Problem | Note))


def _path(arguments: ToolArguments, key: str, root: str) -> str:
    """A path of the request, relative to the folder `root`. Raises `ReadError` for a path outside
    of it, and for a glob that is not the name of a file."""
    path = arguments[key]
    whole = os.path.join(root, path)
    if "\0" in path or not is_below(whole, root):
        raise ReadError(say("path-outside", path=path, root=root))
    inside = os.path.relpath(whole, root)
    if has_magic(inside) and not os.path.lexists(inside):
        raise ReadError(say("path-missing", path=path))
    return "./-" if inside == STANDARD_INPUT else inside


def _options(arguments: ToolArguments, root: str) -> Options:
    """The choice of kernels and the launch that a request states."""
    kernel, target, where = (arguments.get(key) for key in ("kernel", "target", "where"))
    arch = arguments.get("arch")
    return Options(
        arch=arch and target_named(arch).name,
        kernels=(kernel,) if kernel else (),
        targets=(named_target_id(target),) if target else (),
        members=(arguments["member"],) if "member" in arguments else (),
        where=condition(where) if where else None,
        workgroup_size=arguments.get("workgroup_size"),
        dynamic_lds_bytes=arguments.get("dynamic_lds_bytes"),
        trap_handler=arguments.get("trap_handler", True),
    )


def _rest(
    every: Sequence[object], shown: Sequence[object], noun: str = "kernels"
) -> dict[str, int]:
    """`{noun: number of the items that were found but are not shown}`; empty if all are shown."""
    return {noun: len(every) - len(shown)} if len(every) > len(shown) else {}


def _line(remark: Problem | Note) -> str:
    """A problem or note on one line: path, member and message."""
    place = f"{remark.path} › {remark.member}" if remark.member else remark.path
    return f"{place}: {remark.message}"
