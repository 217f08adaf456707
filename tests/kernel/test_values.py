"""Nouns of a report are equal and hashed by value: equal kernels are judged once."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isclass
from typing import Any

import kernelinfo
from kernelinfo import CodeObject, Demand, Finding, Limit, Occupancy, Report, Step, Target, load

from ..conftest import FIXTURES

PATHS = [
    FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s",
    FIXTURES / "code_object" / "variety-clang22-gfx1250.co",
]


def nouns() -> Iterator[Any]:
    """Every kind of noun that is a key somewhere, and those of the public API that can be one."""
    for path in PATHS:
        for result in load(path).results:
            traits, occupancy = result.kernel.traits, result.occupancy
            assert traits.target is not None
            assert traits.demand is not None
            assert occupancy is not None
            yield from (traits, traits.numbers, traits.target, traits.demand)
            yield from (occupancy, occupancy.launch, occupancy.placement, occupancy.allocated)
            yield from (*occupancy.limits, *occupancy.next, occupancy.headroom)
            yield from (result.kernel.code_object, *result.findings, *traits.facts)
            yield from (result, result.kernel, *result.kernel.places)


def test_equal_values_hash_equally() -> None:
    kinds = set()
    for value in nouns():
        equal = type(value)(*value)
        assert equal is not value
        assert equal == value
        assert hash(equal) == hash(value)
        kinds.add(type(value))
    assert {Target, Demand, Occupancy, Limit, Step, CodeObject, Finding} <= kinds


def test_public_nouns_hash_what_they_compare() -> None:
    """As tuples or frozen dataclasses do. Those with a hash of their own are tried."""
    public = {name: getattr(kernelinfo, name) for name in dir(kernelinfo)}
    tried = {type(value) for value in nouns()} | {Report}
    for name, kind in public.items():
        if not isclass(kind) or issubclass(kind, Exception) or kind in tried:
            continue
        made = getattr(kind, "__dataclass_params__", None)
        if made is not None:
            assert made.frozen, name
            assert made.eq, name
        else:
            assert kind.__eq__ is tuple.__eq__, name
            assert kind.__hash__ is tuple.__hash__, name
    first, again = load(PATHS[0]), load(PATHS[0])
    assert first is not again
    assert (first, hash(first)) == (again, hash(again))


def test_two_readings_state_equal_numbers() -> None:
    """The same kernel twice; with other numbers it is another."""
    first, again = (load(PATHS[0]).kernels[0].traits for _ in range(2))
    assert (first, hash(first)) == (again, hash(again))
    assert first != again._replace(numbers=again.numbers._replace(vgprs=1))
