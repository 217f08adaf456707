"""Whatever is done to a container: an answer or a problem, never an exception, and soon."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelinfo.analysis.inputs import modules
from kernelinfo.analysis.options import Options
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers import open_bytes

from .opening import CONTAINERS

NAMES = (
    "ccob-v1-zlib.hipfb",
    "ccob-v1-zstd.hipfb",
    "ccob-v2-zstd.hipfb",
    "embedded.o",
    "libbsd.a",
    "libmixed.so",
    "libmixed-no-section-headers.so",
    "libnested.a",
    "libwrapped.so",
    "packaged-clang22.bin",
    "tiny-compressed.hipfb",
    "tiny.co.bz2",
    "tiny.co.gz",
    "tiny.co.xz",
    "tiny.co.zst",
    "tiny.dll",
    "tiny.hipfb",
    "tiny.obj",
    "tiny.tar",
    "tiny.tar.zst",
    "tiny.whl",
)
NUMBERS = st.sampled_from([0, 1, 60, 255, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1])


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_changed_bytes(name: str, data: st.DataObject) -> None:
    whole = bytearray((CONTAINERS / name).read_bytes())
    # Headers and tables lie at either end.
    places = st.one_of(
        st.integers(0, min(600, len(whole) - 1)),
        st.integers(max(0, len(whole) - 1500), len(whole) - 1),
        st.integers(0, len(whole) - 1),
    )
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(places)
        number = data.draw(st.one_of(NUMBERS, st.integers(0, (1 << 64) - 1)))
        width = data.draw(st.sampled_from([1, 2, 4, 8]))
        whole[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
    cut = data.draw(st.one_of(st.just(len(whole)), places))
    for item in open_bytes(bytes(whole[:cut]), "file"):
        if isinstance(item, Problem):
            assert item.message
            assert "\n" not in item.message
        elif isinstance(item, Blob) and bytes(item.data.read(0, 4)) == b"\x7fELF":
            list(modules(item, Options()))
