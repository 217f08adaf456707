"""Sources of instructions: functions of code objects, disassemblers, data in the code."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sys
from pathlib import Path
from struct import pack

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kernelinfo.pressure.code_file import MachineCode
from kernelinfo.pressure.code_objects import HALVES, followed
from kernelinfo.pressure.disassembly import Processor
from kernelinfo.pressure.function_code import function_code
from kernelinfo.pressure.registers import named, ranges
from kernelinfo.reading.data import Data

from ..conftest import FIXTURES, require
from ..test_golden import run
from . import disassembler
from .reading import function_of

TEXTS = sorted((FIXTURES / "pressure").glob("*.s"))
COMPARED = ("Instructions", "VGPR_Used", "Vector_Peak", "SGPR_Peak", "Exact")


def row(path: Path | str) -> dict[str, str]:
    """CSV row of the only kernel of a file."""
    out, err, code = run("pressure", str(path), "--format", "csv")
    assert (err, code) == ("", 0)
    (found,) = csv.DictReader(io.StringIO(out))
    return found


def reasons(path: Path | str) -> list[str]:
    """Reasons why the only kernel of a file is inexact; empty if it is exact."""
    out, _, code = run("pressure", str(path), "--format", "json")
    (kernel,) = json.loads(out)["kernels"]
    assert code == 0
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


@pytest.mark.nightly
@disassembler.needed
@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_text_and_object_say_the_same(text: Path) -> None:
    of_text, of_object = row(text), row(text.with_suffix(".o"))
    assert [of_text[name] for name in COMPARED] == [of_object[name] for name in COMPARED]
    assert of_text["Exact"] == "True"


@pytest.mark.nightly
@disassembler.needed
def test_a_symbol_inside_a_function_is_a_label() -> None:
    found = row(FIXTURES / "pressure" / "labels.o")
    assert (found["Instructions"], found["VGPR_Used"], found["Peak_Loop"]) == ("14", "12", "again")


def test_functions_are_found_where_objcopy_removed_a_section() -> None:
    """objcopy leaves the numbers of sections in `.dynsym` as they were."""
    before = (FIXTURES / "code_object" / "handwritten.co").read_bytes()
    elf = ELFFile(io.BytesIO(before))
    table = elf.get_section_by_name(".dynsym")
    assert isinstance(table, SymbolTableSection)
    stripped = bytearray(before)
    for number, symbol in enumerate(table.iter_symbols()):
        if symbol["st_info"]["type"] == "STT_FUNC":
            at = table["sh_offset"] + number * table["sh_entsize"]
            stripped[at + 6 : at + 8] = pack("<H", symbol["st_shndx"] + 1)
    assert stripped != before
    names = [symbol.name for symbol in table.iter_symbols() if symbol.name]
    found = [*function_code(Data.of(bytes(stripped)), names)]
    assert found
    assert found == [*function_code(Data.of(before), names)]


@pytest.mark.nightly
def test_the_newest_disassembler_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """ROCm's program has no version in its name, so the program is asked."""
    rocm = tmp_path / "rocm" / "llvm" / "bin"
    rocm.mkdir(parents=True)
    only(monkeypatch, tmp_path, 15, 22, root=str(tmp_path / "rocm"))
    (rocm / "llvm-objdump").symlink_to(shutil.which("llvm-objdump-15", path=str(tmp_path)) or "")
    assert row(FIXTURES / "pressure" / "carries.o")["Instructions"] == "10"


@pytest.mark.nightly
def test_where_one_cannot_decode_the_next_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path, 15, 22)
    monkeypatch.setenv("LLVM_OBJDUMP", "llvm-objdump-15")
    assert reasons(FIXTURES / "pressure" / "carries.o") == []


@disassembler.needed
def test_halves_of_registers_are_no_other_registers() -> None:
    """Without its feature, llvm-objdump prints v1.h as v129 with the comment `Invalid register`."""
    found = row(FIXTURES / "pressure" / "halves.o")
    assert [found[name] for name in COMPARED] == ["12", "6", "3", "2", "True"]
    text = row(FIXTURES / "pressure" / "halves.s")
    assert [text[name] for name in COMPARED] == [found[name] for name in COMPARED]


def test_low_halves_may_be_written_with_the_high_ones() -> None:
    """Only a high half proves that the compiler told them apart."""
    body = "v_mov_b32 v1, v0\n v_mov_b32 v2, v0\n v_mov_b32 v3, v0\n v_add_f32 v3, v3, v2"
    text = f"f:\n {body}\n v_mov_b16 v1.l, v3.l\n v_mov_b32 v4, v1\n s_endpgm\n"
    entry = named("v0")
    assert followed(function_of(text).listing, entry).reasons == (HALVES,)
    high = text.replace(" s_endpgm", " v_mov_b16 v5.h, v4.l\n s_endpgm")
    assert followed(function_of(high).listing, entry).reasons == ()
    apart = text.replace("v4, v1", "v4, v3")
    assert followed(function_of(apart).listing, entry).reasons == ()


