"""Valid inputs for gfx90a, built from numbers: code objects, assembly, containers of them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from struct import pack
from typing import NamedTuple

import msgpack
from hypothesis import strategies as st

from ..containers import (
    aks2,
    archive,
    bundle,
    ccob,
    coff,
    cpio,
    kpack,
    member,
    offload_binary,
    pe,
    rpm,
    zipped,
)
from ..tars import tar

TARGET = "amdgcn-amd-amdhsa--gfx90a"


class Specimen(NamedTuple):
    """One kernel, in numbers that every source can say."""

    name: str
    vgprs: int
    """Per lane, AGPRs included; a multiple of 8, so that used and reserved are the same."""
    agprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes_per_lane: int
    workgroup_size: int


KERNELS = [Specimen("first", 64, 8, 40, 1024, 0, 256), Specimen("second", 128, 0, 96, 0, 16, 1024)]


def _specimen(name: str, vgprs: int, agprs: int, *rest: int) -> Specimen:
    return Specimen(name, 8 * (vgprs + agprs), 8 * agprs, *rest)


def specimens(names: st.SearchStrategy[str]) -> st.SearchStrategy[Specimen]:
    """Kernels as a compiler could make them."""
    return st.builds(
        _specimen,
        names,
        st.integers(1, 32),
        st.integers(0, 32),
        st.integers(0, 102),
        st.integers(0, 65536),
        st.integers(0, 1 << 20),
        st.integers(1, 1024),
    )


IDENTIFIERS = st.from_regex(r"[A-Za-z_]\w{0,20}", fullmatch=True).filter(
    lambda name: name.isascii() and not name.startswith("_Z")
)
HOSTILE_NAMES = st.one_of(
    IDENTIFIERS,
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1),
    st.sampled_from(
        [
            "\x1b]0;title\x07\x1b[31mred",
            "\u202egnp.exe",
            "line\nbreak\rreturn",
            "=HYPERLINK(1)",
            "@SUM(A1)",
            "[bold]markup[/bold]",
            "<script>alert(1)</script>",
            "::error file=a::b",
            "../../etc/passwd",
            "_Z" + "N" * 2000,
            "n" * 20_000,
        ]
    ),
)


def modules(
    names: st.SearchStrategy[str] = IDENTIFIERS, most: int = 4
) -> st.SearchStrategy[list[Specimen]]:
    """The kernels of one module."""
    return st.lists(specimens(names), min_size=1, max_size=most, unique_by=lambda s: s.name)


def metadata(kernels: Sequence[Specimen]) -> bytes:
    """The msgpack of the metadata note."""
    maps = [
        {
            ".name": kernel.name,
            ".symbol": f"{kernel.name}.kd",
            ".vgpr_count": kernel.vgprs,
            ".agpr_count": kernel.agprs,
            ".sgpr_count": kernel.sgprs,
            ".group_segment_fixed_size": kernel.lds_bytes,
            ".private_segment_fixed_size": kernel.scratch_bytes_per_lane,
            ".max_flat_workgroup_size": kernel.workgroup_size,
            ".wavefront_size": 64,
        }
        for kernel in kernels
    ]
    return bytes(
        msgpack.packb(
            {"amdhsa.kernels": maps, "amdhsa.target": TARGET, "amdhsa.version": [1, 2]},
            unicode_errors="surrogatepass",
        )
    )


def note(content: bytes, owner: bytes = b"AMDGPU\0", kind: int = 32) -> bytes:
    """An ELF note."""
    start = pack("<III", len(owner), len(content), kind)
    return start + _padded(owner) + _padded(content)


def descriptor(kernel: Specimen) -> bytes:
    """The 64 bytes that the hardware reads. AMDGPUUsage, "Kernel Descriptor"."""
    sgpr_blocks = max(1, -(-(kernel.sgprs) // 8)) - 1
    rsrc1 = kernel.vgprs // 8 - 1 | sgpr_blocks << 6
    accum_offset = max(4, kernel.vgprs - kernel.agprs)
    sizes = pack("<II", kernel.lds_bytes, kernel.scratch_bytes_per_lane)
    return sizes + pack("<36xIIIH6x", accum_offset // 4 - 1, rsrc1, 0, 0)


class _Section(NamedTuple):
    name: bytes
    type: int
    data: bytes
    link: int = 0
    entry_size: int = 0


_DYNAMIC_BYTES = 5 * 16


def code_object(
    kernels: Sequence[Specimen],
    note_content: bytes | None = None,
    *,
    sections: bool = True,
    owner: bytes = b"AMDGPU\0",
    kind: int = 32,
    debug: bool = False,
    stamp: bytes = b"clang\0",
) -> bytes:
    """A linked code object of version 5, loaded where it lies in the file."""
    names = b"\0"
    symbols = [bytes(24)]
    content = metadata(kernels) if note_content is None else note_content
    wrapped = note(content, owner, kind)
    note_at = 64 + 3 * 56
    descriptors_at = -(-(note_at + len(wrapped)) // 64) * 64
    code_at = descriptors_at + 64 * len(kernels)
    for index, kernel in enumerate(kernels):
        for suffix, info, at, size in (
            (b"", 0x12, code_at + 4 * index, 4),
            (b".kd", 0x11, descriptors_at + 64 * index, 64),
        ):
            symbols.append(pack("<IBBHQQ", len(names), info, 3, 2, at, size))
            names += kernel.name.encode("utf-8", "surrogatepass") + suffix + b"\0"
    symbols_at = code_at + 4 * len(kernels)
    strings_at = symbols_at + 24 * len(symbols)
    hash_at = strings_at + len(_padded(names))
    table = pack("<II", 1, len(symbols)) + bytes(4 + 4 * len(symbols))
    dynamic_at = hash_at + len(table)
    tags = ((4, hash_at), (5, strings_at), (6, symbols_at), (10, len(names)), (0, 0))
    dynamic = b"".join(pack("<QQ", *tag) for tag in tags)
    parts = (
        (note_at, _Section(b".note", 7, wrapped)),
        (descriptors_at, _Section(b".rodata", 1, b"".join(map(descriptor, kernels)))),
        (code_at, _Section(b".text", 1, b"\0\0\x81\xbf" * len(kernels))),
        (symbols_at, _Section(b".dynsym", 11, b"".join(symbols), 5, 24)),
        (strings_at, _Section(b".dynstr", 3, names)),
        (hash_at, _Section(b".hash", 5, table, 4)),
        (dynamic_at, _Section(b".dynamic", 6, dynamic, 5, 16)),
    )
    whole = bytearray(_segments(note_at, len(wrapped), dynamic_at))
    for at, section in parts:
        whole[len(whole) :] = bytes(at - len(whole)) + section.data
    if sections:
        comment = (len(whole), _Section(b".comment", 1, stamp))
        _append_sections(whole, [*parts, comment], _debug(kernels) if debug else [])
    return bytes(whole)


def _segments(note_at: int, note_size: int, dynamic_at: int) -> bytes:
    header = b"\x7fELF\x02\x01\x01\x40\x03".ljust(16, b"\0")
    header += pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, 0x53F, 64, 56, 3, 0, 0, 0)
    end = dynamic_at + _DYNAMIC_BYTES
    for kind, at, size in (
        (1, 0, end),
        (4, note_at, note_size),
        (2, dynamic_at, _DYNAMIC_BYTES),
    ):
        header += pack("<IIQQQQQQ", kind, 4, at, at, at, size, size, 8)
    return header


def _debug(kernels: Sequence[Specimen]) -> list[_Section]:
    """DWARF 4: each kernel by its declaration and by its definition, in a namespace."""
    abbreviations = bytes([1, 0x11, 1, 0x10, 0x17, 0x1B, 0x08, 0, 0, 2, 0x39, 1, 0, 0])
    abbreviations += bytes([3, 0x2E, 0, 0x6E, 0x08, 0x3A, 0x0B, 0x3B, 0x0B, 0, 0])
    abbreviations += bytes([4, 0x2E, 0, 0x47, 0x13, 0, 0, 0])
    entries = b"\1" + bytes(4) + b"/\0" + b"\2"
    for line, kernel in enumerate(kernels, 7):
        declared = 11 + len(entries)
        entries += b"\3" + kernel.name.encode() + bytes([0, 1, line])
        entries += b"\4" + pack("<I", declared)
    unit = pack("<HIB", 4, 0, 8) + entries + b"\0\0"
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    header = pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + lengths + b"\0k.hip\0\0\0\0\0"
    lines = pack("<HI", 4, len(header)) + header
    return [
        _Section(b".debug_abbrev", 1, abbreviations),
        _Section(b".debug_info", 1, pack("<I", len(unit)) + unit),
        _Section(b".debug_line", 1, pack("<I", len(lines)) + lines),
    ]


def _append_sections(
    whole: bytearray, parts: Sequence[tuple[int, _Section]], more: Sequence[_Section]
) -> None:
    names = b"\0"
    rows = bytes(64)
    for at, section in [*parts, *((0, s) for s in (*more, _Section(b".shstrtab", 3, b"")))]:
        place = at or len(whole)
        if place >= len(whole):
            whole += section.data
        data = section.data
        if section.name == b".shstrtab":
            data = names + b".shstrtab\0"
            whole += data
        address = place if place < parts[-1][0] else 0
        sizes = (place, len(data), section.link, 0, 4, section.entry_size)
        rows += pack("<IIQQQQIIQQ", len(names), section.type, 2, address, *sizes)
        names += section.name + b"\0"
    whole += bytes(-len(whole) % 8)
    whole[40:48] = pack("<Q", len(whole))
    whole[58:64] = pack("<HHH", 64, len(rows) // 64, len(rows) // 64 - 1)
    whole += rows


def assembly(kernels: Sequence[Specimen]) -> bytes:
    """The kernels as LLVM prints them; names must be identifiers."""
    text = f'\t.amdgcn_target "{TARGET}"\n\t.amdhsa_code_object_version 5\n\t.text\n'
    for kernel in kernels:
        first = max(4, kernel.vgprs - kernel.agprs)
        text += f"""\t.globl\t{kernel.name}                 ; -- Begin function {kernel.name}
{kernel.name}:                                  ; @{kernel.name}
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel {kernel.name}
\t\t.amdhsa_group_segment_fixed_size {kernel.lds_bytes}
\t\t.amdhsa_private_segment_fixed_size {kernel.scratch_bytes_per_lane}
\t\t.amdhsa_next_free_vgpr {kernel.vgprs}
\t\t.amdhsa_next_free_sgpr {kernel.sgprs}
\t\t.amdhsa_reserve_vcc 0
\t\t.amdhsa_reserve_flat_scratch 0
\t\t.amdhsa_reserve_xnack_mask 0
\t\t.amdhsa_accum_offset {first}
\t.end_amdhsa_kernel
\t.text
; Kernel info:
; codeLenInByte = 4
; NumSgprs: {kernel.sgprs}
; NumVgprs: {kernel.vgprs - kernel.agprs}
; NumAgprs: {kernel.agprs}
; TotalNumVgprs: max({kernel.vgprs}, {kernel.name}.low)
; ScratchSize: {kernel.scratch_bytes_per_lane}
\t.set {kernel.name}.low, 0
"""
    text += "\t.amdgpu_metadata\n---\namdhsa.kernels:\n"
    for kernel in kernels:
        text += f"""  - .agpr_count: {kernel.agprs}
    .group_segment_fixed_size: {kernel.lds_bytes}
    .max_flat_workgroup_size: {kernel.workgroup_size}
    .name: '{kernel.name}'
    .private_segment_fixed_size: {kernel.scratch_bytes_per_lane}
    .sgpr_count: {kernel.sgprs}
    .symbol: '{kernel.name}.kd'
    .vgpr_count: {kernel.vgprs}
    .wavefront_size: 64
