"""The fuzzed readers: a function of bytes and valid seeds for each."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import chdir, suppress
from pathlib import Path
from struct import pack, pack_into
from typing import NamedTuple
from unittest.mock import patch

import msgpack

from kernelinfo.errors import ReadError
from kernelinfo.hardware.targets import find
from kernelinfo.kernel.names import base_name, demangle, without_unit
from tests.reading.code_object.test_object_linking import Info, facts

from ..conftest import FIXTURES
from ..containers import (
    archive,
    database,
    marker,
    member,
    offload_binary,
    printed,
    split,
    table,
    thin,
    zip64,
    zipped,
)
from ..reading.inside import (
    Blob,
    Data,
    Definitions,
    StatedValue,
    formats,
    metadata_yaml,
    open_paths,
    parse_isa_version,
    parse_target_id,
    read_source_lines,
)
from ..tars import LIES, tar
from . import documents, fleets, inside, live_registers, user_files
from .inside import same_expressions, same_lines, same_yaml
from .promise import answer
from .specimens import CONTAINERS, KERNELS, assembly, code_object, metadata

OBJECT = code_object(KERNELS)


class Reader(NamedTuple):
    """One way into the program."""

    read: Callable[[bytes], object]
    """Raises where the promise is broken."""
    seeds: Sequence[bytes]


def _fixtures(*patterns: str, most: int = 32_000) -> list[bytes]:
    paths = sorted(path for pattern in patterns for path in FIXTURES.glob(pattern))
    return [path.read_bytes() for path in paths if path.stat().st_size <= most]


def _behind(magic: bytes) -> Callable[[bytes], object]:
    """The answer for bytes that always begin with the magic."""
    return lambda data: answer(magic + data[len(magic) :], show=False)


def _note(data: bytes) -> None:
    answer(code_object(KERNELS, data), show=False)


def _note_v2(data: bytes) -> None:
    """The YAML of code object v2."""
    answer(code_object(KERNELS, data, owner=b"AMD\0", kind=10), show=False)


def _yaml(data: bytes) -> None:
    with suppress(ValueError):
        metadata_yaml.parse(metadata_yaml.document(data.decode("utf-8", "backslashreplace"))[0])


def _expression(data: bytes) -> None:
    """Lines of definitions, of which the last is worth knowing."""
    same_expressions(data)
    lines = data.decode("utf-8", "backslashreplace").splitlines() or [""]
    symbols = {
        name: [StatedValue(name, value, line)]
        for line, (name, _, value) in enumerate(line.partition(",") for line in lines)
    }
    for target in (find("gfx90a"), find("gfx1100"), None):
        definitions = Definitions()
        definitions.update(symbols)
        definitions.target = target
        definitions.value(lines[-1], len(lines))


def _paths(data: bytes) -> None:
    """Each line makes an entry of a folder, or a path that is asked for, by its first letter."""
    asked = ["."]
    # Files count as large, of which parts are read, when the first line says so.
    copied = 0 if data.startswith(b"large") else formats.COPIED_BYTES
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.object(formats, "COPIED_BYTES", copied),
    ):
        for line in data.splitlines():
            kind, name = line[:1], os.fsdecode(line[1:40])
            if ".." in name or name.startswith("/"):
                continue
            with suppress(OSError, ValueError):
                file = Path(name)  # without the slash that may end its name
                if kind in b"ft" and os.path.lexists(file):
                    continue  # to write to a FIFO would wait for its reader
                if kind == b"f":
                    file.write_bytes(line[2:] if line[40:] else OBJECT)
                elif kind == b"d":
                    os.mkdir(name)
                elif kind == b"l":
                    os.symlink(name, f"{name}.link")
                elif kind == b"p":
                    os.mkfifo(name)
                elif kind == b"t":
                    file.write_bytes(thin("kernel.co", "../x", name))
                else:
                    asked.append(name)
        for item in open_paths(path for path in asked if path != "-"):
            if isinstance(item, Blob):
                assert os.path.realpath(item.path).startswith(os.path.realpath(folder))
                if b"shrink" in data and not item.containers:
                    os.truncate(item.path, 100)
                with suppress(ReadError):
                    bytes(item.data)


def _debug(data: bytes) -> None:
    with suppress(ReadError):
        read_source_lines(Data.of(data))


def _linking(data: bytes) -> None:
    """The section of an object that is linked later; its first relocations name symbols."""
    info = Info().function("kernel").add(7, "lds").add(8, "callee").function("callee")
    info.data = data
    facts(info)


def _name(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for name in (text, demangle(text)):
        base_name(without_unit(name))
    parse_target_id(text)
    parse_isa_version(text)


def _container(magic: bytes, *names: str, fixtures: str = "", more: Sequence[bytes] = ()) -> Reader:
    seeds = [CONTAINERS[name](OBJECT) for name in names]
    return Reader(_behind(magic), [*seeds, *(_fixtures(fixtures) if fixtures else []), *more])


_ID = b"hipv4-amdgcn-amd-amdhsa--gfx90a"
_TABLE_BYTES = 32 + 3 * (24 + len(_ID))
REPEATED = table(*[(_TABLE_BYTES, len(OBJECT), _ID)] * 3) + OBJECT
"""A bundle whose entries share their bytes."""
WITHOUT_TABLES = (
    pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
).ljust(4096, b"\0") + CONTAINERS["ccob-v1"](OBJECT)
"""A host program without any headers but the first; a bundle on a page's first byte."""


