"""The gathered results of an analysis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kernelinfo.kernel import Item, Kernel, Repeat, Result
from kernelinfo.kernel.code_object import CodeObject
from kernelinfo.kernel.rows import row
from kernelinfo.reading.blob import Problem


class Report(NamedTuple):
    """The gathered results of an analysis; renderers read nothing else."""

    results: tuple[Result, ...]
    problems: tuple[Problem, ...]
    repeats: tuple[Repeat, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item]) -> Report:
        """The report of these items; notes are left out."""
        found = list(items)
        return cls(
            tuple(item for item in found if isinstance(item, Result)),
            tuple(item for item in found if isinstance(item, Problem)),
            tuple(item for item in found if isinstance(item, Repeat)),
        )

    def __repr__(self) -> str:
        """One line: the counts of kernels, code objects and problems."""
        kernels, code_objects, problems = map(len, (self.results, self.code_objects, self.problems))
        return f"Report({kernels=}, {code_objects=}, {problems=})"

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from kernelinfo.render.notebook import html_table  # IPython asks the report itself

        return html_table(self.results)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the results, in their order."""
        return tuple(result.kernel for result in self.results)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per kernel, as in `--format jsonl`: for pandas, polars, DuckDB."""
        return [row(result) for result in self.results]

    @property
    def code_objects(self) -> tuple[CodeObject, ...]:
        """Code objects of the kernels, each once, in the order of reading."""
        return tuple(dict.fromkeys(kernel.code_object for kernel in self.kernels))
