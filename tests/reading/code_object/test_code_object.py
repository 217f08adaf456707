"""Code objects of every version and shape, whole and damaged."""

from __future__ import annotations

import subprocess
from pathlib import Path
from struct import pack, pack_into, unpack_from

import msgpack
import pytest

from kernelinfo import load
from kernelinfo.errors import ReadError
from kernelinfo.kernel.traits import LDS_NOT_STATED
from kernelinfo.reading.code_object import read
from kernelinfo.reading.data import Data
from kernelinfo.reading.facts import Fact, Features, Module, facts_of
from kernelinfo.reading.target_id import compiler_of
from tests.compiling import assembly, needs_clang

FIXTURES = Path(__file__).parents[3] / "fixtures" / "code_object"
ASSEMBLY = FIXTURES.parent / "assembly"
TINY = "tiny-v6-clang22-gfx90a.co"

ADD = "_Z3addPii"
CALLS = """
__attribute__((device)) int unseen(int);
__attribute__((device, noinline)) int sum(int x) { return x < 2 ? 1 : sum(x - 1) + sum(x - 2); }
__global__ void pointer(int (*callee)(int), int *out) { *out = callee(*out); }
__global__ void outside(int *out) { *out = unseen(*out); }
__global__ void recursive(int *out) { *out = sum(*out); }
__global__ void plain(int *out) { *out = 1; }
"""
E_PHOFF, E_SHOFF, E_FLAGS, E_PHNUM, E_SHNUM = 32, 40, 48, 56, 60
PT_DYNAMIC, PT_NOTE = 2, 4
DT_HASH, DT_SYMTAB = 4, 6


def bytes_of(name: str) -> bytearray:
    return bytearray((FIXTURES / name).read_bytes())


def module(name: str) -> Module:
    return read(Data.of(bytes_of(name)))


def facts(of: Module, symbol: str) -> dict[tuple[str, str], object]:
    [kernel] = [kernel for kernel in of.kernels if kernel.symbol == symbol]
    return {(fact.source, fact.name): fact.value for fact in facts_of(kernel.stated)}


def values(of: Module) -> list[tuple[str, set[Fact]]]:
    """All facts but those of the static symbol table, which not every object has."""
    return [
        (k.symbol, {fact for fact in facts_of(k.stated) if fact.source != "symbol"})
        for k in of.kernels
    ]


def messages(of: Module) -> str:
    return "\n".join(warning.message for warning in of.warnings)


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_descriptor_and_metadata_agree(path: Path) -> None:
    found = module(path.name)
    assert found.kernels
    for kernel in found.kernels:
        of_kernel = facts(found, kernel.symbol)
        for name in ("lds_bytes", "scratch_bytes_per_lane", "wave_size", "dynamic_stack"):
            encoded = of_kernel.get(("descriptor", name))
            if encoded is None:
                assert name == "dynamic_stack"
                assert (found.code_object_version or 0) < 5
            else:
                assert of_kernel.get(("metadata", name), encoded) == encoded
        for used, reserved in (("vgprs", "reserved_vgprs"), ("sgprs", "reserved_sgprs")):
            room = of_kernel.get(("descriptor", reserved), 1024)
            count = of_kernel.get(("metadata", used), 0)
            assert isinstance(room, int)
            assert isinstance(count, int)
            assert room >= count


@pytest.mark.parametrize(
    ("name", "version", "features"),
    [
        ("shaped-v2-clang15-gfx900.co", 2, Features("on", "off")),
        ("tiny-v3-clang15-gfx90a.co", 3, Features("on", "on")),
        ("tiny-v4-clang15-gfx90a.co", 4, Features("any", "any")),
        ("tiny-v5-clang19-gfx90a-features.co", 5, Features("off", "on")),
        ("tiny-v6-clang22-gfx1030.co", 6, Features("unsupported", "unsupported")),
    ],
)
def test_versions_and_their_feature_bits(name: str, version: int, features: Features) -> None:
    found = module(name)
    assert (found.code_object_version, found.features) == (version, features)
    assert not found.warnings


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (TINY, "gfx90a"),
        ("tiny-v6-clang22-gfx9-4-generic.co", "gfx9-4-generic"),
        ("variety-clang22-gfx1250.co", "gfx1250"),
    ],
)
def test_the_processor(name: str, target: str) -> None:
    assert module(name).target == target


