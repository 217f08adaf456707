"""A column of the record of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from kernelinfo.kernel import Result

Value = str | int | float | tuple[str, ...] | None
Record = Mapping[str, Any]
"""Column → value of one kernel, as JSON lines, CSV and datasets hold it; None where the input does
not say."""

Type = Literal["string", "integer", "number", "boolean", "array"]
"""Type of a column's values in JSON; of an array, strings."""

Part = Literal["kernel", "code object", "statement"]
"""What values depend on: each kernel, its code object, or its statement: what the compiler states
of it, its occupancy and its findings, which many kernels share."""


class Column(NamedTuple):
    """One fact of a kernel, with its name and unit in every place."""

    name: str
    """In rows. Columns of rocprofv3's kernel trace keep its names, so that tables join."""
    type: Type
    about: str
    """Description with unit."""
    value: Callable[[Result], Value]
    part: Part = "kernel"
    is_stated: bool = False
    """True if it is never None."""
    choices: tuple[str | int, ...] = ()
    """All values that it can have, if they are few."""
    heading: str = ""
    """In tables, `--columns`, `--sort` and `--where`; empty for a column without a short name."""
    field: str = ""
    """Of `Numbers` and `KernelNumbers`; empty if it is not compared."""
    document: str = ""
    """Path of keys in the JSON document from the kernel's object, joined by dots; `input` leads to
    its code object, a number into a list, and a key behind a list to that of each member."""
    topic: str = ""
    """Label of its line in a comparison."""
    unit: str = ""
    """Text behind the value in a comparison."""
    key: str = ""
    """Key of budgets; empty if the gate cannot bound it."""
    noun: str = ""
    """Text behind the value in a message."""
    better: Literal["less", "more", ""] = ""
    affects: bool = False
    """True if a kernel counts as affected when the number moves. Registers, LDS and code are not:
    their cost shows in the occupancy."""
    beside: str = ""
    """Column of the same registers, used or allocated: a message says both where they differ."""
    unless: str = ""
    """Column that is true where the value is only a part of the amount: it is not compared then."""

    @property
    def is_gain(self) -> bool:
        """True if more is better."""
        return self.better == "more"
