"""Triton's sidecar: what it says, and everything that it could say instead."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kernelinfo.errors import ReadError
from kernelinfo.reading.containers.triton import Sidecar, read_sidecar
from kernelinfo.reading.facts import Numbers
from tests.test_golden import run

STATED: dict[str, Any] = {
    "name": "dot_kernel",
    "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64},
    "arch": "gfx942",
    "num_warps": 4,
    "warp_size": 64,
    "shared": 4096,
    "waves_per_eu": 0,
    "triton_version": "3.9.0",
}
DOT_ASSEMBLY = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
dot_kernel:
	s_endpgm
; Kernel info:
; NumVgprs: 8
"""


def launched(lds_bytes: int | None, threads: int | None, waves: int | None = None) -> Numbers:
    workgroup = (threads, 1, 1) if threads else None
    return Numbers(dynamic_lds_bytes=lds_bytes, required_workgroup=workgroup, asked_waves=waves)


WARPS = (("num_warps", "4"), ("waves_per_eu", "0"))
DOT = Sidecar("dot_kernel", "gfx942", launched(4096, 256), WARPS)


def next_to(folder: Path, text: str | bytes, suffix: str = ".hsaco") -> str:
    """The path of a code object with this sidecar; the object itself is not looked at."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "dot.json").write_bytes(data)
    return str(folder / f"dot{suffix}")


@pytest.mark.parametrize(
    ("asked", "waves"), [(0, None), (4, 4), (-1, None), (65, None), ("4", None), (None, None)]
)
def test_waves_that_were_asked_for(tmp_path: Path, asked: object, waves: int | None) -> None:
    stated = json.dumps(STATED | {"waves_per_eu": asked})
    sidecar = read_sidecar(next_to(tmp_path, stated))
    assert sidecar
    assert sidecar._replace(options=()) == DOT._replace(
        launch=launched(4096, 256, waves), options=()
    )


def test_waves_that_were_asked_for_and_do_not_fit(tmp_path: Path) -> None:
    stated = f"{DOT_ASSEMBLY}; LDSByteSize: 0 bytes/workgroup (compile time only)\n"
    (tmp_path / "dot.amdgcn").write_text(stated)
    next_to(tmp_path, json.dumps(STATED | {"shared": 20 * 1024, "waves_per_eu": 4}))
    out, _, code = run(str(tmp_path / "dot.amdgcn"))
    assert code == 0
    assert "asked for 4 waves/SIMD, LDS allows 3" in " ".join(out.split())
    next_to(tmp_path, json.dumps(STATED | {"shared": 16 * 1024, "waves_per_eu": 4}))
    out, _, _ = run(str(tmp_path / "dot.amdgcn"))
    assert "KI306" not in out


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in STATED.items() if key not in keys}


@pytest.mark.parametrize("suffix", [".hsaco", ".amdgcn"])
def test_what_triton_writes(tmp_path: Path, suffix: str) -> None:
    assert read_sidecar(next_to(tmp_path, json.dumps(STATED), suffix)) == DOT


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (without("arch", "warp_size"), DOT),
        (without("target"), DOT),
        (without("shared"), Sidecar("dot_kernel", "gfx942", launched(None, 256), WARPS)),
        (
            without("num_warps"),
            Sidecar("dot_kernel", "gfx942", launched(4096, None), WARPS[1:]),
        ),
        (
            without("target", "arch", "warp_size"),
            Sidecar("dot_kernel", None, launched(4096, None), WARPS),
        ),
        (STATED | {"shared": 0}, Sidecar("dot_kernel", "gfx942", launched(0, 256), WARPS)),
    ],
)
def test_keys_may_be_missing(tmp_path: Path, stated: dict[str, Any], expected: Sidecar) -> None:
    assert read_sidecar(next_to(tmp_path, json.dumps(stated))) == expected


def test_constants_stand_before_compile_options(tmp_path: Path) -> None:
    """Triton 2 states constants of named parameters; unnamed and long ones are left out."""
    constants = {"BLOCK_M": 128, "EVEN_K": True, "3": 1, "name": "x" * 100, "list": [1]}
    stated = STATED | {"constants": constants, "num_stages": 2}
    sidecar = read_sidecar(next_to(tmp_path, json.dumps(stated)))
    assert sidecar
    assert sidecar.options == (
        ("BLOCK_M", "128"), ("EVEN_K", "True"), ("num_warps", "4"), ("num_stages", "2"),
        ("waves_per_eu", "0"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"name": None},
        {"name": 3},
        {"shared": None},
        {"shared": -1},
        {"shared": 1 << 60},
        {"shared": True},
        {"shared": 4096.0},
        {"shared": "4096"},
        {"shared": [4096]},
        {"num_warps": 1 << 40},
        {"num_warps": 17},
        {"warp_size": 32},
        {"arch": "gfx90a"},
        {"arch": ["gfx942"]},
        {"target": {"backend": "cuda", "arch": 90, "warp_size": 32}},
        {"target": "hip"},
        {"target": None},
    ],
)
def test_what_contradicts_itself_is_not_believed(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(ReadError, match=r"Triton's JSON next to it is not read: [^\n]+$"):
        read_sidecar(next_to(tmp_path, json.dumps(STATED | change)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[" * 200_000,
        '{"name":' * 100_000,
        '{"name": "k", "shared": ' + "9" * 5000 + "}",
        '{"name": "k", "shared": NaN}',
        b"\xff\xfe\x00",
        json.dumps(STATED).ljust(2 << 20),
    ],
    ids=range(8),
)
def test_damage_is_named(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(ReadError, match=r"Triton's JSON next to it is not read: [^\n]+$"):
        read_sidecar(next_to(tmp_path, text))


@pytest.mark.parametrize("text", ["null", "[]", "3", "{}", '{"kernel": "of another tool"}'])
def test_json_of_others_says_nothing(tmp_path: Path, text: str) -> None:
    assert read_sidecar(next_to(tmp_path, text)) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shared": None}, "shared is None"),
        ({"name": "other"}, "it is for the kernel 'other'"),
        ({"target": {}, "arch": "gfx90a"}, "it is for gfx90a"),
    ],
)
def test_the_kernel_is_reported_without_it(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = Path(next_to(tmp_path, json.dumps(STATED | change), ".amdgcn"))
    path.write_text(DOT_ASSEMBLY)
    out, err, code = run(str(path), "--format", "csv", folder=tmp_path)
    assert (len(out.splitlines()), code) == (2, 2)
    assert err == f"{path}: Triton's JSON next to it is not read: {message}\n"


def test_what_is_beside_must_be_a_file(tmp_path: Path) -> None:
    assert read_sidecar(str(tmp_path / "dot.hsaco")) is None
    os.mkfifo(tmp_path / "dot.json")
    assert read_sidecar(str(tmp_path / "dot.hsaco")) is None
    (tmp_path / "folder.json").mkdir()
    assert read_sidecar(str(tmp_path / "folder.hsaco")) is None
    assert read_sidecar("nul\0byte.hsaco") is None
    (tmp_path / "k.json").write_text(json.dumps(STATED))
    assert read_sidecar(str(tmp_path / "k.co")) is None