def test_a_kernel_that_reserves_more_than_it_uses() -> None:
    of_kernel = facts(module("occupancy-clang22-gfx90a.co"), "_Z8ldsboundiPd")
    assert of_kernel["metadata", "vgprs"] == 210
    assert of_kernel["descriptor", "reserved_vgprs"] == 264
    assert of_kernel["descriptor", "accum_offset"] == 212
    assert of_kernel["descriptor", "lds_bytes"] == 65536


def test_spills_and_code_size() -> None:
    read = module("occupancy-clang22-gfx90a.co")
    of_kernel = facts(read, "_Z9sgprboundiPd")
    assert of_kernel["metadata", "vgpr_spills"] == 14
    assert of_kernel["metadata", "scratch_bytes_per_lane"] == 60
    sizes = {kernel.symbol: kernel.code_bytes for kernel in read.kernels}
    assert sizes["_Z9sgprboundiPd"] == 7052


def test_a_required_workgroup() -> None:
    of_kernel = facts(module("shaped-clang22-gfx942.co"), "shaped_block")
    assert of_kernel["metadata", "required_workgroup"] == (32, 8, 1)


def test_the_compiler_is_not_the_linker() -> None:
    compiler, linker = module(TINY).stamps
    assert compiler.startswith("Debian clang version 22.1.8")
    assert linker.startswith("Linker: Debian LLD 22.1.8")
    assert compiler_of(module("handwritten.co").stamps) is None


def test_facts_lie_where_they_say() -> None:
    data = bytes_of("occupancy-clang22-gfx90a.co")
    for kernel in read(Data.of(data)).kernels:
        [place] = [place for place in kernel.places if place.source == "descriptor"]
        offset = place.begin + place.within["lds_bytes"]
        [lds_bytes] = [numbers.lds_bytes for by, numbers in kernel.stated if by == "descriptor"]
        assert unpack_from("<I", data, offset)[0] == lds_bytes


@pytest.mark.parametrize("mode", ["cumode", "wave64"])
def test_modes_of_gfx10(mode: str) -> None:
    compiler = "clang22" if mode == "cumode" else "clang19"
    suffix = f"variety-{compiler}-gfx1030-{mode}.co"
    for kernel in module(suffix).kernels:
        [numbers] = [numbers for by, numbers in kernel.stated if by == "descriptor"]
        assert numbers.wgp_mode is (mode != "cumode")
        assert numbers.wave_size == (64 if mode == "wave64" else 32)


@pytest.mark.parametrize(
    "name", ["tiny-relocatable.o", "tiny-stripped.hsaco", "tiny-no-section-headers.hsaco"]
)
def test_other_shapes_say_the_same(name: str) -> None:
    assert values(module(name)) == values(module(TINY))
    assert not module(name).warnings


def test_v2_kernels_are_their_own_descriptors() -> None:
    found = module("shaped-v2-clang15-gfx900.co")
    of_kernel = facts(found, "shaped_block")
    assert of_kernel["descriptor", "vgprs"] == of_kernel["metadata", "vgprs"]
    assert of_kernel["descriptor", "sgprs"] == of_kernel["metadata", "sgprs"]
    assert of_kernel["metadata", "required_workgroup"] == (32, 8, 1)


def test_hand_written_metadata_may_leave_most_out() -> None:
    found = module("handwritten.co")
    of_kernel = facts(found, "tile_sum")
    assert of_kernel["metadata", "vgprs"] == of_kernel["descriptor", "reserved_vgprs"] == 96
    assert of_kernel["descriptor", "accum_offset"] == 72
    assert ("metadata", "agprs") not in of_kernel
    assert not found.warnings


