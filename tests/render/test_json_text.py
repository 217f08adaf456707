"""JSON that is written piece by piece reads as `json.dumps` writes it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from kernelinfo.render.json_text import Waiting, encoded

WORDS = ["", "a", "größe", '"\\\n\t\x1b', "\udcff", "𝄞"]


def of_any_kind(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(7 if depth else 5)
    if kind == 5:
        return [of_any_kind(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        words = chance.sample(WORDS, chance.randrange(4))
        return {word: of_any_kind(chance, depth - 1) for word in words}
    return [None, chance.choice([True, False]), chance.randrange(-3, 1 << 70), 62.5, WORDS[3]][kind]


def lazily(value: Any, chance: random.Random) -> Any:
    """The value with some arrays as iterators."""
    if isinstance(value, dict):
        return {name: lazily(one, chance) for name, one in value.items()}
    return iter(value) if isinstance(value, list) and chance.random() < 0.7 else value


@pytest.mark.parametrize("seed", range(200))
def test_a_document_reads_as_json_writes_it(seed: int) -> None:
    chance = random.Random(seed)
    value = of_any_kind(chance, 4)
    assert "".join(encoded(lazily(value, chance))) == json.dumps(value, indent=1) + "\n"


@pytest.mark.parametrize("count", [0, 1, 50_000])
def test_kernels_wait_for_the_inputs_that_they_name(count: int) -> None:
    inputs: list[int] = []

    def kernels() -> Iterator[dict[str, int]]:
        for number in range(count):
            inputs.append(number)
            yield {"input": number, "größe": 2 * number}

    waiting = Waiting(kernels())
    expected = {"inputs": [*range(count)], "kernels": [*kernels()]}
    text = "".join(encoded({"inputs": iter(inputs[:count]), "kernels": waiting}))
    assert text == json.dumps(expected, indent=1) + "\n"


def test_the_first_kernels_are_written_before_the_last_are_made() -> None:
    made: list[int] = []

    def kernels() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    pieces = encoded({"kernels": kernels()})
    while "7" not in next(pieces):
        pass
    assert len(made) < 20