@disassembler.needed
def test_a_register_that_is_invalid_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a version that does not know the feature."""
    monkeypatch.setattr(Processor, "ways", ((),))
    assert reasons(FIXTURES / "pressure" / "halves.o") == ["undecoded words"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["carries.o", "carries.s"])
def test_words_that_none_can_decode_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    only(monkeypatch, tmp_path, 15, 19)
    assert reasons(FIXTURES / "pressure" / name) == ["undecoded words"]
    out, _, _ = run("pressure", str(FIXTURES / "pressure" / name))
    assert "at least 2 VGPRs" in out
    assert "no llvm-objdump that is installed knows what they encode" in " ".join(out.split())


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "needed"), [("variety-clang22-gfx950", 20), ("upper", 21)])
def test_a_disassembler_that_is_too_old_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, needed: int
) -> None:
    only(monkeypatch, tmp_path, 19)
    folder = FIXTURES / "pressure" / "upper.o"
    path = folder if name == "upper" else FIXTURES / "code_object" / f"{name}.co"
    out, err, code = run("pressure", str(path))
    assert (out, code) == ("", 2)
    target = "gfx1250" if name == "upper" else "gfx950"
    assert f"llvm-objdump 19 does not know {target}; LLVM {needed} does" in err


def test_no_program_of_the_current_folder_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Includes relative entries of PATH and a relative `LLVM_OBJDUMP`."""
    only(monkeypatch, tmp_path / "nothing")
    ran = tmp_path / "ran"
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        program = folder / "llvm-objdump"
        program.write_text(f"#!{sys.executable}\nopen({str(ran)!r}, 'w')\n")
        program.chmod(0o755)
    path = str(FIXTURES / "pressure" / "labels.o")
    monkeypatch.chdir(tmp_path)
    for entries in (":", ".", "bin", f":{tmp_path / 'nothing'}"):
        monkeypatch.setenv("PATH", entries)
        _, err, code = run("pressure", path)
        assert code == 2
        assert "needs llvm-objdump" in err
    for relative in ("./llvm-objdump", "bin/llvm-objdump", "llvm-objdump"):
        monkeypatch.setenv("LLVM_OBJDUMP", relative)
        _, err, code = run("pressure", path)
        assert code == 2
        assert f"LLVM_OBJDUMP names {relative}, which is no program; give its whole path" in err
    assert not ran.exists()


def written(tmp_path: Path, name: str, *changes: tuple[str, str]) -> Path:
    """A fixture's text with changes, in a file."""
    text = (FIXTURES / "pressure" / f"{name}.s").read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{name}.s"
    path.write_text(text)
    return path


WORDS = "\t.long 0x7e0e0301\n\t.long 0xd2850008, 0x00020307\n"


@pytest.mark.nightly
@disassembler.needed
@pytest.mark.parametrize(
    "data",
    [
        ".4byte 0x7e0e0301, 0xd2850008, 0x00020307",
        ".int 0x7e0e0301\n.quad 0x00020307d2850008",
        ".short 0x0301, 0x7e0e\n.8byte 0x00020307d2850008",
        ".byte 1, 3, 0xe, 0x7e\n.2byte 8, 0xd285, 0x0307, 2",
        ".set MOVE, 0x7e0e0000\n.long MOVE + 0x301\n.value 8, 0xd285, 0x0307, 2",
        ".octa 0x7e0e030100020307d28500087e0e0301",
    ],
)
def test_data_that_encodes_instructions_is_decoded(data: str, tmp_path: Path) -> None:
    found = row(written(tmp_path, "datawords", (WORDS, data + "\n")))
    assert found["Instructions"] == ("11" if "octa" in data else "10")
    assert (found["VGPR_Used"], found["Vector_Peak"], found["Exact"]) == ("9", "4", "True")


@pytest.mark.parametrize(
    "data",
    [
        ".word 0x0301, 0x7e0e",
        ".hword 0x0301, 0x7e0e",
        ".long UNKNOWN",
        ".byte 1",
        ".long 0xffffffff",
        ".fill 2, 4, 0",
        '.incbin "code.bin"',
        ".zero 4",
        '.ascii "abcd"',
        ".single 1.0",
    ],
)
def test_data_that_is_not_decoded_is_told(data: str, tmp_path: Path) -> None:
    assert reasons(written(tmp_path, "datawords", (WORDS, data + "\n"))) == ["undecoded words"]


def test_data_of_other_sections_and_behind_the_end_is_no_code(tmp_path: Path) -> None:
    elsewhere = ".pushsection .rodata\n\t.long 5\n\t.popsection\n"
    path = written(tmp_path, "labels", ("again:\n", "again:\n" + elsewhere))
    assert reasons(path) == []
    path = written(tmp_path, "labels", ("s_endpgm\n", "s_endpgm\n\t.fill 48, 4, 0xbf9f0000\n"))
    assert reasons(path) == []