def test_without_metadata_kernels_are_their_descriptors() -> None:
    found = module("nometadata.co")
    assert [kernel.symbol for kernel in found.kernels] == ["counted", "wide"]
    assert facts(found, "counted") == {
        ("descriptor", "lds_bytes"): 5248,
        ("descriptor", "scratch_bytes_per_lane"): 0,
        ("descriptor", "dynamic_stack"): False,
        ("descriptor", "wave_size"): 32,
        ("descriptor", "reserved_vgprs"): 88,
        ("descriptor", "wgp_mode"): True,
    }
    assert not found.warnings


@pytest.mark.parametrize(
    ("at", "value"),
    [(E_PHOFF, 1 << 60), (E_SHOFF, 1 << 60), (E_PHNUM, 0xFFFF), (E_SHNUM, 0xFFFF)],
)
def test_one_damaged_table_does_not_hide_what_the_other_says(at: int, value: int) -> None:
    data = bytes_of(TINY)
    pack_into("<Q" if value > 0xFFFF else "<H", data, at, value)
    found = read(Data.of(data))
    whole = module(TINY)
    assert values(found) == values(whole)
    assert "headers of" in messages(found)


def test_nothing_readable_is_an_error() -> None:
    data = bytes_of(TINY)
    for cut in (1, 15, 63, 64, 600):
        with pytest.raises(ReadError, match="cut off"):
            read(Data.of(data[:cut]))
    with pytest.raises(ReadError, match="64-bit little-endian"):
        read(Data.of(b"\x7fELF\x01\x01" + bytes(100)))
    pack_into("<H", data, 18, 62)
    with pytest.raises(ReadError, match="machine 62"):
        read(Data.of(data))


def test_a_processor_that_is_not_known_is_never_guessed() -> None:
    data = bytes_of("nometadata.co")
    pack_into("<I", data, E_FLAGS, 0xFE)
    found = read(Data.of(data))
    assert found.target is None
    assert "processor 0xfe in e_flags is not known" in messages(found)
    assert read(Data.of(data), arch="gfx1030").target == "gfx1030"
    pack_into("<I", data, E_FLAGS, 0)
    found = read(Data.of(data))
    assert found.target is None
    assert not found.warnings


def test_the_metadata_names_the_processor_where_e_flags_do_not() -> None:
    data = bytes_of(TINY)
    pack_into("<I", data, E_FLAGS, 0)
    assert read(Data.of(data), arch="gfx1030").target == "gfx90a"


def test_e_flags_win_over_the_metadata() -> None:
    data = bytes_of(TINY)
    pack_into("<I", data, E_FLAGS, 0x41)
    found = read(Data.of(data))
    assert found.target == "gfx1100"
    assert "e_flags say gfx1100, amdhsa.target says gfx90a" in messages(found)


def test_an_abi_version_from_the_future() -> None:
    data = bytes_of(TINY)
    data[8] = 9
    found = read(Data.of(data))
    assert (found.code_object_version, found.features) == (None, Features())
    assert found.kernels
    assert "OS ABI 64 version 9" in messages(found)


def segments(data: bytearray, kind: int) -> list[int]:
    """Offsets of the program headers of a type."""
    start, count = unpack_from("<Q", data, E_PHOFF)[0], unpack_from("<H", data, E_PHNUM)[0]
    headers = range(start, start + 56 * count, 56)
    return [at for at in headers if unpack_from("<I", data, at)[0] == kind]


def with_metadata(root: object) -> Module:
    """An object without sections whose note holds other metadata; the note moves to the end."""
    data = bytes_of("tiny-no-section-headers.hsaco")
    content = root if isinstance(root, bytes) else msgpack.packb(root)
    note = pack("<III8s", 7, len(content), 32, b"AMDGPU") + content
    [header] = segments(data, PT_NOTE)
    pack_into("<Q", data, header + 8, len(data))
    pack_into("<Q", data, header + 32, len(note))
    return read(Data.of(data + note))


