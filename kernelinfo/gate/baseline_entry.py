"""One entry of a baseline: a symbol of a library with its numbers on all targets, as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.numbers import BY_FIELD
from kernelinfo.model.limits import RESOURCES

_FIELDS: dict[str, tuple[str, ...]] = {
    "workgroup-size": ("workgroup_size",),
    "wave-size": ("wave_size",),
    "waves": ("waves_per_simd",),
    "occupancy": ("percent",),
    "exact": ("exact",),
    "limited-by": ("limiters",),
    "vgpr": ("vgprs", "reserved_vgprs"),
    "agpr": ("agprs",),
    "sgpr": ("sgprs", "reserved_sgprs"),
    "lds": ("lds_bytes",),
    "scratch": ("scratch_bytes_per_lane",),
    "vgpr-spill": ("vgpr_spills",),
    "sgpr-spill": ("sgpr_spills",),
    "code-size": ("code_bytes",),
    "accepted": ("accepted",),
    "options": ("options",),
}
"""Key -> its field of `KernelNumbers`, or the two fields of `[used, allocated]`. `accepted` and
`options` are fields of `KernelSummary`."""
_DEFAULTS: dict[str, Any] = {field: 0 for fields in _FIELDS.values() for field in fields} | {
    "exact": True,
    "limiters": (),
    "accepted": (),
    "options": (),
}
"""Field -> value if the entry does not state it."""
for _added in KernelNumbers._fields:  # numbers that older baselines lack
    if _added not in _DEFAULTS:
        _FIELDS[BY_FIELD[_added].key or _added] = (_added,)
        _DEFAULTS[_added] = None
_FLOATS = ("waves", "occupancy")
_TARGET, _ON, _NAME, _SYMBOL = "target", "on", "name", "symbol"
_PLACES = (_TARGET, _ON, _NAME, _SYMBOL)
"""Keys that state no number."""
_values_of = attrgetter(*_DEFAULTS)
_in_order = itemgetter(*KernelNumbers._fields)
_SEVERITIES = ("note", "warning", "error")
_RULE = re.compile(r"KI(?!5)[0-9]{3}")
"""Rules whose findings a baseline accepts; KI5xx compare with the baseline itself."""
_PLACEHOLDER = re.compile(r"\{(\{|target\}|processor\})")

Known = Mapping[KernelSummary, KernelSummary]
"""Kernels of a build, by what a baseline holds of them."""


def sorted_units(
    kernels: Iterable[KernelSummary],
) -> Iterator[tuple[str, list[list[KernelSummary]]]]:
    """(unit, kernels of each symbol and name), both sorted."""
    units: dict[str, dict[tuple[str, str], list[KernelSummary]]] = {}
    unit_of: dict[tuple[str, str], str] = {}
    for kernel in kernels:
        where = kernel.code_object, kernel.target
        if where not in unit_of:
            unit_of[where] = unit(*where)
        symbols = units.setdefault(unit_of[where], {})
        symbols.setdefault((kernel.symbol, kernel.name), []).append(kernel)
    for called in sorted(units):
        symbols = units[called]
        yield called, [symbols[key] for key in sorted(symbols)]


def unit(code_object: str, target: str) -> str:
    """The code object with `{target}` or `{processor}` in place of the target, so that all targets
    of a library share it. `{{` stands for `{`."""
    processor = target.partition(":")[0]
    if not processor:
        return code_object.replace("{", "{{")
    names = rf"(?:({re.escape(target)})|({re.escape(processor)}))(?![\da-f])|{{"
    return re.sub(
        names,
        lambda found: "{target}" if found[1] else "{processor}" if found[2] else "{{",
        code_object,
    )


def code_object(unit: str, target: str) -> str:
    """The code object of a unit for a target; the reverse of `unit`."""
    values = {"{": "{", "target}": target, "processor}": target.partition(":")[0]}
    return _PLACEHOLDER.sub(lambda found: values[found[1]], unit)


def entry(kernels: Sequence[KernelSummary]) -> dict[str, Any]:
    """The entry of kernels of one symbol, name and unit.

    Values that most kernels share are stated once. Under `on` stand the targets with their other
    values; a target that stands twice is two kernels.
    """
    symbol, name = kernels[0].symbol, kernels[0].name
    rows = sorted(((kernel.target, _values_of(kernel)) for kernel in kernels), key=repr)
    columns = zip(*(row for _, row in rows), strict=True)
    common = dict(zip(_DEFAULTS, map(_most_common, columns), strict=True))
    groups: dict[tuple[Any, ...], list[str]] = {}
    for target, row in rows:
        groups.setdefault(row, []).append(target)
    on = [
        {_TARGET: targets if targets[1:] else targets[0]}
        | _stated(dict(zip(_DEFAULTS, row, strict=True)), common)
        for row, targets in groups.items()
    ]
    called = {} if name in (symbol, demangle(symbol)) else {_NAME: name}
    own = on[0] if len(on) == 1 else {_ON: on}
    return {_SYMBOL: symbol, **called, **_stated(common, _DEFAULTS), **own}


def kernels(unit: str, of: Any, known: Known) -> Iterator[KernelSummary]:
    """The kernels of an entry. A kernel that equals one of `known` is that object.

    Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for a damaged entry.
    """
    symbol = of[_SYMBOL]
    name = of[_NAME] if _NAME in of else demangle(symbol)
    if not (isinstance(symbol, str) and isinstance(name, str)):
        raise ValueError(f"{symbol}: name")
    common = _DEFAULTS | _numbers(of, symbol, _PLACES)
    groups = of.get(_ON, [of])
    if not isinstance(groups, list) or not groups or (_ON in of and _TARGET in of):
        raise ValueError(f"{symbol}: on")
    for group in groups:
        own = common if group is of else common | _numbers(group, symbol, (_TARGET,))
        numbers = KernelNumbers._make(_in_order(own))
        targets = group[_TARGET]
        named = targets if isinstance(targets, list) else [targets]
        if not named or not all(isinstance(target, str) for target in named):
            raise ValueError(f"{symbol}: target")
        for target in named:
            kernel = KernelSummary(
                target,
                name,
                symbol,
                code_object(unit, target),
                numbers,
                accepted=own["accepted"],
                options=own["options"],
            )
            yield known.get(kernel, kernel)


def _most_common(values: Sequence[Any]) -> Any:
    """The most frequent value; of several the one that is first as text."""
    if values.count(values[0]) == len(values):
        return values[0]
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], repr(value)))


def _stated(values: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Values by key as JSON, without those that equal the others."""
    return {
        key: _as_json(key, [values[field] for field in fields])
        for key, fields in _FIELDS.items()
        if any(values[field] != others[field] for field in fields)
    }


