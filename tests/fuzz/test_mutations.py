"""Broken on purpose, every format keeps the promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..conftest import FIXTURES
from .corpus import FOLDER as CORPUS
from .corpus import kept
from .mutations import broken, flips, prefixes
from .promise import answer
from .readers import OBJECT, READERS
from .specimens import CONTAINERS, KERNELS, Specimen, assembly, code_object, modules, note

SPECIMENS = {
    "code-object": OBJECT,
    "segments": code_object(KERNELS, sections=False),
    "assembly": assembly(KERNELS),
    **{name: wrap(OBJECT) for name, wrap in CONTAINERS.items()},
}
REGRESSIONS = Path(__file__).with_name("regressions")
SMALL = sorted(
    path
    for folder in ("assembly", "code_object", "container", "broken")
    for path in (FIXTURES / folder).iterdir()
    if path.stat().st_size < 16_000
)


@pytest.mark.parametrize("name", SPECIMENS)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_broken_specimens(name: str, data: st.DataObject) -> None:
    answer(data.draw(broken(SPECIMENS[name])))


@settings(deadline=None, max_examples=40)
@given(modules(), st.data())
def test_broken_metadata(kernels: list[Specimen], data: st.DataObject) -> None:
    whole = code_object(kernels)
    start = whole.index(b"AMDGPU\0") + 8
    size = len(note(b""))
    content = data.draw(broken(whole[start : start + size + 200 * len(kernels)]))
    answer(code_object(kernels, content))


@pytest.mark.parametrize("name", [name for name in READERS if name.startswith("short-")])
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_short_ways_agree(name: str, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(READERS[name].seeds))
    READERS[name].read(data.draw(broken(seed)))


@pytest.mark.parametrize("name", SPECIMENS)
def test_bits_of_headers(name: str) -> None:
    """Some of them; `python -m tests.robustness` tries every value of each byte."""
    for number, data in enumerate(flips(SPECIMENS[name])):
        if number % 13 == 0:
            answer(data, show=number % 16 == 0)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(SMALL), st.integers(min_value=0))
def test_fixtures_cut_off(path: Path, end: int) -> None:
    data = path.read_bytes()
    answer(data[: end % (len(data) + 1)])


def test_prefixes() -> None:
    every = prefixes(OBJECT)
    for number in range(every.results):
        answer(every.result(number), show=False)


@pytest.mark.parametrize("path", sorted(REGRESSIONS.iterdir()), ids=lambda path: path.name)
def test_what_once_broke_it(path: Path) -> None:
    READERS[path.stem].read(path.read_bytes())
    answer(path.read_bytes())


@pytest.mark.parametrize("name", READERS)
def test_seeds_and_what_fuzzers_found(name: str) -> None:
    for data in (*READERS[name].seeds, *kept(name)):
        READERS[name].read(data)


@pytest.mark.skipif(not CORPUS.exists(), reason="the source distribution goes without")
def test_every_reader_has_a_corpus() -> None:
    assert {path.name.partition(".")[0] for path in CORPUS.iterdir()} == set(READERS)
