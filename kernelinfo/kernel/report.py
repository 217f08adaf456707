"""The gathered results of an analysis: a sequence of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

from kernelinfo.errors import OptionError, UnknownKernelError, did_you_mean
from kernelinfo.kernel import Item, Kernel, Repeat, Result, in_html
from kernelinfo.kernel.messages import say
from kernelinfo.kernel.names import matches, nearest_kernels
from kernelinfo.reading.blob import Problem, SpirV

if TYPE_CHECKING:
    from kernelinfo.kernel.code_object import CodeObject

_MOST_LISTED = 20
"""Most kernels in a message."""


def _columns() -> ModuleType:
    """The module of columns, imported here because a report as text does without it."""
    from kernelinfo.kernel import record

    return record


class Report(Sequence[Kernel]):
    """The kernels of some paths in the order of reading, with occupancy and findings.

    It is a sequence of kernels: `len(report)` counts them, and a report without kernels is false.
    It is not a dataclass, because that would cost a tenth of every command's start-up.
    """

    __slots__ = ("_parts",)

    def __init__(
        self,
        results: tuple[Result, ...],
        problems: tuple[Problem, ...],
        repeats: tuple[Repeat, ...] = (),
        spirv: tuple[SpirV, ...] = (),
    ) -> None:
        self._parts = results, problems, repeats, spirv

    @property
    def results(self) -> tuple[Result, ...]:
        """Each kernel with its findings and its occupancy under the launch that the options
        give."""
        return self._parts[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Parts of the input that cannot be read."""
        return self._parts[1]

    @property
    def repeats(self) -> tuple[Repeat, ...]:
        """Copies of code objects, whose kernels are not counted again."""
        return self._parts[2]

    @property
    def spirv(self) -> tuple[SpirV, ...]:
        """Entries with SPIR-V, if `Options.spirv` asks for them."""
        return self._parts[3]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @classmethod
    def of(cls, items: Iterable[Item]) -> Report:
        """The report of these items; notes are left out."""
        gathered = list(items)
        return cls(
            tuple(item for item in gathered if isinstance(item, Result)),
            tuple(item for item in gathered if isinstance(item, Problem)),
            tuple(item for item in gathered if isinstance(item, Repeat)),
            tuple(item for item in gathered if isinstance(item, SpirV)),
        )

    def __len__(self) -> int:
        """Number of kernels."""
        return len(self.results)

    @overload
    def __getitem__(self, key: int) -> Kernel: ...
    @overload
    def __getitem__(self, key: slice | str) -> Report: ...
    def __getitem__(self, key: int | slice | str) -> Kernel | Report:
        """The kernel at an index, or the report of a slice or of the kernels of a name.

        A name can be anything that `-k` takes: a name with or without its arguments, a symbol, a
        glob, or `re:` and a regular expression. If no kernel has that name, the report is empty.
        """
        if isinstance(key, int):
            return self.results[key].kernel
        results = self.results[key] if isinstance(key, slice) else self._named(key)
        return Report(tuple(results), self.problems)

    def __repr__(self) -> str:
        """One line: the counts of kernels, code objects and problems."""
        kernels, code_objects, problems = map(len, (self.results, self.code_objects, self.problems))
        return f"Report({kernels=}, {code_objects=}, {problems=})"

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        return in_html(self.results)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the results, in their order."""
        return tuple(result.kernel for result in self.results)

    def kernel(self, name: str) -> Kernel:
        """The one kernel of this name, as `report[name]` finds it; a whole name or symbol takes
        precedence.

        Raises `UnknownKernelError`, which lists the nearest names, or the kernels if there are
        several, and `OptionError` for an invalid regular expression.
        """
        kernels = self[name].kernels
        whole = [kernel for kernel in kernels if name in (kernel.name, kernel.symbol)]
        if len(chosen := whole or kernels) == 1:
            return chosen[0]
        if not kernels:
            hint = nearest_kernels(name, (kernel.name for kernel in self))
            mend = hint or say("kernels-listed")
            raise UnknownKernelError(say("kernel-unknown", name=name, count=len(self), mend=mend))
        names = [kernel.name for kernel in kernels[:_MOST_LISTED]]
        listed = ", ".join([*names, "…"] if kernels[_MOST_LISTED:] else names)
        raise UnknownKernelError(
            say("kernel-ambiguous", count=len(kernels), name=name, listed=listed)
        )

    def max(self, number: str) -> float | None:
        """The largest value of a number, such as `vgpr_spills`; None if no kernel states it.

        Numbers are named like columns, ignoring case. Raises `OptionError` for another name.
        """
        columns = _columns()
        numbers = {column.field.casefold(): column for column in columns.NUMBERS}
        numbers |= {column.name.casefold(): column for column in columns.NUMBERS}
        if (chosen := numbers.get(number.casefold())) is None:
            fields = [column.field for column in columns.NUMBERS]
            hint = did_you_mean(number, fields) or say("numbers-listed", names=", ".join(fields))
            raise OptionError(say("number-unknown", number=number, hint=hint))
        values = (columns.compared_value(chosen, result) for result in self.results)
        return max((value for value in values if value is not None), default=None)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per kernel, as in `--format jsonl`: for pandas, polars, DuckDB."""
        record = _columns().record
        return [record(result) for result in self.results]

    @property
    def code_objects(self) -> tuple[CodeObject, ...]:
        """Code objects of the kernels, each once, in the order of reading."""
        return tuple(dict.fromkeys(kernel.code_object for kernel in self.kernels))

    def _named(self, name: str) -> Iterable[Result]:
        return (
            result
            for result in self.results
            if matches(name, result.kernel.name, result.kernel.symbol)
        )
