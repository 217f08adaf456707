"""Objects that are linked later: a section of numbers of each function, by a writer of our own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from struct import pack

import msgpack
import pytest

from kernelinfo import Options, Problem, Result, analyse
from tests.conftest import CORPUS, needs_corpus
from tests.fuzz.specimens import note
from tests.messages import code_of, does_line_match

SYMBOLS = {"kernel": 0, "callee": 0, "outside": 0, "lds": 2048, "more": 512}


class Info:
    """The entries of the section, and the relocations that name symbols."""

    def __init__(self) -> None:
        self.data: bytes | bytearray = bytearray()
        self.relocations: list[tuple[int, str]] = []

    def add(self, kind: int, value: int | str, size: int = 0) -> Info:
        if isinstance(value, str):
            self.relocations.append((len(self.data) + 2, value))
            value, size = 0, 8
        self.data += bytes([kind, size or 4]) + value.to_bytes(size or 4, "little")
        return self

    def function(self, name: str, *numbers: int) -> Info:
        """Flags, SGPRs, VGPRs, AGPRs and scratch."""
        self.add(1, name)
        for kind, number in enumerate(numbers, 2):
            self.add(kind, number)
        return self

    def object(self, name: str = "kernel") -> bytes:
        """The object, with metadata of one kernel."""
        symbols = dict.fromkeys((symbol for _, symbol in self.relocations), 0) | SYMBOLS
        names, table = bytearray(1), bytearray(24)
        for symbol, size in symbols.items():
            table += pack("<IBBHQQ", len(names), 0x11, 0, 1, 0, size)
            names += symbol.encode() + b"\0"
        index = {symbol: number for number, symbol in enumerate(symbols, 1)}
        listed = {".name": name, ".symbol": f"{name}.kd"}
        metadata = {"amdhsa.kernels": [listed], "amdhsa.version": [1, 2]}
        rows = b"".join(pack("<QQq", at, index[n] << 32 | 3, 0) for at, n in self.relocations)
        parts = [(b".amdgpu.info", 1, self.data, 0), (b".rela.amdgpu.info", 4, rows, 3)]
        parts += [(b".symtab", 2, bytes(table), 4), (b".strtab", 3, bytes(names), 0)]
        parts += [(b".note", 7, note(msgpack.packb(metadata)), 0)]
        titles = b"\0" + b"".join(name + b"\0" for name, *_ in parts) + b".shstrtab\0"
        body, headers, at = b"", bytes(64), 64
        for section, kind, data, link in (*parts, (b".shstrtab", 3, titles, 0)):
            fields = (
                titles.index(b"\0" + section + b"\0") + 1,
                kind,
                0,
                0,
                at,
                len(data),
                link,
                0,
                1,
                24,
            )
            headers += pack("<IIQQQQIIQQ", *fields)
            body, at = body + data, at + len(data)
        start = b"\x7fELF\x02\x01\x01\x40\x04".ljust(16, b"\0")
        start += pack("<HHIQQQIHHHHHH", 1, 224, 1, 0, 0, at, 0x53F, 64, 0, 0, 64, 7, 6)
        return start + body + headers


def facts(info: Info, name: str = "kernel") -> tuple[dict[str, object], list[str]]:
    """What is stated of the kernel, and the problems but for its descriptor, which is not there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.o")
        path.write_bytes(info.object(name))
        items = list(analyse([str(path)], Options()))
    [kernel] = [item.kernel for item in items if isinstance(item, Result)]
    stated = {fact.name: fact.value for fact in kernel.traits.facts}
    problems = [item.message for item in items if isinstance(item, Problem)]
    return stated, [one for one in problems if code_of(one) != "descriptor-missing"]


def test_a_kernel_counts_with_what_it_calls() -> None:
    info = Info().function("kernel", 1, 20, 30, 4, 16).add(7, "lds").add(8, "callee")
    info.function("callee", 2, 40, 10, 8, 32).add(7, "more").add(7, "lds")
    found, messages = facts(info)
    assert found == {
        "vgprs": 32 + 8,  # AGPRs begin at a multiple of 4
        "agprs": 8,
        "sgprs": 40 + 6,  # VCC and flat scratch
        "lds_bytes": 2048 + 512,
        "scratch_bytes_per_lane": 48,
        "dynamic_stack": False,
    }
    assert messages == []


@pytest.mark.parametrize("call", [lambda info: info.add(8, "outside"), lambda info: info.add(9, 1)])
def test_what_is_called_elsewhere_leaves_it_open(call: object) -> None:
    assert callable(call)
    found, _ = facts(call(Info().function("kernel", 0, 20, 30)))
    assert found["indirect_call"] is True


def test_recursion_has_no_known_scratch() -> None:
    found, _ = facts(Info().function("kernel", 0, 20, 30, 0, 8).add(8, "kernel"))
    assert (found["recursion"], found["dynamic_stack"]) == (True, True)


def test_the_deepest_path_of_calls_counts() -> None:
    info = Info().function("kernel", 0, 0, 0, 0, 1).add(8, "callee").add(8, "outside").add(8, "lds")
    info.function("callee", 0, 0, 0, 0, 2).add(8, "outside")
    info.function("outside", 0, 0, 0, 0, 40).function("lds", 0, 0, 0, 0, 30)
    found, _ = facts(info)
    assert found["scratch_bytes_per_lane"] == 43
    assert "indirect_call" not in found
    assert "recursion" not in found


def test_calls_of_all_by_all_take_linear_time() -> None:
    names, info = [f"f{number}" for number in range(300)], Info()
    for name in names:
        info.function(name, 0, 0, 8)
        for callee in names:
            info.add(8, callee)
    found, _ = facts(info, "f0")
    assert (found["recursion"], found["vgprs"]) == (True, 8)
    assert "indirect_call" not in found


def test_a_chain_of_calls_of_any_length() -> None:
    info = Info()
    for number in range(3000):
        info.function(f"f{number}", 0, 0, 0, 0, 1).add(8, f"f{number + 1}")
    found, _ = facts(info.function("f3000", 0, 0, 99), "f0")
    assert (found["scratch_bytes_per_lane"], found["vgprs"]) == (3000, 99)


def test_unknown_kinds_are_skipped() -> None:
    found, messages = facts(Info().function("kernel", 0, 20, 30).add(99, 7, 3).add(12, 64))
    assert (found["vgprs"], messages) == (30, [])


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (Info().add(3, 7), "linking-info-damaged linking-info-numbers"),
        (
            Info().function("kernel", 0, 9).add(4, 7, 1),
            "linking-info-damaged linking-info-entry 4 … 1",
        ),
        (
            Info().function("kernel", 0, 9).add(7, 7, 2),
            "linking-info-damaged linking-info-entry 7 … 2",
        ),
    ],
)
def test_damage_is_named_and_leaves_the_rest_open(info: Info, message: str) -> None:
    found, [complaint] = facts(info)
    assert does_line_match(complaint, message), complaint
    assert found.get("indirect_call", True) is True


@needs_corpus
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_what_llvm_writes(target: str) -> None:
    path = CORPUS / "more" / "objects" / f"objlink-llvm24git-{target}.o"
    items = analyse([str(path)], Options())
    found = {i.kernel.symbol: i.kernel for i in items if isinstance(i, Result)}
    assert {name: kernel.numbers.lds_bytes for name, kernel in found.items()} == {
        "calls": 0,
        "pointer": 0,
        "alone": 2048,
    }
    assert found["calls"].numbers.vgprs == 41
    assert found["calls"].numbers.scratch_bytes_per_lane == 32
    assert not any(kernel.occupancy().exact for kernel in found.values())