def _overlapping() -> bytes:
    """An OffloadBinary whose images share their bytes."""
    whole = bytearray(offload_binary(*[("amdgcn-amd-amdhsa--gfx90a", OBJECT)] * 3, version=2))
    for entry in range(3):
        pack_into("<QQ", whole, 32 + 40 * entry + 24, 152, len(whole) - 152)
    return bytes(whole)


_DOUBLING = "_Z1f1AIiiE" + "".join(f"S_IS{n}_S{n}_E" for n in "0123456789ABCDEFGHIJKLMNOP")
"""A name of 2^26 repetitions."""
_LOCATED = assembly(KERNELS).replace(
    b"\ts_endpgm", b'\t.file 1 "/elsewhere" "k.hip"\n\t.loc 1 7 0\n\ts_endpgm'
)

LINKED = (
    Info().function("kernel", 1, 20, 30, 4, 16).add(7, "lds").add(8, "callee").add(9, 1),
    Info().function("kernel").add(7, "lds").add(8, "callee").function("callee", 3, 40).add(10, 2),
)
LINKED_TEXT = assembly(KERNELS) + (
    b"\t.amdgpu_info first\n\t.amdgpu_flags 1\n\t.amdgpu_num_vgpr 30\n\t.amdgpu_call second\n"
    b"\t.amdgpu_use lds\n\t.end_amdgpu_info\n\t.amdgpu_info second\n\t.amdgpu_num_agpr 4\n"
    b'\t.amdgpu_indirect_call "ii"\n\t.end_amdgpu_info\n\t.amdgpu_lds lds, 2048, 16\n'
)
"""Text of an object that is linked later."""
DATABASE = database(lambda _: OBJECT, "kern_db: 1, 'k', '', file(''), md5(file('')), 0")
FAR = zip64(zipped(("k.co", OBJECT)), 1 << 40)
LOGS = [
    b"x.hip:6:1: remark: Function Name: _Z5firstPf [-Rpass-analysis=kernel-resource-usage]\n"
    b"x.hip:6:1: remark:     TotalSGPRs: 10 [-Rpass-analysis=kernel-resource-usage]\n"
    b"x.hip:6:1: remark:     VGPRs: 3\nremark: <unknown>:0:0: Function Name: second\n"
    b"x.hip:6:1:     AGPRs: 3\nx.hip(6,1): remark:     LDS Size [bytes/block]: 64\n",
    b"--- !Analysis\nPass:            kernel-resource-usage\nName:            NumVGPR\n"
    b"DebugLoc:        { File: 'x.hip', Line: 6, Column: 1 }\nFunction:        first\nArgs:\n"
    b"  - String:          '    VGPRs: '\n  - NumVGPR:         '3'\n...\n",
]

