"""A NamedTuple of ours is what `typing` makes of the same fields."""

from __future__ import annotations

import inspect
import pickle
import typing

import pytest

from kernelinfo import light_typing


class Theirs(typing.NamedTuple):
    """Waves."""

    size: int
    source: str = "nowhere"

    @property
    def half(self) -> int:
        return self.size // 2


class Ours(light_typing.NamedTuple):
    """Waves."""

    size: int
    source: str = "nowhere"

    @property
    def half(self) -> int:
        return self.size // 2


def test_it_is_the_same() -> None:
    assert inspect.signature(Ours).parameters.keys() == inspect.signature(Theirs).parameters.keys()
    assert Ours.__doc__ == Theirs.__doc__
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    made = Ours(64)
    assert (tuple(made), made.half) == (tuple(Theirs(64)), 32)
    assert repr(made) == repr(Theirs(64)).replace("Theirs", "Ours")
    assert tuple(made._replace(source="here")) == (64, "here")
    assert type(pickle.loads(pickle.dumps(made))) is Ours


def test_a_missing_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="size"):
        Ours()  # type: ignore[call-arg]
