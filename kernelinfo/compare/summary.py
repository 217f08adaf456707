"""Summaries for comparing builds: resources and occupancy of each kernel."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from typing import Any, NamedTuple, cast

from kernelinfo.kernel import Result
from kernelinfo.kernel.code_object import CodeObject, LoopCounts, member_file
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS, Record, compared_value
from kernelinfo.kernel.traits import Traits
from kernelinfo.model.limits import Launch, Resource
from kernelinfo.reading.facts import SourceLine
from kernelinfo.reading.target_id import UNKNOWN_TARGET, target_id
from kernelinfo.reading.target_id import compilers as compilers_of

_TYPES: dict[str, Any] = {"integer": int | None, "number": float | None}
_FIELDS: list[tuple[str, Any]] = [
    *((number.field, _TYPES[number.type]) for number in NUMBERS),
    *(("limiters", tuple[Resource, ...]), ("exact", bool | None)),
    *((number.field, _TYPES[number.type]) for number in INSTRUCTIONS),
]
_named_by_field = cast(Any, NamedTuple("_named_by_field", _FIELDS))
_named_by_field.__new__.__defaults__ = (None,) * len(_FIELDS)


class KernelNumbers(_named_by_field):  # type: ignore[misc, valid-type]  # fields of the table
    """The numbers of a kernel that comparisons use: each column with a `field`, under that name,
    `limiters` and `exact`.

    A number is None if the input does not state it. Scratch is also None if it grows at run time:
    its known part is not comparable.
    """

    __slots__ = ()


class KernelSummary(NamedTuple):
    """One kernel of one build. Its numbers can also be read by name: `kernel.vgprs`."""

    target: str
    """Processor with the features that the code sets: `gfx90a:sramecc+:xnack-`."""
    name: str
    """Demangled name, with template arguments."""
    symbol: str
    """Mangled name."""
    code_object: str
    """Path relative to the build, and the member inside the file."""
    numbers: KernelNumbers
    """One object for all kernels of a build with equal numbers."""
    source: SourceLine | None = None
    """Source line; shown, not compared."""
    accepted: tuple[tuple[str, str], ...] = ()
    """(rule, severity) of findings that a baseline accepts; not compared."""
    options: tuple[tuple[str, str], ...] = ()
    """Triton's constants and compile options; shown, not compared."""
    loops: tuple[LoopCounts, ...] | None = None
    """Loops of the kernel, as in `Kernel`, but without addresses; None if not known."""

    def __getattr__(self, name: str) -> Any:
        """The kernel's number of that name, such as `kernel.vgprs`."""
        return getattr(self.numbers, name)

    @property
    def content(self) -> tuple[object, ...]:
        """The compared values, in the order of `COMPARED`."""
        return self.target, self.name, self.symbol, self.code_object, *self.numbers

    @property
    def processor(self) -> str:
        """The target without features."""
        return self.target.partition(":")[0]

    @property
    def place(self) -> tuple[str, str]:
        """(path, member) in the build; the path is empty if the build is one file."""
        path, separator, member = self.code_object.partition(" › ")
        if not separator and member_file(path) != path:  # the entry of a bundle
            return "", path
        return path, member

    @property
    def file(self) -> str:
        """Path of the file in the build, without the member; empty if the build is one file."""
        return self.code_object.partition(" › ")[0]

    @property
    def unit(self) -> str:
        """Path and member without the target, so that all targets of a file share it."""
        return _unit(self.code_object, self.processor)


IDENTITY = ("target", "name", "symbol", "code_object")
COMPARED = (*IDENTITY, *KernelNumbers._fields)


class Build(NamedTuple):
    """One build: its kernels in reading order."""

    kernels: tuple[KernelSummary, ...]
    compilers: tuple[str, ...]
    """Stamps of all compilers, linked libraries included; sorted."""
    notes: tuple[str, ...] = ()
    """Sentences on numbers that the saved file does not store."""
    targets: tuple[str, ...] = ()
    """Targets of left-out kernels, which are equal in both builds."""


Statements = dict[tuple[int, Launch | None], tuple[Traits, dict[object, KernelNumbers]]]
"""(id of traits, launch) -> the traits, which keep their id, and the numbers of all such kernels by
the values of `_OF_KERNELS`. Traits and launch have one occupancy under equal options."""


