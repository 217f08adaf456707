"""Code objects: which llvm-objdump reads them, and that they say what their texts say."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import struct
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ..conftest import CORPUS, FIXTURES, needs_corpus, require
from ..fuzz.specimens import Specimen, code_object
from ..messages import says, tells
from ..test_golden import OCCUPANCY, run
from . import grep, proofs, texts, two_routes
from .compiled import compiled

TEXTS = sorted((FIXTURES / "pressure").glob("*.s"))
ASSEMBLY = sorted((FIXTURES / "assembly").glob("*.s"))
PAIRS = [path for path in ASSEMBLY if (FIXTURES / "code_object" / f"{path.stem}.co").exists()]
LIBRARY = "/usr/lib/x86_64-linux-gnu/librocrand.so.1"
needed = pytest.mark.needs("llvm-22")

Peaks = dict[str, tuple[int, dict[str, int]]]


def peaks(path: Path, is_used: bool = False) -> Peaks:
    """Symbol → instructions, and registers live at the peak or used by the code."""
    names = ("vgprs", "agprs", "sgprs")
    part = "used" if is_used else "peak"
    return {
        one["symbol"]: (one["instructions"], {name: one[part][name] for name in names})
        for one in texts.kernels(path)
    }


def reasons(path: Path) -> list[str]:
    """Why the only kernel of a file is inexact; empty if it is exact."""
    [kernel] = texts.kernels(path)
    assert kernel["exact"] is not bool(kernel["reasons"])
    found: list[str] = kernel["reasons"]
    return found


def only(monkeypatch: pytest.MonkeyPatch, folder: Path, *versions: int, root: str = "") -> None:
    """Leave only these versions of llvm-objdump on PATH."""
    if os.path.exists("/opt/rocm/llvm/bin/llvm-objdump"):
        pytest.skip("ROCm is installed where it is always found")
    for version in versions:
        require(f"llvm-{version}")
        program = shutil.which(f"llvm-objdump-{version}")
        assert program
        (folder / f"llvm-objdump-{version}").symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ROCM_PATH", root)
    monkeypatch.delenv("LLVM_OBJDUMP", raising=False)


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!{sys.executable}\n{script}\n")
    path.chmod(0o755)


def test_no_program_of_the_current_folder_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Includes relative entries of PATH and a relative `LLVM_OBJDUMP`."""
    only(monkeypatch, tmp_path / "nothing")
    ran = tmp_path / "ran"
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        write_program(folder / "llvm-objdump", f"open({str(ran)!r}, 'w')")
    path = str(FIXTURES / "pressure" / "labels.o")
    for entries in (":", ".", "bin", f":{tmp_path / 'nothing'}"):
        monkeypatch.setenv("PATH", entries)
        _, err, code = run("pressure", path, folder=tmp_path)
        assert code == 2
        assert says(err, "objdump-needed")
    for relative in ("./llvm-objdump", "bin/llvm-objdump", "llvm-objdump"):
        monkeypatch.setenv("LLVM_OBJDUMP", relative)
        _, err, code = run("pressure", path, folder=tmp_path)
        assert code == 2
        assert tells(err, f"objdump-no-program {relative}")
    assert not ran.exists()


def test_a_program_that_fails_is_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    only(monkeypatch, tmp_path)
    for script in ("import sys; sys.exit(3)", "print('garbage')"):
        write_program(tmp_path / "llvm-objdump", script)
        _, err, code = run("pressure", f"code_object/{OCCUPANCY}.out")
        assert code == 2
        assert says(err, "objdump-needed")
    (tmp_path / "llvm-objdump-99").write_bytes(b"\x7fELF is not what follows")
    (tmp_path / "llvm-objdump-99").chmod(0o755)
    _, err, code = run("pressure", "pressure/labels.o")
    assert code == 2
    assert tells(err, "objdump-silent llvm-objdump-99 … labels")


def test_a_program_with_its_version_in_a_link_is_not_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path)
    for name in ("llvm-objdump", "llvm-objdump-19"):
        (tmp_path / name).symlink_to("/bin/false")
    _, err, code = run("pressure", "pressure/upper.o")
    assert code == 2
    assert tells(err, "objdump-older llvm-objdump 19 … gfx1250 … LLVM 21")


