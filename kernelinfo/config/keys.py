"""All keys of the configuration. Validation, `--show-config` and the JSON Schema use them."""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any, NamedTuple

from kernelinfo.kernel import Severity
from kernelinfo.kernel.names import matches
from kernelinfo.kernel.record import BY_FIELD, INSTRUCTIONS, NUMBERS, Column
from kernelinfo.reading.target_id import named_target_id
from kernelinfo.rules import named

# Numbers that budgets and baselines bound, and the bounds.

_SIGNS = {
    "<=": (operator.le, "≤ {:g}"),
    ">=": (operator.ge, "≥ {:g}"),
    "==": (operator.eq, "= {:g}"),
    "+": (operator.le, "{:+g}"),
    "+%": (operator.le, "{:+g}%"),
}
"""Sign of a bound → how it compares, and how messages write it."""
BOUND = r"^\s*(<=|>=|==)\s*(\d+(?:\.\d+)?)\s*$"
ALLOWANCE = r"^\s*\+?(\d+(?:\.\d+)?)\s*(%\s*)?$"


WAVES, SCRATCH = BY_FIELD["waves_per_simd"], BY_FIELD["scratch_bytes_per_lane"]
VGPR_SPILL, SGPR_SPILL = BY_FIELD["vgpr_spills"], BY_FIELD["sgpr_spills"]
VGPR = BY_FIELD["vgprs"]

MEASURES = tuple(
    sorted(
        (number for number in (*NUMBERS, *INSTRUCTIONS) if number.key),
        key=lambda number: (number.is_gain, not number.affects),
    )
)
"""Numbers with a key: spills and scratch first, gains last."""


class Bound(NamedTuple):
    """A bound on a number: on its value (budgets), or on how much worse than pinned it is
    ([gate])."""

    sign: str
    """`<=`, `>=` or `==`; of [gate] `+`, or `+%` for a percentage of the pinned number."""
    limit: float

    def holds(self, value: float, pinned: float = 0) -> bool:
        """True if a number keeps the bound. For a bound of [gate], `value` is the amount by which
        the number is worse than `pinned`."""
        compare, _ = _SIGNS[self.sign]
        limit = self.limit * pinned / 100 if self.sign == "+%" else self.limit
        return bool(compare(value, limit))

    def __str__(self) -> str:
        return _SIGNS[self.sign][1].format(self.limit)


def parse_bound(measure: Column, value: str | float) -> Bound:
    """The bound of `">=2"`, `"<=64"` or `"==0"`. A bare number is the minimum of a gain or the
    maximum of a cost.

    Raises `ValueError` for any other text, and for a number below 0 or of 2^64 or more.
    """
    if not isinstance(value, str):
        return Bound(">=" if measure.is_gain else "<=", _finite(value))
    match = re.match(BOUND, value)
    if match is None:
        raise ValueError("no bound")
    return Bound(match[1], _finite(float(match[2])))


def _finite(value: float) -> float:
    """The number unchanged. Raises `ValueError` if it is below 0, or 2^64 or more."""
    if not 0 <= value < 1 << 64:
        raise ValueError("no number of 64 bits")
    return value


def parse_allowance(value: str | float) -> Bound | None:
    """The bound of `8`, `"+8"` or `"+5%"`; None for `"off"`. Raises `ValueError` for another
    value."""
    if value == "off":
        return None
    match = re.match(ALLOWANCE, str(value))
    if match is None:
        raise ValueError("no allowance")
    return Bound("+%" if match[2] else "+", _finite(float(match[1])))


SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
"""Mildest first."""


class ValueKind(NamedTuple):
    """The kind of one value: its types, limits and parser."""

    expected: str
    """The rest of the hint "write …"."""
    types: tuple[type, ...] = (str,)
    read: Callable[[Any], object] = lambda value: value
    """Parser of the value. Raises `ValueError` for an invalid one, or `KernelinfoError` with the
    reason."""
    choices: tuple[str, ...] = ()
    pattern: str = ""
    """Regular expression that a string must match; empty for any string."""
    least: int | None = None
    """Smallest allowed number."""