@pytest.mark.parametrize(
    ("root", "complaint"),
    [
        (b"", "damaged metadata"),
        (b"\x81", "damaged metadata"),
        (b"\xdd\xff\xff\xff\xff", "damaged metadata"),
        (b"\x81\x91\x01\x01", "a key or value is malformed"),
        (7, "its root is no map"),
        ({}, "amdhsa.kernels is missing"),
        ({"amdhsa.kernels": 5}, "no list"),
        ({"amdhsa.kernels": [1, 2]}, "2 of amdhsa.kernels are no maps"),
        (
            {"amdhsa.kernels": [{".name": ADD, ".vgpr_count": "12"}]},
            f"'{ADD}': .vgpr_count is '12'",
        ),
        ({"amdhsa.kernels": [], "amdhsa.target": 5}, "amdhsa.target is 5"),
    ],
)
def test_damaged_metadata_leaves_the_descriptors(root: object, complaint: str) -> None:
    found = with_metadata(root)
    assert complaint in messages(found)
    assert len(found.kernels) == 2
    assert all(facts(found, k.symbol)["descriptor", "reserved_vgprs"] for k in found.kernels)


def test_metadata_of_a_kernel_without_a_descriptor() -> None:
    found = with_metadata({"amdhsa.kernels": [{".name": "lost", ".vgpr_count": 7}], 5: "vendor"})
    assert [kernel.symbol for kernel in found.kernels] == ["lost", ADD, "_Z5claimPi"]
    assert facts(found, "lost") == {("metadata", "vgprs"): 7}
    assert "kernel 'lost': no descriptor" in messages(found)


def test_pal_pipelines_are_no_kernels() -> None:
    found = with_metadata({"amdpal.pipelines": [], "amdpal.version": [2, 3]})
    assert "PAL pipelines are not read" in messages(found)


def without_dynamic(tag: int) -> Module:
    """An object without sections whose dynamic table lacks `tag`."""
    data = bytes_of("tiny-no-section-headers.hsaco")
    [header] = segments(data, PT_DYNAMIC)
    offset, size = unpack_from("<Q", data, header + 8)[0], unpack_from("<Q", data, header + 32)[0]
    [entry] = [at for at in range(offset, offset + size, 16) if data[at] == tag]
    pack_into("<Q", data, entry, 0x6FFF0000)
    return read(Data.of(data))


def test_symbols_are_counted_by_the_gnu_hash_table_as_well() -> None:
    assert without_dynamic(DT_HASH) == module("tiny-no-section-headers.hsaco")


def test_without_any_symbol_table_the_metadata_remains() -> None:
    found = without_dynamic(DT_SYMTAB)
    assert facts(found, ADD).keys() == {
        key for key in facts(module(TINY), ADD) if key[0] == "metadata"
    }
    assert "damaged dynamic symbol table" in messages(found)
    assert f"kernel '{ADD}' and 1 more: no descriptor" in messages(found)


def test_notes_repeated_in_many_segments_are_read_once() -> None:
    data = bytes_of(TINY)
    start, count = unpack_from("<Q", data, E_PHOFF)[0], unpack_from("<H", data, E_PHNUM)[0]
    [note] = segments(data, PT_NOTE)
    headers = data[start : start + 56 * count] + data[note : note + 56] * 2000
    pack_into("<Q", data, E_PHOFF, len(data))
    pack_into("<H", data, E_PHNUM, count + 2000)
    assert read(Data.of(data + headers)).kernels == module(TINY).kernels