def test_a_program_is_given_at_most_512_functions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    functions = [Specimen(f"k{number}", 8, 0, 8, 0, 0, 64) for number in range(513)]
    (tmp_path / "k.co").write_bytes(code_object(functions))
    only(monkeypatch, tmp_path)
    count = "open(sys.argv[-1], 'rb').read().count(b'\\0.f')"
    write_program(tmp_path / "llvm-objdump", f"import sys; open('count', 'w').write(str({count}))")
    run("pressure", "k.co", folder=tmp_path)
    assert (tmp_path / "count").read_text() == "512"


@needed
def test_namesakes_bear_their_target() -> None:
    rows = run("pressure", "container/libtwo.so")[0].splitlines()[1:9]
    names = [row.partition("0x")[2].split(maxsplit=1)[1] for row in rows]
    assert names[:2] == ["first_claim(int*) · gfx1030", "first_claim(int*) · gfx90a"]
    assert len({*names}) == 8
    of_one = run("pressure", "container/libtwo.so", "--target", "gfx90a", "--top", "3")[0]
    assert "first_claim(int*)\n" in of_one
    assert of_one.endswith("\n 1 more kernel; --top 0 shows all\n")


@pytest.mark.nightly
@needed
@pytest.mark.parametrize("text", [*TEXTS, *PAIRS[::4]], ids=lambda path: path.stem)
def test_text_and_object_say_the_same(text: Path, tmp_path: Path) -> None:
    """Without the comments on undefined values, which the object lacks."""
    linked = text.with_suffix(".o")
    linked = linked if linked.exists() else FIXTURES / "code_object" / f"{text.stem}.co"
    plain = tmp_path / text.name
    plain.write_text(re.sub("; implicit-def: .*", "", text.read_text("utf-8")))
    for is_used in (False, True):
        assert peaks(plain, is_used) == peaks(linked, is_used)
    exact = [kernel["exact"] for kernel in texts.kernels(plain)]
    assert [kernel["exact"] for kernel in texts.kernels(linked)] == exact
    assert all(exact) or text not in TEXTS


@pytest.mark.nightly
@needed
def test_a_code_object_has_source_lines_by_its_debug_information() -> None:
    for name in (
        "assembly/tiny-lines-clang22-gfx90a.s",
        "code_object/tiny-lines-clang22-gfx90a.co",
    ):
        [kernel, *_] = texts.kernels(FIXTURES / name)
        assert {line["line"] for line in kernel["lines"]} == {15}


@pytest.mark.nightly
@needed
def test_kernels_that_share_an_address_are_empty_or_never_end(tmp_path: Path) -> None:
    source = """
#define __global__ __attribute__((global))
extern "C" {
__global__ void never(int *p) { __builtin_unreachable(); }
__global__ void forever(int *p) { for (;;) __builtin_amdgcn_s_sleep(1); }
__global__ void trap(int *p) { if (*p) __builtin_trap(); p[1] = 2; }
__global__ void first(int *p) { p[1] = p[0] * 3; }
__global__ void second(int *p) { p[1] = p[0] * 3; }
}
"""
    folded = (("-ffunction-sections",), ("--icf=all",))
    for options, link in ((("-O3",), ()), (("-O0",), ()), folded):
        text, linked = compiled(22, tmp_path, source, *options, link=link)
        assert peaks(linked) == peaks(text)
        assert {"forever", "trap", "first", "second"} <= peaks(text).keys()
        if options != ("-O0",):
            for path in (text, linked):
                out, err, code = run("pressure", str(path), "never")
                assert tells(err, "kernel-empty never")
                assert (out, code) == ("", 0)


@pytest.mark.nightly
def test_the_newest_disassembler_is_taken_then_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """ROCm's program has no version in its name, so the program is asked."""
    rocm = tmp_path / "rocm" / "llvm" / "bin"
    rocm.mkdir(parents=True)
    only(monkeypatch, tmp_path, 15, 22, root=str(tmp_path / "rocm"))
    (rocm / "llvm-objdump").symlink_to(shutil.which("llvm-objdump-15", path=str(tmp_path)) or "")
    carries = FIXTURES / "pressure" / "carries.o"
    assert peaks(carries)["carries"][0] == 10
    monkeypatch.setenv("LLVM_OBJDUMP", "llvm-objdump-15")
    assert reasons(carries) == []