"""
    text += f"amdhsa.target: {TARGET}\namdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata\n"
    return text.encode()


_ID = f"hipv4-{TARGET}"

CONTAINERS: dict[str, Callable[[bytes], bytes]] = {
    "bundle": lambda data: bundle(("host-x86_64-unknown-linux--", b""), (_ID, data), align=64),
    "ccob-v1": lambda data: ccob(bundle((_ID, data)), 1, 0),
    "ccob-v2": lambda data: ccob(bundle((_ID, data)), 2, 1),
    "ccob-v3": lambda data: ccob(bundle((_ID, data)), 3, 1),
    "offload-binary-v1": lambda data: offload_binary((TARGET, data)),
    "offload-binary-v2": lambda data: offload_binary((TARGET, data), version=2),
    "archive": lambda data: archive(member("kernel.co/", data)),
    "coff": lambda data: coff((".hip_fatbin", bundle((_ID, data)))),
    "pe": lambda data: pe((".hip_fat", bundle((_ID, data)))),
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "tar": lambda data: tar(("kernel.co", data)),
    "zip": lambda data: zipped(("kernel.co", data)),
    "aks2": lambda data: aks2(("x 0 256", data)),
    "rpm": lambda data: rpm(cpio(("kernel.co", data))),
    "cpio": lambda data: cpio(("kernel.co", data)),
    "kpack": lambda data: kpack(("lib/x.so#0@gfx90a", data)),
    "kpack-zstd": lambda data: kpack(("lib/x.so#0@gfx90a", data), compressed=True),
}
"""Each of the containers around some bytes."""


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
