"""Every byte of a device part has one owner: sums against ELF sections, symbols and file sizes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections import Counter
from glob import glob
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ..conftest import FIXTURES
from ..contract.files import make
from ..test_golden import run

LIBRARIES = ("libtwo.so", "libmixed.so", "libwrapped.so", "occupancy", "tiny-fat-compressed.o")
WHOLE = ("*.hipfb", "packaged-*.bin")
MADE = {
    "x.kpack": ["kpack lib/x.so#0@gfx90a=gfx90a lib/x.so#1@gfx1030:xnack-=gfx1030 --compressed"],
    "plain.kpack": ["kpack lib/x.so#0@gfx90a=gfx90a lib/y.so#0@gfx1030=gfx1030"],
    "spirv.hipfb": ["bundle 'hip-spirv64=bytes 03022307' hip-amdgcn--gfx90a=gfx90a"],
    "host.hipfb": ["bundle 'host-x86_64--=text abc' hip-amdgcn--gfx90a=gfx90a", "zeros 99"],
    "v2.co": ["code_object/shaped-v2-clang15-gfx900.co"],
    "cut.co": ["gfx90a", "cut 5000"],
    "behind.co": ["gfx90a", "append text behind"],
}


def bytes_by(*arguments: str) -> list[dict[str, str]]:
    out, _, _ = run("report", *arguments, "--bytes", "--format", "csv")
    return list(csv.DictReader(io.StringIO(out)))


def total(*arguments: str) -> int:
    return sum(int(row["bytes"]) for row in bytes_by(*arguments))


def fatbin_bytes(data: bytes) -> int:
    section = ELFFile(BytesIO(data)).get_section_by_name(".hip_fatbin")
    assert section is not None
    return int(section["sh_size"])


def test_the_bytes_of_each_device_part_sum_to_its_size(tmp_path: Path) -> None:
    files = [path for glob in WHOLE for path in (FIXTURES / "container").glob(glob)]
    files += [*(FIXTURES / "code_object").iterdir()]
    for name, steps in MADE.items():
        (tmp_path / name).write_bytes(make(steps))
        files.append(tmp_path / name)
    sizes = {str(path): path.stat().st_size for path in files}
    libraries = [FIXTURES / "container" / name for name in LIBRARIES]
    sizes |= {str(path): fatbin_bytes(path.read_bytes()) for path in libraries}
    rows = bytes_by(*sizes, "--by", "file")
    sums = Counter[str]()
    for row in rows:
        sums[row["file"]] += int(row["bytes"])
    assert sums == sizes
    for key in ("target", "family", "library,target", "member"):
        assert total(*sizes, "--by", key) == sum(sizes.values()), key
    document = json.loads(run("report", *sizes, "--bytes", "--format", "json")[0])
    assert sum(row["bytes"] for row in document["bytes"]) == sum(sizes.values())


def test_kernels_and_functions_have_the_bytes_of_their_symbols() -> None:
    for path in (FIXTURES / "code_object").glob("variety-*.co"):
        elf = ELFFile(BytesIO(path.read_bytes()))
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        symbols = [*table.iter_symbols()]
        kernels = {one.name[:-3] for one in symbols if one.name.endswith(".kd")}
        sizes = Counter[str]()
        for one in symbols:
            if one["st_info"]["type"] == "STT_FUNC":
                sizes["kernel code" if one.name in kernels else "other functions"] += one["st_size"]
        sizes["descriptors"] = 64 * len(kernels)
        owners = {row["owner"]: int(row["bytes"]) for row in bytes_by(str(path))}
        assert {owner: owners.get(owner, 0) for owner in sizes} == sizes, path


def test_a_truncated_code_object_has_no_byte_without_owner(tmp_path: Path) -> None:
    whole = make(["gfx90a"])
    for size in range(64, len(whole), 397):
        (tmp_path / "k.co").write_bytes(whole[:size])
        assert total(str(tmp_path / "k.co")) == size


@pytest.mark.nightly
@pytest.mark.needs("librocsparse", "librocrand", "llvm-22")
def test_installed_libraries_sum_to_their_sections_and_symbols(tmp_path: Path) -> None:
    def lines(*command: str) -> list[str]:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )

    for name in ("rocsparse.so.0", "rocrand.so.1"):
        (path,) = glob(f"/usr/lib/*/lib{name}")
        (section,) = (
            line for line in lines("llvm-readelf-22", "-SW", path) if ".hip_fatbin " in line
        )
        size = int(section.partition("PROGBITS")[2].split()[2], 16)
        assert total(path, "--by", "target") == total(path, "--by", "family") == size
    # Objects of librocrand, the last of the libraries, on their own.
    run("extract", path, "-o", str(tmp_path))
    sizes = Counter[str]()
    for file in tmp_path.iterdir():
        target = file.name.partition("-00")[2][2:].removesuffix(".co").replace("-", ":", 1)
        symbols = [line.split() for line in lines("llvm-nm-22", "--size-sort", "-S", str(file))]
        sizes[target] += sum(int(line[1], 16) for line in symbols if line[2:] and line[2] in "Tt")
    code = Counter[str]()
    for row in bytes_by(path, "--by", "target"):
        if row["owner"] in ("kernel code", "other functions"):
            code[row["target"]] += int(row["bytes"])
    assert code == sizes
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == sum(
        int(row["bytes"]) for row in bytes_by(path, "--by", "target") if row["target"]
    )