def _as_json(key: str, values: list[Any]) -> Any:
    if len(values) == 2:
        return values
    (value,) = values
    if key == "limited-by":
        return " ".join(value)
    if key in ("accepted", "options"):
        return dict(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _numbers(of: Any, symbol: str, places: Collection[str]) -> dict[str, Any]:
    """Field -> value of all numbers in an entry, or in one group of it. `places` are its other
    keys."""
    found: dict[str, Any] = {}
    for key, value in of.items():
        if key in places:
            continue
        fields = _FIELDS.get(key, ())
        values = [value] if len(fields) == 1 else value
        if not isinstance(values, list) or len(values) != len(fields):
            raise ValueError(f"{symbol}: {key}")
        for field, one in zip(fields, values, strict=True):
            found[field] = _value(key, one, symbol)
    return found


def _value(key: str, value: Any, symbol: str) -> Any:
    """A value of a key. Raises `ValueError` for another type, and for numbers that are negative or
    have more than 64 bits."""
    kind = type(value)
    if key == "limited-by":
        limiters = tuple(value.split()) if kind is str else (None,)
        is_once = len({*limiters}) == len(limiters)
        if is_once and all(limiter in tuple(RESOURCES) for limiter in limiters):
            return limiters
    elif key == "accepted":
        accepted = value.items() if kind is dict else [("", None)]
        if all(_RULE.fullmatch(rule) and known in _SEVERITIES for rule, known in accepted):
            return tuple(sorted(accepted))
    elif key == "options":
        if kind is dict and all(isinstance(one, str) for one in value.values()):
            return tuple(value.items())
    elif value is None or (key == "exact" and kind is bool):
        return value
    elif key in _FLOATS and kind in (int, float) and 0 <= value < 1 << 64:  # excludes NaN, too
        return float(value)
    elif kind is int and 0 <= value < 1 << 64:
        return value
    raise ValueError(f"{symbol}: {key}")