@pytest.mark.nightly
def test_what_no_disassembler_knows_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path, 19)
    for name in ("carries.o", "carries.s"):
        assert reasons(FIXTURES / "pressure" / name) == ["undecoded words"]
        out, _, _ = run("pressure", f"pressure/{name}")
        assert "at least 2 VGPRs" in out
        assert "no llvm-objdump that is installed knows what they encode" in " ".join(out.split())
    for path, target, version in (
        ("code_object/variety-clang22-gfx950.co", "gfx950", 20),
        ("pressure/upper.o", "gfx1250", 21),
    ):
        out, err, code = run("pressure", path)
        assert (out, code) == ("", 2)
        assert tells(err, f"objdump-older llvm-objdump 19 … {target} … LLVM {version}")


@pytest.mark.nightly
@two_routes.needed
def test_low_halves_may_be_written_with_the_high_ones(tmp_path: Path) -> None:
    """Only a high half proves that the compiler told them apart."""
    whole = "".join(f"\tv_mov_b32 v{n}, v0\n" for n in (1, 2, 3)) + "\tv_add_f32 v3, v3, v2\n"
    low = f"{whole}\tv_mov_b16 v1.l, v3.l\n\tv_mov_b32 v4, v1\n"
    high, apart = f"{low}\tv_mov_b16 v5.h, v4.l\n", low.replace("v4, v1", "v4, v3")
    for body, count in ((low, 1), (high, 0), (apart, 0)):
        texts.measured(tmp_path, body, target="gfx1100")
        path = tmp_path / "many.s"
        path.write_text(path.read_text().partition("\t.amdgpu_metadata")[0])
        linked = two_routes.assembled(path, "gfx1100", "-mattr=+real-true16")
        assert len(reasons(linked)) == count


WORDS = "\t.long 0x7e0e0301\n\t.long 0xd2850008, 0x00020307\n"


@pytest.mark.nightly
@needed
def test_data_that_encodes_instructions_is_decoded(tmp_path: Path) -> None:
    text = (FIXTURES / "pressure" / "datawords.s").read_text("utf-8")
    for data in (
        ".4byte 0x7e0e0301, 0xd2850008, 0x00020307",
        ".int 0x7e0e0301\n.quad 0x00020307d2850008",
        ".short 0x0301, 0x7e0e\n.8byte 0x00020307d2850008",
        ".byte 1, 3, 0xe, 0x7e\n.2byte 8, 0xd285, 0x0307, 2",
        ".set MOVE, 0x7e0e0000\n.long MOVE + 0x301\n.value 8, 0xd285, 0x0307, 2",
        ".octa 0x7e0e030100020307d28500087e0e0301",
    ):
        path = tmp_path / "k.s"
        path.write_text(text.replace(WORDS, data + "\n"))
        assert reasons(path) == []
        assert peaks(path)["datawords"] == (
            11 if "octa" in data else 10,
            {"vgprs": 4, "agprs": 0, "sgprs": 2},
        )
    words = "0x7e020300 0x7e040300 0xbf820001 0x7e040301 0x68060501"
    [kernel] = texts.measured(tmp_path, "".join(f"\t.long {word}\n" for word in words.split()))
    assert (kernel["reasons"], kernel["instructions"]) == ([], 6)
    [kernel] = texts.measured(tmp_path, "\t.long 0xbf840001\n\tv_mov_b32 v1, 1\n\tv_nop\n")
    assert [reason.partition(":")[0] for reason in kernel["reasons"]] == [
        "a branch out of data words",
        "branch to an unknown label",
    ]


@needed
def test_a_function_ends_with_its_symbol_or_at_the_next_one(tmp_path: Path) -> None:
    """Symbol of a global, protected function in section 2, and what else its table may say."""
    raw = (FIXTURES / "pressure" / "labels.o").read_bytes()
    symbol = struct.pack("<BBHQQ", 0x12, 3, 2, 0, 0x48)
    assert raw.count(symbol) == 1
    path = tmp_path / "k.o"
    places = {(0, 0x48): 14, (0, 0): 14, (0, 0x20): 6, (0x48, 0): 0, (0, 0x4C): 0, (1 << 40, 4): 0}
    for (value, size), count in places.items():
        path.write_bytes(raw.replace(symbol, struct.pack("<BBHQQ", 0x12, 3, 2, value, size)))
        out, err, _ = run("pressure", str(path), "--format", "json")
        kernels = json.loads(out)["kernels"]
        assert [one["instructions"] for one in kernels] == ([count] if count else [])
        assert bool(err) is not bool(count), (value, size)


