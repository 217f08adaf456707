"""Broken inputs of each format: the bytes of headers, and every file of the fixtures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..conftest import FIXTURES
from ..fuzz import documents, fleets, inside, live_registers
from ..fuzz.mutations import Breakage, prefixes, values
from ..fuzz.promise import answer
from ..fuzz.readers import DATABASE, LINKED, LINKED_TEXT, LOGS, OBJECT
from ..fuzz.specimens import CONTAINERS, KERNELS, assembly, code_object


class Format(NamedTuple):
    """Each of the first bytes of its headers takes every value; each file is cut off everywhere."""

    headers: Sequence[Breakage]
    files: Sequence[Path]
    read: Callable[[bytes], object] = answer
    """Raises where the promise is broken."""

    def prefixes(self) -> list[Breakage]:
        return [prefixes(path.read_bytes()) for path in self.files]


def _containers(*names: str) -> list[Breakage]:
    return [values(CONTAINERS[name](OBJECT)) for name in names]


def _fixtures(*names: str) -> list[Breakage]:
    return [values((FIXTURES / name).read_bytes()) for name in names]


def _files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in FIXTURES.glob(pattern))


NOTE = OBJECT.index(b"AMDGPU\0") - 12
DESCRIPTORS = OBJECT.index(KERNELS[0].lds_bytes.to_bytes(4, "little") + bytes(40), NOTE)
SECTIONS = int.from_bytes(OBJECT[40:48], "little")

_KNOWN = {
    "assembly": Format(
        [values(assembly(KERNELS)), values(LINKED_TEXT, LINKED_TEXT.index(b"\t.amdgpu_info"))],
        _files("assembly/*", "broken/*.s"),
    ),
    "code object": Format(
        [
            *(values(OBJECT, start) for start in (0, NOTE, DESCRIPTORS, SECTIONS)),
            values(code_object(KERNELS, sections=False)),
            *(values(info.object()) for info in LINKED),
        ],
        _files("code_object/*", "broken/*.co", "broken/*.o"),
    ),
    "bundle": Format(
        _containers("bundle"),
        _files("container/[mo]*.hipfb", "container/tiny.hipfb", "broken/truncated.hipfb"),
    ),
    "CCOB": Format(
        _containers("ccob-v1", "ccob-v2", "ccob-v3"),
        _files("container/ccob*", "*/t*-compressed.hipfb"),
    ),
    "OffloadBinary": Format(
        _containers("offload-binary-v1", "offload-binary-v2"), _files("container/packaged*")
    ),
    "archive": Format(_containers("archive"), _files("container/*.a")),
    "PE, COFF": Format(_containers("pe", "coff"), _files("container/*.dll", "container/*.obj")),
    "host ELF": Format(
        _fixtures("container/embedded.o", "container/libmixed-no-section-headers.so"),
        _files("container/*.o", "container/*.so", "container/occupancy"),
    ),
    "gzip, zstd, xz, bzip2": Format(
        [*_containers("gzip", "xz", "bzip2"), *_fixtures("container/tiny.co.zst")],
        _files(*(f"container/*.{end}" for end in ("gz", "zst", "xz", "bz2"))),
    ),
    "tar, zip": Format(_containers("tar", "zip"), _files("container/*.tar", "container/*.whl")),
    "build log, record": Format(
        [values(data) for data in LOGS], _files("log/odd-*", "log/variety-clang22-gfx90a.*")
    ),
    "kpack": Format(_containers("kpack", "kpack-zstd"), []),
    "AKS2, SQLite": Format([*_containers("aks2"), values(DATABASE)], []),
    "RPM, cpio": Format(_containers("rpm", "cpio"), []),
    "saved report": Format(
        _fixtures("expected/report.json"),
        _files("expected/*.json"),
        documents.saved_report,
    ),
    "profile": Format(
        _fixtures("profile/kernel_trace.csv"), _files("profile/*"), documents.profile
    ),
    "configuration": Format(
        [values(data) for data in documents.CONFIGURATIONS], [], documents.configuration
    ),
    "Triton's JSON": Format([values(documents.SIDECARS[0])], [], documents.sidecar),
    "IR of sweep": Format([values(inside.IR[0])], [], inside.read_ir),
    "code of pressure": Format(
        [values(body) for body in live_registers.BODIES], [], live_registers.pressure
    ),
    "code of explain": Format(
        [values(text, text.index(b"\nk:") + 1) for text in live_registers.WHOLE],
        [],
        live_registers.explain,
    ),
    "dataset of trend": Format([values(seed) for seed in fleets.TREND_SEEDS[:4]], [], fleets.trend),
    "listing of a server": Format([values(seed) for seed in fleets.PAGE_SEEDS], [], fleets.pages),
}
_OTHERS = {path for path in FIXTURES.rglob("*") if path.is_file()}.difference(
    *(format.files for format in _KNOWN.values())
)
FORMATS = {**_KNOWN, "sources, text, pictures": Format([], sorted(_OTHERS))}
"""Every fixture is a file of one of them."""
