"""Assembly that is linked later: `.amdgpu_info` of each function, put together along its calls."""

from __future__ import annotations

import pytest

from kernelinfo.reading.assembly import read
from kernelinfo.reading.facts import Module, facts_of

from ...conftest import CORPUS, needs_corpus
from ..test_corpus import kernels

OBJECTS = CORPUS / "more" / "objects"
KERNEL = """\
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.amdhsa_kernel kernel
		.amdhsa_next_free_vgpr 30
		.amdhsa_next_free_sgpr 20
		.amdhsa_group_segment_fixed_size 0
	.end_amdhsa_kernel
"""


def info(name: str, *lines: str, end: str = "\t.end_amdgpu_info\n") -> str:
    return f"\t.amdgpu_info {name}\n" + "".join(f"\t\t.amdgpu_{line}\n" for line in lines) + end


def module(*functions: str) -> Module:
    [found] = read((KERNEL + "".join(functions)).encode())
    return found


def facts(found: Module) -> dict[str, object]:
    [kernel] = found.kernels
    return {fact.name: fact.value for fact in facts_of(kernel.stated)}


def test_a_kernel_counts_with_what_it_calls() -> None:
    found = module(
        info("kernel", "flags 1", "num_sgpr 20", "num_vgpr 30", "num_agpr 4", "call callee"),
        info("callee", "flags 2", "num_sgpr 40", "num_vgpr 10", "num_agpr 8", "use lds"),
        "\t.amdgpu_lds lds, 2048, 16\n",
    )
    assert facts(found) == {
        "vgprs": 32 + 8,  # AGPRs begin at a multiple of 4
        "agprs": 8,
        "sgprs": 40 + 6,  # VCC and flat scratch
        "lds_bytes": 2048,
        "scratch_bytes_per_lane": 0,
        "dynamic_stack": False,
    }
    assert len(found.notes) == 1
    assert found.warnings == ()


@pytest.mark.parametrize(
    "line",
    [
        "call outside",
        'indirect_call "ii"',
        "use somewhere",
        "num_vgpr symbol",
        "num_vgpr -1",
        "num_vgpr 99999999999",
    ],
)
def test_what_is_not_in_the_text_leaves_it_open(line: str) -> None:
    assert facts(module(info("kernel", "num_vgpr 30", line)))["indirect_call"] is True


def test_fields_of_later_versions_are_skipped() -> None:
    found = module(info("kernel", "num_vgpr 30", "occupancy 8", 'typeid "ii"'))
    assert facts(found)["vgprs"] == 30
    assert "indirect_call" not in facts(found)


def test_a_block_that_is_cut_is_open_and_a_warning() -> None:
    found = module(info("kernel", "num_vgpr 30", end=""))
    assert facts(found)["indirect_call"] is True
    assert [warning.message for warning in found.warnings] == [
        "kernel 'kernel': .amdgpu_info has no end"
    ]


def test_a_kernel_without_a_block_is_open() -> None:
    assert facts(module(info("other", "num_vgpr 30")))["indirect_call"] is True


def test_variables_alone_leave_a_kernel_as_it_is() -> None:
    found = module("\t.amdgpu_lds lds, 2048, 16\n")
    assert facts(found)["reserved_vgprs"] == 32
    assert found.notes == ()


@needs_corpus
@pytest.mark.parametrize("target", ["gfx90a", "gfx1100"])
def test_llvms_text_and_object_state_the_same(target: str) -> None:
    text, code = (kernels(OBJECTS / f"objlink-llvm24git-{target}.{end}") for end in ("s", "o"))
    assert text.keys() == code.keys()
    for name, kernel in text.items():
        assert kernel.used == code[name].used
        assert kernel.occupancy() == code[name].occupancy()