class Key(NamedTuple):
    """A key with its description, kind and default."""

    name: str
    about: str
    kind: ValueKind
    """Kind of the value, or of each value in an array or a table."""
    default: Any = None
    """Default as a TOML value; None for no default."""
    required: bool = False
    older: str = ""
    """Former name, which is still read; empty without one."""
    array: str = ""
    """The rest of the hint "write …" for an array of values; empty if the value is none."""
    table: str = ""
    """The rest of that hint for a table of values by name, in the file's order; empty for none."""
    name_kind: ValueKind | None = None
    """Kind of the names in such a table, which the user chooses."""
    keys: tuple["Key", ...] = ()
    """Keys of the table that a value is; empty for other values."""
    one_of: bool = False
    """True: a table must set at least one of the keys that have `one_of`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name, and the former name if there is one."""
        return (self.name, self.older) if self.older else (self.name,)

    def stated_name(self, table: Mapping[str, Any]) -> str | None:
        """The name under which a table sets the key; None if the table does not set it."""
        return next((name for name in self.names if name in table), None)


def _pattern(text: str) -> str:
    if text.strip() in ("", "re:"):
        raise ValueError("empty")
    matches(text, "", "")
    return text


def _rule(text: str) -> str:
    named(text)
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("empty")
    return text


def _day(value: str | date) -> date:
    if isinstance(value, datetime):
        raise ValueError("no day")
    return value if isinstance(value, date) else date.fromisoformat(value)


_PATTERN = ValueKind('a name, a glob such as "gemm_*" or "re:REGEX"', read=_pattern)
_RULE = ValueKind('a rule such as "KI101", "KI1" or "vgpr-spill"', read=_rule)
_RULES = 'a list such as ["KI101", "KI2"]'
_TARGET = ValueKind('a target such as "gfx90a" or "gfx906:xnack+"', read=named_target_id)
_SEVERITY = ValueKind('"note", "warning" or "error"', choices=SEVERITIES)
_COUNT = ValueKind("a whole number from 0 on", (int,), least=0)
_WORKGROUP = ValueKind("a whole number of workitems from 1 on", (int,), least=1)
_SWITCH = ValueKind("true or false", (bool,))
_PATH = ValueKind('a path such as "kernelinfo.baseline.json"', read=_filled)
_TABLE = ValueKind("a table", (dict,))
_REASON = ValueKind('a sentence such as "spills 5, still faster"', read=_filled)
_ALLOWANCE = ValueKind(
    '"off", a number, "+8" or "+5%"',
    (int, float, str),
    parse_allowance,
    pattern=f"^off$|{ALLOWANCE}",
    least=0,
)

_KERNEL = Key("kernel", "Which kernels: a name, a glob or re:REGEX.", _PATTERN, "*")
_ONLY_ON = Key("target", "Limit it to this target.", _TARGET, older="arch")

_BUDGET = (
    _KERNEL,
    _ONLY_ON,
    *(
        Key(
            measure.key,
            f"{measure.about} A number alone is the {'least' if measure.is_gain else 'most'}.",
            ValueKind(
                'a number, or ">=2", "<=64" or "==0"',
                (int, float, str),
                partial(parse_bound, measure),
                pattern=BOUND,
                least=0,
            ),
            one_of=True,
        )
        for measure in MEASURES
    ),
)

_ON = (VGPR_SPILL, SGPR_SPILL, SCRATCH)
_GATE = (
    Key("waves-lost", "How many waves per SIMD a kernel may lose.", _ALLOWANCE, 0),
    *(
        Key(
            measure.key,
            f"How much a kernel may gain. {measure.about}",
            _ALLOWANCE,
            0 if measure in _ON else "off",
        )
        for measure in MEASURES
        if not measure.is_gain
    ),
    Key(
        "toolchain-change",
        "Judgement of kernels that another compiler built. report: note all changes, and fail only "
        "on spills and scratch; strict: as with the same compiler; accept: let all changes pass.",
        ValueKind('"report", "strict" or "accept"', choices=("report", "strict", "accept")),
        "report",
    ),
    Key("new", "Severity of kernels that the baseline does not have (KI503).", _SEVERITY, "note"),
)

