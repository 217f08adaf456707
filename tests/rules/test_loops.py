"""Rules on loops: their sizes, which text of the contract's rows would be long for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import FIXTURES
from ..test_golden import run

TEXT = """
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
k:
\tv_mfma_f32_4x4x1f32 a[0:3], v0, v0, 0
.Lloop:
\tv_mfma_f32_4x4x1f32 a[0:3], v0, v0, a[0:3]
{inside}
\ts_cbranch_scc1 .Lloop
{behind}
\ts_endpgm
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 24
\t\t.amdhsa_next_free_sgpr 16
\t\t.amdhsa_accum_offset 16
\t.end_amdhsa_kernel
; codeLenInByte = 50000
"""
COPY, NOTHING = "\tv_accvgpr_read_b32 v1, a1\n", "\ts_nop 0\n"


def findings(folder: Path, rule: str, inside: str, behind: str = "") -> list[str]:
    (folder / "k.s").write_text(TEXT.format(inside=inside, behind=behind))
    command = ("k.s", "--instructions", "--format", "json", "--select", rule)
    out, err, _ = run(*command, folder=folder)
    assert err == ""
    return [finding["message"] for finding in json.loads(out)["kernels"][0]["findings"]]


def test_copies_are_told_from_a_tenth_of_the_loop_on(tmp_path: Path) -> None:
    assert findings(tmp_path, "KI107", COPY * 32 + NOTHING * 287) == []
    (message,) = findings(tmp_path, "KI107", COPY * 32 + NOTHING * 286)
    assert message.startswith("32 of 320 instructions in loop .Lloop ")


@pytest.mark.needs("llvm-22")
@pytest.mark.parametrize("suffix", ["s", "co"])
@pytest.mark.parametrize(
    "command",
    [
        "report k --instructions --format json --select KI107",
        "check k --format json --select KI107",
        "explain k scaled --format json --select KI107",
    ],
)
def test_copies_are_the_same_in_an_object_and_its_text(
    command: str, suffix: str, tmp_path: Path
) -> None:
    """Kernels that LLVM compiled, without and with `-amdgpu-mfma-vgpr-form`."""
    (tmp_path / "kernelinfo.toml").write_text("instructions = true\n")
    messages = []
    for name in ("copies", "copies-vgpr-form"):
        path = FIXTURES / "lines" / f"{name}-clang22-gfx942.{suffix}"
        words = [str(path) if word == "k" else word for word in command.split()]
        out, err, _ = run(*words, folder=tmp_path)
        assert err == ""
        document = json.loads(out)
        kernel = document["kernels"][0] if "kernels" in document else document["kernel"]
        messages += [finding["message"] for finding in kernel["findings"]]
    label = ".LBB0_2" if suffix == "s" else "L0"
    assert messages == [
        f"128 of 189 instructions in loop {label} (copies.hip:19) copy registers, "
        "128 between VGPRs and AGPRs: 32 for each MFMA"
    ]


def test_a_loop_counts_against_the_instruction_cache_not_the_kernel(tmp_path: Path) -> None:
    """Of 32 KiB on gfx90a. A matrix instruction takes 8 bytes, a branch and `s_nop` 4."""
    assert findings(tmp_path, "KI401", NOTHING * 8189, behind=NOTHING * 2000) == []
    (message,) = findings(tmp_path, "KI401", NOTHING * 8190)
    assert message.startswith("at least 32772 bytes of code in loop .Lloop;")