def build(
    results: Iterable[Result],
    name_of: Callable[[CodeObject], str],
    shared: dict[KernelSummary, KernelSummary] | None = None,
    statements: Statements | None = None,
) -> Build:
    """The build of these kernels; `name_of` names a code object in it.

    Builds that get the same `shared` share one object for equal kernels. Builds with equal options
    that get the same `statements` read equal statements only once.
    """
    compilers: set[str] = set()
    kernels = _summaries(results, name_of, compilers, {} if statements is None else statements)
    if shared is not None:
        kernels = (shared.setdefault(kernel, kernel) for kernel in kernels)
    return Build(tuple(kernels), tuple(sorted(compilers)))


def _summaries(
    results: Iterable[Result],
    name_of: Callable[[CodeObject], str],
    compilers: set[str],
    statements: Statements,
) -> Iterator[KernelSummary]:
    """The summaries of the kernels; see `build` for the arguments. Adds the stamps of compilers to
    `compilers`."""
    code_object: CodeObject | None = None
    for result in results:
        if result.kernel.code_object is not code_object:
            code_object = result.kernel.code_object
            place = name_of(code_object)
            target = target_id(code_object.target, code_object.features)
            compilers.update(compilers_of(code_object.stamps))
        kernel = result.kernel
        if kernel.instructions:
            numbers = numbers_of(result)
        else:
            statement = id(kernel.traits), result.occupancy and result.occupancy.launch
            values = tuple([compared_value(number, result) for number in _OF_KERNELS])
            if (stated := statements.get(statement)) is None:
                if len(statements) >= _MOST_STATEMENTS:
                    statements.clear()
                statements[statement] = stated = kernel.traits, {values: numbers_of(result)}
            by_values = stated[1]
            if values not in by_values:
                fields = (number.field for number in _OF_KERNELS)
                others = next(iter(by_values.values()))
                by_values[values] = others._replace(**dict(zip(fields, values, strict=True)))
            numbers = by_values[values]
        yield KernelSummary(
            target=target,
            name=intern(kernel.name),  # 12,591 different names of 88,137 kernels
            symbol=intern(kernel.symbol),
            code_object=place,
            numbers=numbers,
            source=kernel.source,
            options=code_object.options,
            loops=kernel.loops and tuple([loop._replace(address=None) for loop in kernel.loops]),
        )


_MOST_STATEMENTS = 1 << 15
_OF_KERNELS = tuple(number for number in NUMBERS if number.part == "kernel")
"""Numbers that may differ between kernels with the same traits and launch."""


LOOPS = "Loops"
"""Key of the loops in records of JSON documents; rows do not have them."""


def summary_of(record: Record) -> KernelSummary:
    """The summary of a record, without code object. The name comes from `Symbol`, since
    `Kernel_Name` may be short."""
    file, options = record["Source_File"], (text.partition("=") for text in record["Options"] or ())
    return KernelSummary(
        target=record["Compiled_For"] or UNKNOWN_TARGET,
        name=demangle(record["Symbol"]),
        symbol=record["Symbol"],
        code_object="",
        numbers=numbers_of(record),
        source=None if file is None else SourceLine(file, record["Source_Line"] or 0),
        options=tuple((name, value) for name, _, value in options),
        loops=record.get(LOOPS),
    )


def numbers_of(kernel: Result | Record) -> KernelNumbers:
    """The numbers of a kernel that comparisons use, under the launch of its occupancy. Instruction
    counts are included if the kernel or record has them."""
    if isinstance(kernel, Result):
        is_counted, occupancy = bool(kernel.kernel.instructions), kernel.occupancy
        limiters, exact = occupancy and occupancy.limiters, occupancy and occupancy.exact
    else:
        is_counted = INSTRUCTIONS[0].name in kernel
        limiters, exact = kernel["Limiters"], kernel["Exact"]
    return KernelNumbers(
        limiters=tuple(limiters or ()),
        exact=exact,
        **{
            number.field: compared_value(number, kernel)
            for number in (*NUMBERS, *(INSTRUCTIONS if is_counted else ()))
        },
    )


def _unit(code_object: str, processor: str) -> str:
    return re.sub(rf"{re.escape(processor)}(?![\da-f])(:\w+[+-])*", "", code_object)


def path_under(root: str, path: str, member: str | None) -> str:
    """Path relative to `root` (empty for `root` itself) and member, joined by ` › `."""
    if path == root:
        path = ""
    elif path.startswith(folder := os.path.join(root, "")) and root:
        path = path[len(folder) :]
    return " › ".join(part for part in (path, member) if part)


def place_under(root: str, code_object: CodeObject) -> str:
    """The path of a code object relative to `root`, and its member."""
    return path_under(root, code_object.path, code_object.member)


def common_root(paths: set[str]) -> str:
    """The only file, or the folder that contains all files; empty if there is none."""
    try:
        return os.path.commonpath(paths) if paths else ""
    except ValueError:  # some absolute, some not
        return ""