@needed
def test_functions_are_found_where_objcopy_removed_a_section(tmp_path: Path) -> None:
    """objcopy leaves the numbers of sections in `.dynsym` as they were."""
    path = FIXTURES / "code_object" / "handwritten.co"
    before = path.read_bytes()
    table = ELFFile(io.BytesIO(before)).get_section_by_name(".dynsym")
    assert isinstance(table, SymbolTableSection)
    stripped = bytearray(before)
    for number, symbol in enumerate(table.iter_symbols()):
        if symbol["st_info"]["type"] == "STT_FUNC":
            at = table["sh_offset"] + number * table["sh_entsize"]
            stripped[at + 6 : at + 8] = struct.pack("<H", symbol["st_shndx"] + 1)
    assert stripped != before
    (tmp_path / "k.co").write_bytes(stripped)
    assert peaks(tmp_path / "k.co") == peaks(path) != {}


@needed
def test_a_descriptor_outside_the_file(tmp_path: Path) -> None:
    """Or inside other data: any register may be set at kernel entry."""
    whole = (FIXTURES / "code_object/tiny-v6-clang22-gfx90a.co").read_bytes()
    path = tmp_path / "k.co"
    for address in (0, 1, 1 << 20, (1 << 64) - 8):
        data = bytearray(whole)
        for table in ELFFile(io.BytesIO(whole)).iter_sections():
            if isinstance(table, SymbolTableSection):
                for index, symbol in enumerate(table.iter_symbols()):
                    if symbol.name.endswith(".kd"):
                        at = table["sh_offset"] + index * table["sh_entsize"]
                        struct.pack_into("<Q", data, at + 8, address)
        path.write_bytes(data)
        out, err, code = run("pressure", str(path), "--format", "json")
        vector = [kernel["peak"]["vector"] for kernel in json.loads(out)["kernels"]]
        assert vector
        assert all(vector)
        assert code in (0, 2)
        assert "Traceback" not in err


def counted(*paths: str) -> list[dict[str, int]]:
    """Counts of `report --instructions`, as far as they are known."""
    words = ("--all-copies", "--instructions", "--format", "jsonl")
    out, _, _ = run("report", *paths, *words)
    rows = [json.loads(line) for line in out.splitlines()]
    names = [*rows[0]][[*rows[0]].index("Instructions") :]
    found = [{name: row[name] for name in names} for row in rows]
    return [counts for counts in found if counts["Instructions"] is not None]


@needed
def test_text_and_object_have_the_same_counts() -> None:
    name = "variety-clang22-gfx942"
    of_both = [counted(f"assembly/{name}.s"), counted(f"code_object/{name}.co")]
    text, of_object = (sorted([*one.values()] for one in each) for each in of_both)
    assert len(text) == 26
    assert text == of_object


def add_up(path: str) -> int:
    """Number of kernels whose classes add up to their instructions."""
    found = counted(path)
    assert all(sum([*one.values()][1:15]) == one["Instructions"] for one in found)
    return len(found)


@needed
def test_classes_add_up_in_all_fixtures() -> None:
    assert add_up(str(FIXTURES / "code_object")) > 100


@needs_corpus
@pytest.mark.nightly
@pytest.mark.needs("librocrand", "llvm-22")
def test_classes_add_up_in_the_corpus_and_a_library() -> None:
    assert add_up(str(CORPUS)) > 1000
    assert add_up(LIBRARY) > 500


@two_routes.needed
@pytest.mark.nightly
def test_counts_equal_grep() -> None:
    (_, _, found), faults = proofs.grepped(full=False)
    assert faults == []
    kernels = int(found.split(" kernels")[0].replace(",", ""))
    assert kernels >= 2 * 8 * len(grep.TARGETS)
    for name in ("matrix", "lds", "atomics", "barriers"):
        assert f" 0 {name}" not in found
