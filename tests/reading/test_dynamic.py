"""VGPRs that waves take while they run, and LDS sized at launch: bounds with their cause."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from struct import pack_into
from typing import Any

import pytest

import kernelinfo
from kernelinfo import Kernel
from tests.conftest import FIXTURES
from tests.test_golden import run

DYNAMIC = FIXTURES / "assembly" / "dynamic-vgprs-llc22-gfx1200-amdpal.s"
VGPRS_ARE_DYNAMIC = "VGPRs are dynamic: this is how many waves start, before any takes more"
LDS_NOT_STATED = (
    "the kernel takes LDS sized at launch, which the file does not say; see --dynamic-lds"
)
BLOCKS_UNKNOWN = "the file does not state the blocks in which VGPRs are dynamic"


def compilers(path: Path, *options: str) -> dict[str, dict[str, Any]]:
    """What is made of the compiler's own number, by symbol."""
    out, _, _ = run(str(path), "--format", "json", "--block", "32", *options)
    return {kernel["symbol"]: kernel["compiler_occupancy"] for kernel in json.loads(out)["kernels"]}


def kernels(source: Path | bytes) -> dict[str, Kernel]:
    return {kernel.symbol: kernel for kernel in kernelinfo.load(source).kernels}


def test_dynamic_vgprs_are_a_bound_and_the_compilers_number_is_explained() -> None:
    found = {
        symbol: (kernel.occupancy(workgroup_size=32), kernel)
        for symbol, kernel in kernels(DYNAMIC).items()
    }
    assert {symbol: occupancy.waves_per_simd for symbol, (occupancy, _) in found.items()} == {
        "kept": 12,  # 97 VGPRs by 24
        "blocks_of_16": 13,  # by 16
        "blocks_of_32": 6,  # 200 by 32
    }
    reasons = {symbol: occupancy.at_most_because for symbol, (occupancy, _) in found.items()}
    # PAL's metadata describe the last function for the stage; only its instructions tell of others.
    assert reasons == {
        "kept": (),
        "blocks_of_16": (BLOCKS_UNKNOWN, VGPRS_ARE_DYNAMIC),
        "blocks_of_32": (VGPRS_ARE_DYNAMIC,),
    }
    assert all(number["agrees"] for number in compilers(DYNAMIC).values())


def test_every_output_bounds_dynamic_vgprs() -> None:
    asked = (str(DYNAMIC), "--block", "32")
    out, _, _ = run(*asked)
    assert "≤6" in out
    assert VGPRS_ARE_DYNAMIC in out
    out, _, _ = run("explain", str(DYNAMIC), "blocks_of_32", "--block", "32")
    assert "at most 24 workgroups/WGP" in out
    assert "37.5 % as the compiler said" in " ".join(out.split())
    out, _, _ = run(*asked, "--format", "json")
    *_, last = json.loads(out)["kernels"]
    assert last["occupancy"]["exact"] is False
    assert last["occupancy"]["at_most_because"] == [VGPRS_ARE_DYNAMIC]
    for format in ("csv", "jsonl", "markdown", "html"):
        out, _, _ = run(*asked, "--format", format)
        assert "VGPRs are dynamic" in out or "≤6" in out, format


def test_another_size_of_blocks_is_a_named_cause(tmp_path: Path) -> None:
    """The number that the compiler prints where it knows of blocks of 32."""
    path = tmp_path / "k.s"
    path.write_text(DYNAMIC.read_text().replace("; Occupancy: 13", "; Occupancy: 12"))
    reason = compilers(path)["blocks_of_16"]["reason"]
    assert "counts dynamic VGPRs in blocks of a size that the file does not state" in reason


@pytest.mark.parametrize(
    ("target", "at", "bit"), [("gfx1201", 52, 6), ("gfx1250", 44, 17), ("gfx1100", 52, 6)]
)
def test_bits_of_the_descriptor(target: str, at: int, bit: int) -> None:
    folder = FIXTURES / "code_object"
    raw = bytearray(next(folder.glob(f"variety-*-{target}.co")).read_bytes())
    plain = kernels(bytes(raw))
    symbol, kernel = next(iter(plain.items()))
    [descriptor] = [place.begin for place in kernel.places if place.source == "descriptor"]
    (word,) = memoryview(raw)[descriptor + at : descriptor + at + 4].cast("I")
    pack_into("<I", raw, descriptor + at, word | 1 << bit)
    reasons = kernels(bytes(raw))[symbol].occupancy().at_most_because
    assert (VGPRS_ARE_DYNAMIC in reasons) is (target != "gfx1100")
    assert VGPRS_ARE_DYNAMIC not in kernel.occupancy().at_most_because


@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_lds_that_is_reached_and_not_reserved_is_sized_at_launch(target: str) -> None:
    name = f"launched-lds-clang22-{target}"
    text = kernels(FIXTURES / "assembly" / f"{name}.s")
    reasons = {symbol: kernel.occupancy().at_most_because for symbol, kernel in text.items()}
    assert reasons == {
        "sized_at_launch": (LDS_NOT_STATED,),
        "reserved": (),
        "exchanged": (),
        "without": (),
    }
    occupancy = text["sized_at_launch"].occupancy(dynamic_lds=32768)
    assert occupancy.exact
    # The report of an object does not read its code, and claims nothing of it.
    linked = kernels(FIXTURES / "code_object" / f"{name}.co")
    assert all(kernel.occupancy().exact for kernel in linked.values())