def test_descriptor_symbols_that_point_elsewhere() -> None:
    data = bytes_of("tiny-no-section-headers.hsaco")
    symbols = [
        at
        for at in range(0, 4096, 8)
        if data[at + 4 : at + 6] == b"\x11\x03" and unpack_from("<Q", data, at + 16)[0] == 64
    ]
    for symbol, address in zip(symbols, (0, 1 << 63), strict=True):
        pack_into("<Q", data, symbol + 8, address)
    found = read(Data.of(data))
    assert "does not point at a descriptor" in messages(found)
    assert "has no bytes in the file" in messages(found)
    assert [kernel.symbol for kernel in found.kernels] == [ADD, "_Z5claimPi"]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("variety-*.co")), ids=lambda path: path.stem)
def test_unknown_callees_bound_the_object_as_its_text(path: Path) -> None:
    text = {k.symbol: k for k in load(ASSEMBLY / f"{path.stem}.s").kernels}
    for kernel in load(path).kernels:
        stated = text[kernel.symbol]
        # Text alone shows LDS that is reached and not reserved.
        reasons = {*stated.occupancy().at_most_because} - {LDS_NOT_STATED}
        assert kernel.occupancy().exact is (not reasons), kernel.name
        for flag, value in kernel.flags._asdict().items():
            assert value in (None, getattr(stated.flags, flag)), (kernel.name, flag)


@needs_clang
def test_symbols_of_an_object_tell_of_unknown_callees(tmp_path: Path) -> None:
    text = assembly(CALLS, tmp_path / "calls.s")
    object, stripped = tmp_path / "calls.o", tmp_path / "stripped.o"
    mc = ("llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj")
    subprocess.run([*mc, text, "-o", object], check=True)
    stated = {k.name.partition("(")[0]: k.flags for k in load(text).kernels}
    assert {name: flags.indirect_call for name, flags in stated.items()} == {
        "pointer": True,
        "outside": True,
        "recursive": False,
        "plain": False,
    }
    assert {k.name.partition("(")[0]: k.flags for k in load(object).kernels} == stated
    subprocess.run(["llvm-strip-22", "--discard-all", object, "-o", stripped], check=True)
    for kernel in load(stripped).kernels:
        assert kernel.flags.indirect_call is None


@pytest.mark.parametrize(("flags", "xnack"), [(0, "off"), (1, "on"), (2, "off"), (3, "on")])
def test_the_first_objects_of_version_2_name_their_processor_in_a_note(
    flags: int, xnack: str
) -> None:
    """Their e_flags only tell of XNACK and of a trap handler."""
    raw = bytes_of("shaped-v2-clang15-gfx900.co")
    whole = read(Data.of(bytes(raw)))
    raw[E_FLAGS : E_FLAGS + 4] = flags.to_bytes(4, "little")
    note = raw.index(b"AMD\0AMDGPU\0") - 12
    assert raw[note + 8] == 1  # the stepping, which is gfx900 with XNACK
    found = read(Data.of(bytes(raw)))
    assert (found.target, found.features, found.warnings) == ("gfx900", ("on", "off"), ())
    assert found.kernels == whole.kernels
    raw[note + 8] = 0
    assert read(Data.of(bytes(raw))).features == (xnack, "off")
    raw[note : note + 4] = (19).to_bytes(4, "little")
    assert read(Data.of(bytes(raw))).target == "gfx1900"
    raw[note : note + 4] = b"\xff" * 4
    assert read(Data.of(bytes(raw))).target is None


@pytest.mark.parametrize("folder", ["assembly", "code_object"])
def test_nothing_is_aligned_where_no_architectural_vgpr_is_used(folder: str) -> None:
    (path,) = (FIXTURES.parent / folder).glob("agprs-alone-llc22-gfx90a.*")
    used = {kernel.symbol: kernel.used for kernel in load(path).kernels}
    assert {symbol: (of.vgprs, of.agprs) for symbol, of in used.items()} == {
        "agprs_alone": (4, 4),
        "many_agprs_alone": (10, 10),
        "one_of_each": (5, 1),
    }