def test_text_without_a_disassembler_says_that_data_is_not_decoded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path)
    assert reasons(FIXTURES / "pressure" / "datawords.s") == ["undecoded words"]


def test_registers_above_those_of_the_descriptor_are_told(tmp_path: Path) -> None:
    changes = (("next_free_vgpr 12", "next_free_vgpr 4"), ("accum_offset 12", "accum_offset 4"))
    path = written(tmp_path, "labels", *changes)
    assert reasons(path) == ["registers above those that the descriptor allocates"]


def test_upper_registers_need_no_comments() -> None:
    found = row(FIXTURES / "pressure" / "upper.s")
    assert (found["VGPR_Used"], found["Vector_Peak"], found["Exact"]) == ("771", "4", "True")


MEET = """\ts_cbranch_scc1 .Lother
\ts_set_vgpr_msb 1
.Lother:
\tv_mov_b32_e32 v1, v2
\ts_set_vgpr_msb 0
\tglobal_store_b32"""


def test_modes_that_meet_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "upper", ("\tglobal_store_b32", MEET))
    assert reasons(path) == ["unknown mode of s_set_vgpr_msb"]
    path = written(tmp_path, "upper", ("\tglobal_store_b32", MEET.replace("msb 1", "msb 0")))
    assert reasons(path) == []


@pytest.mark.parametrize(
    ("instruction", "named"),
    [
        ("s_nop 0", "v513 v514"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE), 0x1000", "v257 v2"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 0xa000", "v513 v514"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 0", ""),
        ("s_setreg_b32 hwreg(HW_REG_WAVE_MODE), s4", ""),
        ("s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), s4", "v513 v514"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_STATE_PRIV, 0, 4), 0", "v513 v514"),
        ("s_set_vgpr_msb s4", ""),
    ],
)
def test_the_mode_register_holds_the_same_bits(instruction: str, named: str) -> None:
    """Some chips take bits 12 to 19 even from a write of fewer bits (LLVM
    AMDGPULowerVGPREncoding.cpp, `handleSetregMode`)."""
    text = f"f:\n s_set_vgpr_msb 0x82\n {instruction}\n v_mov_b32_e32 v1, v2\n s_endpgm\n"
    function = function_of(text)
    moved = function.instructions[2].effect
    if named:
        assert " ".join((*ranges(moved.writes), *ranges(moved.reads))) == named
        assert function.reasons == ()
    else:
        assert function.reasons == ("unknown mode of s_set_vgpr_msb",)


def test_a_hand_written_name_with_a_backslash_is_measured() -> None:
    """LLVM 19 and older print the name as it is, newer versions escape it."""
    for version in (15, 19, 22):
        out, err, code = run("pressure", f"assembly/odd-clang{version}-gfx90a.s", "back\\slash")
        assert (err, code) == ("", 0)
        assert "6 instructions" in out


def test_a_program_that_is_none_of_this_machine_is_as_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    only(monkeypatch, tmp_path)
    program = tmp_path / "llvm-objdump-99"
    program.write_bytes(b"\x7fELF is not what follows")
    program.chmod(0o755)
    _, err, code = run("pressure", str(FIXTURES / "pressure" / "labels.o"))
    assert code == 2
    assert "llvm-objdump-99 printed no instructions of labels" in err


def code_of(name: str, *symbols: tuple[bytes, bytes]) -> list[MachineCode]:
    """Code of a fixture's kernel. Some bytes of the object are replaced."""
    raw = (FIXTURES / "pressure" / f"{name}.o").read_bytes()
    for old, new in symbols:
        assert raw.count(old) == 1
        raw = raw.replace(old, new)
    return list(function_code(Data.of(raw), [name]))


def symbol_of(value: int, size: int) -> bytes:
    """Symbol table entry of a global, protected function in section 2, without the name."""
    return pack("<BBHQQ", 0x12, 3, 2, value, size)


def test_a_function_ends_with_its_symbol_or_at_the_next_one() -> None:
    whole, symbol = 0x48, symbol_of(0, 0x48)
    (stated,) = code_of("labels")
    (unsized,) = code_of("labels", (symbol, symbol_of(0, 0)))
    assert len(stated.data) == len(unsized.data) == whole
    assert stated.labels == unsized.labels == ((0x1C, "again"), (0x38, "last_part"))
    (shorter,) = code_of("labels", (symbol, symbol_of(0, 0x20)))
    assert len(shorter.data) == 0x20
    (empty,) = code_of("labels", (symbol, symbol_of(whole, 0)))
    assert empty.data == b"", "alone behind the last instruction"
    assert code_of("labels", (symbol, symbol_of(0, whole + 4))) == [], "not all of it is there"
    assert code_of("labels", (symbol, symbol_of(1 << 40, 4))) == []