READERS: dict[str, Reader] = {
    "code-object": Reader(
        _behind(b"\x7fELF\x02\x01"),
        [OBJECT, code_object(KERNELS, sections=False), *_fixtures("code_object/*", most=8000)],
    ),
    "metadata-note-v2": Reader(
        _note_v2,
        [
            b"---\nVersion: [1, 0]\nKernels:\n  - Name: first\n    SymbolName: 'first@kd'\n"
            b"    CodeProps: {NumVGPRs: 64, NumSGPRs: 40, WavefrontSize: 64}\n"
            b"    Attrs: {ReqdWorkGroupSize: [64, 1, 1]}\n"
            b"    Args:\n      - {ValueKind: DynamicSharedPointer}\n...\n",
            b"Kernels:\n  - {Name: first, CodeProps: 3, Attrs: {}}\n",
            b"Kernels: [&a x, *a]",
            b"Kernels:\n  - {Name: first, CodeProps: {NumVGPRs: 1" + b"0" * 30 + b"}}\n",
        ],
    ),
    "short-lines": Reader(same_lines, [assembly(KERNELS), *_fixtures("assembly/*", most=8000)]),
    "short-yaml": Reader(same_yaml, [assembly(KERNELS).partition(b".amdgpu_metadata\n")[2]]),
    "metadata-note": Reader(
        _note,
        [
            metadata(KERNELS),
            metadata(KERNELS).replace(b"--gfx90a", b"-gfx90a:"),
            msgpack.packb({"amdpal.pipelines": []}),
            msgpack.packb({"amdhsa.kernels": [{".symbol": b"first.kd"}, 3]}),
            msgpack.packb({"amdhsa.kernels": [{".name": 7}, {".name": "k"}, {".name": "k"}]}),
            msgpack.packb({"amdhsa.kernels": [], "amdhsa.version": [9, 9]}),
            b"\x82\xa1x\x92\x80\x90\xaeamdhsa.kernels\x90",
        ],
    ),
    "debug-information": Reader(
        _debug, [*_fixtures("code_object/tiny-*"), code_object(KERNELS, debug=True)]
    ),
    "linking-info": Reader(_linking, [bytes(info.data) for info in LINKED]),
    "build-log": Reader(lambda data: answer(LOGS[0] + data, show=False), LOGS),
    "hipk": Reader(
        lambda data: answer(split(reference=data), show=False),
        [marker(["../.kpack/x_@GFXARCH@.kpack"]), marker(["../.kpack/x.kpack"] * 3), marker([])],
    ),
    "data": Reader(
        lambda data: answer(b"\0" + data, show=False),
        [
            OBJECT,
            b"abc" + OBJECT + OBJECT,
            CONTAINERS["bundle"](OBJECT),
            *_fixtures("container/flydsl-*.pkl"),
        ],
    ),
    "mlir": Reader(
        lambda data: answer(b'bin = "\\7FELF\\02\\01\\01' + data, show=False),
        [printed(OBJECT).partition(b"\\02\\01\\01")[2], *_fixtures("container/*.mlir")],
    ),
    "kpack": _container(b"KPAK", "kpack", "kpack-zstd"),
    "aks2": _container(b"AKS2", "aks2"),
    "database": _container(
        b"SQLite format 3\0", more=[DATABASE, *_fixtures("container/tinygrad.db", most=40_000)]
    ),
    "rpm": _container(b"\xed\xab\xee\xdb", "rpm"),
    "cpio": _container(b"07070", "cpio"),
    "assembly": Reader(
        lambda data: answer(data, show=False),
        [
            assembly(KERNELS),
            assembly(KERNELS).decode().encode("utf-16"),
            assembly(KERNELS).replace(b"\n", b"\r"),
            assembly(KERNELS).replace(b"\n", b"\r\n"),
            assembly(KERNELS).replace(b"\n", b"\n[build] "),
            assembly(KERNELS).replace(b"gfx90a", b"gfx9999"),
            b'\t.section .hip_fatbin,"a"\n',
            _LOCATED,
            LINKED_TEXT,
            _LOCATED.replace(b"7 0", b"7 3"),
            *_fixtures("assembly/*", "broken/*.s", most=8500),
        ],
    ),
    "yaml": Reader(
        _yaml,
        [
            assembly(KERNELS).partition(b".amdgpu_metadata\n")[2],
            b"---\nKernels:\n  - Name: k\n",
            b"---\nKernels:\n" + b"".join(b"  %d: 0\n" % (n * ((1 << 61) - 1)) for n in range(99)),
        ],
    ),
    "expressions": Reader(
        _expression,
        [
            b"a,max(1,b)\nb,alignto(7,4)\na+b",
            b"x,totalnumvgprs(4,9)\nextrasgprs(1,0,1)-~x<<2",
            b"((((((alignto(max(1, k.num_vgpr), 4)/4)-1)&~65536)&63)+1)*4",
            b"occupancy(8,4,512,8,9,80,64)\ninstprefsize(1)|0x1f&017",
            b"occupancy(8,8,512,10,800,16,16,80,64)",
            b"totalnumvgprs(4,9)",
            b"totalnumvgprs(0,9)",
            b"extrasgprs(1,1,1)",
            b'"a b",1\n"a b"+08',
            b"0b101+0b" + b"1" * 70,
            b"(" * 1001 + b"1" + b")" * 1001,
            b"1" + b"+1" * 70_000,
            b"1" * (1 << 20) + b"1",
            b"(1||0)&&(2<>3)==(4>=5)!=(1<2)<=3>4 ! 5 ^ 6 % -4 / ~3 >> 1",
            b".kernel.vgpr_count",
            b"min(1,2)+or(1,2)+nothing(3)+max()",
        ],
    ),
    "names": Reader(
        _name,
        [
            b"_Z3fooIiEvT_",
            b"_Z1f1AIiiE" + b"S0_" * 60,
            *(f"{_DOUBLING}{'i' * more}".encode() for more in range(5)),
            b"amdgcn-amd-amdhsa--gfx90a:xnack+",
            b'9,0,10,"AMD","AMDGPU"',
        ],
    ),
    "paths": Reader(
        _paths,
        [
            b"fkernel.co\ndfolder\nffolder/a.co\nlfolder\npfifo\ntlib.a\n?folder/*\n?nothing*\n?fifo",
            b"large\nfkernel.co\ntlib.a\nfb.co\nshrink",
            b"large\nfkernel.co\nfb.co\nnothing",
            b"dx\nlx/y\nl../x\n?lib.a\ntlib.a\nfx/e\n?x/e\n?\0\n?no",
        ],
    ),
    "bundle": _container(
        b"__CLANG_OFFLOAD_BUNDLE__", "bundle", fixtures="container/tiny.hipfb", more=[REPEATED]
    ),
    "text-bundle": Reader(
        lambda data: answer(data, show=False),
        [
            b"; __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx90a\n"
            + assembly(KERNELS)
            + b"; __CLANG_OFFLOAD_BUNDLE____END__ hip-amdgcn-amd-amdhsa--gfx90a\n",
            2 * b"# __CLANG_OFFLOAD_BUNDLE____START__ hip-amdgcn-amd-amdhsa--gfx90a\n"
            + b"; Kernel info:\n; see below\n",
        ],
    ),
    "ccob": _container(b"CCOB", "ccob-v1", "ccob-v2", "ccob-v3", fixtures="container/ccob*"),
    "offload-binary": _container(
        b"\x10\xff\x10\xad",
        "offload-binary-v1",
        "offload-binary-v2",
        fixtures="container/packaged*",
        more=[_overlapping()],
    ),
    "archive": _container(
        b"!<",
        "archive",
        fixtures="container/*.a",
        more=[archive(member("//", b"k.co/\n"), member("/0", OBJECT), member("/99", OBJECT))],
    ),
    "coff": _container(b"\x64\x86", "coff", fixtures="container/*.obj"),
    "pe": _container(
        b"MZ", "pe", fixtures="container/*.dll", more=[CONTAINERS["pe"](OBJECT)[:-1000]]
    ),
    "host": _container(b"\x7fELF\x02\x01", fixtures="container/*.[os]*", more=[WITHOUT_TABLES]),
    "gzip": _container(
        b"\x1f\x8b",
        "gzip",
        fixtures="container/*.gz",
        more=[
            gzip.compress(tar(("k.co", OBJECT), ("x", b"x" * 600)), mtime=0),
            gzip.compress(tar(("k.co", OBJECT), kind="S"), mtime=0),
            gzip.compress(b"", mtime=0) * 99 + gzip.compress(OBJECT, mtime=0),
        ],
    ),
    "zstd": _container(b"\x28\xb5\x2f\xfd", fixtures="container/*.zst"),
    "xz": _container(b"\xfd7zXZ\0", "xz", fixtures="container/*.xz"),
    "bzip2": _container(b"BZh", "bzip2", fixtures="container/*.bz2"),
    "tar": _container(
        b"",
        "tar",
        fixtures="container/tiny.tar",
        more=[
            tar(("k.co", OBJECT), kind="S"),
            tar(("k.co", OBJECT))[:1500],
            tar(("k.co", OBJECT), ("x", b"x"))[:-9000] + b"junk" * 300,
            *LIES.values(),
        ],
    ),
    "zip": _container(
        b"PK\x03\x04",
        "zip",
        fixtures="container/*.whl",
        more=[FAR],
    ),
    "sweep-ir": Reader(inside.read_ir, inside.IR),
    "sidecar": Reader(documents.sidecar, documents.SIDECARS),
    "saved-report": Reader(
        documents.saved_report, [*_fixtures("expected/*.json"), *documents.ODD_NUMBERS]
    ),
    "baseline": Reader(documents.baseline, documents.BASELINES),
    "profile": Reader(documents.profile, _fixtures("profile/*")),
    "compile-commands": Reader(documents.compile_commands, user_files.COMMANDS),
    "path-patterns": Reader(user_files.patterns, user_files.PATTERNS),
    "requests": Reader(user_files.requests, user_files.REQUESTS),
    "source-lines": Reader(live_registers.source_lines, live_registers.FILES),
    "configuration": Reader(documents.configuration, documents.CONFIGURATIONS),
    "trend": Reader(fleets.trend, fleets.TREND_SEEDS),
    "pages": Reader(fleets.pages, fleets.PAGE_SEEDS),
    "locks": Reader(fleets.locks, fleets.LOCK_SEEDS),
    "accepted-problems": Reader(fleets.accepted_problems, fleets.ACCEPTED_SEEDS),
    "pressure": Reader(live_registers.pressure, live_registers.BODIES),
    "explain": Reader(
        live_registers.explain, [*live_registers.WHOLE, *_fixtures("assembly/*", most=8500)]
    ),
}