GATED = tuple(
    (key.name, next((m for m in MEASURES if m.key == key.name), WAVES))
    for key in _GATE
    if key.kind is _ALLOWANCE
)
"""Keys of [gate], each with the number that it bounds."""

_SUPPRESS = (
    Key("rule", "Number, name or first digits of numbers.", _RULE, required=True),
    Key("kernel", "Which kernels: a name, a glob or re:REGEX.", _PATTERN, required=True),
    _ONLY_ON,
    Key("reason", "The reason why the finding does not count.", _REASON, required=True),
    Key(
        "until",
        "The last day of the suppression.",
        ValueKind('a day such as "2027-03-31"', (str, date), _day, pattern=r"^\d{4}-\d{2}-\d{2}$"),
    ),
)

KEYS = (
    Key(
        "paths",
        "Files, folders and globs to check if the command line names none, relative to this file's "
        "folder.",
        _PATH,
        [],
        array='a list such as ["build/**/*-hip-amdgcn-*.s"]',
    ),
    Key(
        "target",
        "Targets to check. On each a kernel must run; kernels that run on none of them are skipped "
        "and counted. Empty for all.",
        _TARGET,
        [],
        older="arch",
        array='a list such as ["gfx90a", "gfx942"]',
    ),
    Key(
        "targets",
        "Targets that each library must have code for: its own, that of a generic target that "
        "contains it, or SPIR-V. What is missing ends with exit code 2.",
        _TARGET,
        [],
        array='a list such as ["gfx942", "gfx1151"]',
    ),
    Key("baseline", "The baseline file, relative to this file's folder.", _PATH),
    Key(
        "strict-baseline",
        "Also fail on numbers that got better, until they are pinned.",
        _SWITCH,
        False,
    ),
    Key(
        "instructions",
        "Read the code of every kernel, for rules on the registers that it touches.",
        _SWITCH,
        False,
    ),
    Key("fail-on", "The mildest severity that fails.", _SEVERITY, "warning"),
    Key(
        "expect",
        "The least that a run must find.",
        ValueKind("a table such as { min-kernels = 40 }", (dict,)),
        keys=(
            Key(
                "min-kernels",
                "The least number of kernels; with fewer the exit code is 2.",
                _COUNT,
                1,
            ),
        ),
    ),
    Key("select", "Apply only these rules; empty for the default rules.", _RULE, [], array=_RULES),
    Key("ignore", "Skip these rules.", _RULE, [], array=_RULES),
    Key(
        "severity",
        "Severities of rules; the last entry that matches counts. A rule that is off by default is "
        "turned on by its whole number or name.",
        _SEVERITY,
        {},
        table='a table such as { KI201 = "warning" }',
        name_kind=_RULE,
    ),
    Key(
        "workgroup-size",
        "Workitems per workgroup that the host launches, by kernel; the first entry that matches "
        "counts. A size that the kernel requires stays.",
        _WORKGROUP,
        {},
        table='a table such as { "saxpy*" = 256 }',
        name_kind=_PATTERN,
    ),
    Key(
        "budget",
        "Bounds by kernel and target; the first entry that matches counts.",
        _TABLE,
        [],
        array="[[budget]] and its keys",
        keys=_BUDGET,
    ),
    Key(
        "gate",
        "How much worse than the baseline a number may get.",
        ValueKind("[gate] and its keys", (dict,)),
        keys=_GATE,
    ),
    Key(
        "suppress",
        "Findings that do not count, with the reason.",
        _TABLE,
        [],
        array="[[suppress]] with rule, kernel and reason",
        keys=_SUPPRESS,
    ),
)

OF_FILE = {name for key in KEYS for name in key.names}
"""Spellings of the keys of the whole file."""
OF_TABLES = {name for key in KEYS for inner in key.keys for name in inner.names}
"""Spellings of the keys in its tables."""