@pytest.mark.needs("llvm-22")
@pytest.mark.parametrize("command", ["explain", "pressure"])
@pytest.mark.parametrize("target", ["gfx90a", "gfx1201"])
def test_explain_and_pressure_read_the_code_of_an_object(command: str, target: str) -> None:
    path = f"code_object/launched-lds-clang22-{target}.co"
    words = "LDS reached and none reserved: sized at launch, see --dynamic-lds"
    for symbol in ("sized_at_launch", "reserved", "exchanged", "without"):
        out, _, code = run(command, path, symbol)
        assert code == 0
        assert (words in " ".join(out.split())) is (symbol == "sized_at_launch")
    out, _, _ = run("explain", path, "sized_at_launch", "--dynamic-lds", "1024")
    assert "sized at launch, see" not in out


ACCESS = """.amdgcn_target "amdgcn-amd-amdhsa--{target}"
k:
{code}
\ts_endpgm
.Lfunc_end0:
callee:
\tds_read_b32 v0, v1
.Lfunc_end1:
.amdhsa_kernel k
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 8
.amdhsa_group_segment_fixed_size {lds}
.end_amdhsa_kernel
"""


def test_instructions_that_reach_lds() -> None:
    for code, is_sized_at_launch in (
        ("\tds_read_b32 v0, v1", True),
        ("    ds_write_b64 v0, v[2:3] offset:8 // a comment", True),
        ("\tds_append v0 offset:16", True),
        ("\tbuffer_load_dword v1, s[8:11], 0 offen lds", True),
        ("\tglobal_load_lds_dword v[2:3], off", True),
        ("\tglobal_load_async_to_lds_b32 v0, v[2:3], off", True),
        ("\tlds_param_load v0, attr0.x", False),
        ("\tds_append v0 offset:16 gds", False),
        ("\tds_consume v0 gds", False),
        ("\tds_gws_init v0 gds", False),
        ("\tds_bpermute_b32 v0, v1, v2", False),
        ("\tds_bpermute_fi_b32 v0, v1, v2", False),
        ("\tds_permute_b32 v0, v1, v2", False),
        ("\tds_swizzle_b32 v0, v1 offset:swizzle(SWAP,2)", False),
        ("\tds_nop", False),
        ("\ts_nop 0 ; ds_read_b32 v0, v1", False),
        ("\ts_nop 0 // lds", False),
    ):
        text = ACCESS.format(target="gfx90a", code=code, lds=0)
        kernel = kernels(text.encode())["k"]
        assert kernel.numbers.dynamic_lds is (is_sized_at_launch or None), code
        reserved = ACCESS.format(target="gfx90a", code=code, lds=64)
        assert kernels(reserved.encode())["k"].traits.numbers.dynamic_lds is None, code


def test_instructions_are_found_behind_what_a_log_puts_before_lines() -> None:
    text = ACCESS.format(target="gfx90a", code="\tds_read_b32 v0, v1", lds=0)
    logged = "".join(f"[build] {line}\n" for line in text.splitlines())
    assert kernels(logged.encode())["k"].traits.numbers.dynamic_lds


@pytest.mark.nightly
@pytest.mark.needs("llvm-22")
@pytest.mark.parametrize("block", [0, 16, 32])
@pytest.mark.parametrize("target", ["gfx1200", "gfx1201", "gfx1250"])
@pytest.mark.parametrize("system", ["amdpal", "amdhsa"])
def test_the_compilers_own_number(target: str, block: int, system: str, tmp_path: Path) -> None:
    """llc's kernels of any number of VGPRs that such blocks can hold."""
    convention = "amdgpu_cs" if system == "amdpal" else "amdgpu_kernel"
    most = 8 * block if block else 256
    dynamic = f'"amdgpu-dynamic-vgpr-block-size"="{block}"' if block else ""
    source = f'target triple = "amdgcn-amd-{system}"\n'
    for count in range(1, most + 1, 5):
        last = f"v{count - 1}"
        source += f"define {convention} void @k{count}(ptr addrspace(1) inreg %p) #0 {{\n"
        source += f'call void asm sideeffect "v_mov_b32 {last}, 0", "~{{{last}}}"()\nret void }}\n'
    source += f'attributes #0 = {{ nounwind "amdgpu-flat-work-group-size"="32,32" {dynamic} }}\n'
    if system == "amdhsa":
        source = source.replace("inreg ", "")
    path = tmp_path / "many.ll"
    path.write_text(source)
    text = path.with_suffix(".s")
    subprocess.run(["llc-22", f"-mcpu={target}", path, "-o", text], check=True)
    numbers = compilers(text)
    for kernel in kernels(text).values():
        occupancy = kernel.occupancy(workgroup_size=32)
        dynamic_bound = VGPRS_ARE_DYNAMIC in occupancy.at_most_because
        assert dynamic_bound is bool(block), kernel.symbol
        number = numbers[kernel.symbol]
        assert number["waves_per_simd"] <= occupancy.waves_per_simd
        assert number["agrees"] or number["reason"] != "differs, not explained", kernel.symbol
