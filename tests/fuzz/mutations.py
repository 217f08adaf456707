"""Ways to break bytes: at random for hypothesis, and all of them over the first few hundred."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hypothesis import strategies as st

HEADER_BYTES = 256
NUMBERS = (0, 1, 60, 255, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)


def flips(data: bytes, start: int = 0) -> Iterator[bytes]:
    """Each bit of so many bytes from `start` turned, and each of these bytes set to 0 and 255."""
    broken = bytearray(data)
    for at in range(start, min(start + HEADER_BYTES, len(data))):
        for value in (*(data[at] ^ 1 << bit for bit in range(8)), 0, 255):
            broken[at] = value
            yield bytes(broken)
        broken[at] = data[at]


class Breakage(NamedTuple):
    """One way to break some bytes, and what comes of it by numbers."""

    results: int
    result: Callable[[int], bytes]


def values(data: bytes, start: int = 0) -> Breakage:
    """Each of so many bytes from `start` set to each of the 255 values that it has not."""
    size = min(HEADER_BYTES, len(data) - start)

    def result(number: int) -> bytes:
        at, other = start + number // 255, 1 + number % 255
        return data[:at] + bytes([(data[at] + other) % 256]) + data[at + 1 :]

    return Breakage(255 * size, result)


def prefixes(data: bytes) -> Breakage:
    """The data cut off before each byte, and whole."""
    return Breakage(len(data) + 1, lambda number: data[:number])


@st.composite
def broken(draw: st.DrawFn, data: bytes) -> bytes:
    """The data with numbers put over some places, parts moved, and its end cut off."""
    whole = bytearray(data)
    # Headers and tables lie at either end.
    places = st.one_of(
        st.integers(0, min(600, len(whole) - 1)),
        st.integers(max(0, len(whole) - 1500), len(whole) - 1),
        st.integers(0, len(whole) - 1),
    )
    for _ in range(draw(st.integers(1, 6))):
        at = draw(places)
        match draw(st.integers(0, 3)):
            case 0:
                other = draw(places)
                size = draw(st.integers(1, 64))
                whole[at : at + size] = whole[other : other + size]
            case 1:
                whole[at:at] = draw(st.binary(max_size=16))
            case _:
                number = draw(st.one_of(st.sampled_from(NUMBERS), st.integers(0, (1 << 64) - 1)))
                width = draw(st.sampled_from([1, 2, 4, 8]))
                whole[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
    end = draw(st.one_of(st.just(len(whole)), places))
    return bytes(whole[:end])
