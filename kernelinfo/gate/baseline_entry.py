"""One entry of a baseline: a symbol of a library with its numbers on all targets, as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from kernelinfo.compare.summary import KernelNumbers, KernelSummary
from kernelinfo.kernel.names import demangle
from kernelinfo.kernel.record import INSTRUCTIONS, NUMBERS
from kernelinfo.model.limits import RESOURCES

_FIELDS = {
    **{number.key or number.field.replace("_", "-"): number.field for number in NUMBERS},
    "exact": "exact",
    "limited-by": "limiters",
    **{number.key: number.field for number in INSTRUCTIONS},
    "accepted": "accepted",
    "options": "options",
}
"""Key -> its field of `KernelNumbers`. `accepted` and `options` are fields of `KernelSummary`."""
_COUNTED = {number.field for number in INSTRUCTIONS}
_DEFAULTS: dict[str, Any] = {
    **{field: None if field in _COUNTED else 0 for field in _FIELDS.values()},
    **{"exact": True, "limiters": (), "accepted": (), "options": ()},
}
"""Field -> value if the entry does not state it."""
_FLOATS = ("waves", "occupancy")
_TARGET, _ON, _NAME, _SYMBOL = "target", "on", "name", "symbol"
_values_of = attrgetter(*_FIELDS.values())
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

    Under `on` stand the targets with their numbers, so that a new target adds to an entry and
    rewrites nothing. A target that is listed twice is two kernels.
    """
    symbol, name = kernels[0].symbol, kernels[0].name
    groups: dict[tuple[Any, ...], list[str]] = {}
    for target, values in sorted(((k.target, _values_of(k)) for k in kernels), key=repr):
        groups.setdefault(values, []).append(target)
    on = [
        {_TARGET: targets if targets[1:] else targets[0]} | _stated(values)
        for values, targets in groups.items()
    ]
    named = {} if name in (symbol, demangle(symbol)) else {_NAME: name}
    return {_SYMBOL: symbol, **named, _ON: on}


def kernels(unit: str, entry: Any, known: Known) -> Iterator[KernelSummary]:
    """The kernels of an entry. A kernel that equals one of `known` is that object.

    Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for a damaged entry.
    """
    symbol = entry[_SYMBOL]
    name = entry[_NAME] if _NAME in entry else demangle(symbol)
    if not (isinstance(symbol, str) and isinstance(name, str)):
        raise ValueError(f"{symbol}: name")
    if entry.keys() - {_SYMBOL, _NAME, _ON} or not isinstance(entry[_ON], list) or not entry[_ON]:
        raise ValueError(f"{symbol}: on")
    for group in entry[_ON]:
        values = dict(_DEFAULTS)
        for key, value in group.items():
            if key == _TARGET:
                continue
            if key not in _FIELDS:
                raise ValueError(f"{symbol}: {key}")
            values[_FIELDS[key]] = _value(key, value, symbol)
        numbers = KernelNumbers._make(_in_order(values))
        targets = group[_TARGET]
        named = targets if isinstance(targets, list) else [targets]
        if not named or not all(isinstance(target, str) and target for target in named):
            raise ValueError(f"{symbol}: target")
        for target in named:
            kernel = KernelSummary(
                target,
                name,
                symbol,
                code_object(unit, target),
                numbers,
                accepted=values["accepted"],
                options=values["options"],
            )
            yield known.get(kernel, kernel)


def _stated(values: Iterable[Any]) -> dict[str, Any]:
    """Values by key as JSON, without the defaults."""
    return {
        key: _as_json(key, value)
        for (key, field), value in zip(_FIELDS.items(), values, strict=True)
        if value != _DEFAULTS[field]
    }


def _as_json(key: str, value: Any) -> Any:
    if key == "limited-by":
        return " ".join(value)
    if key in ("accepted", "options"):
        return dict(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


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
