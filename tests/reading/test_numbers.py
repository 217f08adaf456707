"""Numbers and names of files in texts: any digits and any name, and no kernel is lost."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kernelinfo import load
from tests.fuzz.specimens import KERNELS, assembly

from ..messages import do_lines_match
from ..test_golden import run
from ..test_house import PACKAGE

TEXT = assembly(KERNELS).decode()
NINES = "9" * 5000

READERS_OF_TEXT = (
    *("reading/assembly", "reading/build_log.py", "reading/code_object/descriptor.py"),
    *("reading/target_id.py", "pressure/listing.py", "pressure/registers.py"),
)


def test_every_number_of_a_text_goes_through_one_function() -> None:
    modules = [
        path
        for name in READERS_OF_TEXT
        for path in [PACKAGE / name, *(PACKAGE / name).glob("*.py")]
    ]
    calls = [
        (path.name, ast.unparse(node))
        for path in modules
        if path.is_file()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"
    ]
    of_flags = {
        ("expressions.py", f"int({one})")
        for one in ("bool(left or right)", "bool(left and right)", "not value")
    }
    assert set(calls) == of_flags


@pytest.mark.parametrize(
    "line",
    [
        ".amd_amdgpu_pal_metadata 0x2e12,0000048",
        ".amd_amdgpu_pal_metadata 08,09",
        ".amd_amdgpu_pal_metadata 000000009",
    ],
)
def test_digits_that_the_assembler_refuses_are_one_problem(line: str, tmp_path: Path) -> None:
    text = TEXT.replace("\t.text\n", f"\t.text\n\t{line}\n", 1)
    assert text != TEXT
    (tmp_path / "k.s").write_text(text)
    for command in ("report", "check", "explain", "pressure"):
        out, err, code = run(command, "k.s", folder=tmp_path)
        assert code == 2
        assert do_lines_match(err, "directive-unreadable k.s:4: .amd_amdgpu_pal_metadata")
        assert command == "check" or ("first" in out and "second" in out)


_LOC = "\t.file {file}\n\t.loc 1 7 3\n\ts_endpgm"


def test_a_file_has_a_name_or_is_unknown() -> None:
    for file, source in (
        ('1 ""', None),
        ('1 "" ""', None),
        ('1 "/x" ""', None),
        ('1 "" "k.hip"', ("k.hip", 7)),
        ('0 "" ""\n\t.file 1 "k.hip"', ("k.hip", 7)),
        ('0 "/x" ""\n\t.file 1 "k.hip"', ("k.hip", 7)),
        ('0 "/x" "y"\n\t.file 1 "k.hip"', ("/x/k.hip", 7)),
        ('1 "' + "a/" * 100_000 + 'k.hip"', None),
        ('1 "' + "a/" * 2000 + 'k.hip"', ("a/" * 2000 + "k.hip", 7)),
        ('1 "k.hip"\n\t.file 1 ""', None),
        (r'1 "\"\\"', ('"\\', 7)),
        ('1 "\x7f\x01"', ("\x7f\x01", 7)),
    ):
        text = TEXT.replace("\ts_endpgm", _LOC.format(file=file))
        found = {one.kernel.source for one in load(text.encode()).results}
        assert found == {source}


def test_any_digits_of_a_location_and_a_stamp(tmp_path: Path) -> None:
    places = ("1 0 0", "1 999999999 1", f"1 {NINES} 3", f"{NINES} 1 1", "999999999 1 1")
    for location in (*places, "1 08 09", "0 1 1", "1"):
        line = f'\t.file 1 "k.hip"\n\t.loc {location}\n\ts_endpgm'
        (tmp_path / "k.s").write_text(TEXT.replace("\ts_endpgm", line))
        for command in ("report", "check", "explain", "pressure"):
            assert run(command, "k.s", folder=tmp_path)[1:] == ("", 0), location
    for stamp in (f"clang version {NINES}.0.0", f"LLD {NINES}.", "clang version 08.0"):
        (tmp_path / "k.s").write_text(TEXT + f'\t.ident "{stamp}"\n')
        assert run("k.s", folder=tmp_path)[1:] == ("", 0), stamp
