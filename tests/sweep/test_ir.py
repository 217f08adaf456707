"""Textual IR: its kernels, and changed function attributes."""

from __future__ import annotations

import pytest

from kernelinfo.compile import ir

MODULE = """\
target triple = "amdgcn-amd-amdhsa"

define protected amdgpu_kernel void @first(ptr byref({ i32 }) %1) local_unnamed_addr #0 comdat {
  ret void
}

define void @helper() #0 {
  ret void
}

define amdgpu_kernel void @"se\\22cond #7"(ptr %0) #0 section "a #1" {
  call void @llvm.thing(i32 1) #1
  ret void
}

define amdgpu_kernel void @bare() unnamed_addr addrspace(4) align 256 {
  ret void
}

attributes #0 = { cold "amdgpu-waves-per-eu"="8" "target-cpu"="gfx90a" "target-features"="%s" }
attributes #1 = { nounwind }
""".replace("%s", "-xnack,+sramecc")


def test_kernels_are_found_and_functions_are_not() -> None:
    assert [kernel.symbol for kernel in ir.definitions(MODULE)] == ["first", 'se"cond #7', "bare"]


def test_the_target_id_is_that_of_the_attributes() -> None:
    assert ir.target_id(MODULE) == "gfx90a:sramecc+:xnack-"
    assert ir.target_id("define amdgpu_kernel void @k() {\n") is None


def test_only_the_kernel_asked_for_changes() -> None:
    edited = ir.with_attributes(MODULE, {"first": {"amdgpu-waves-per-eu": "5,5"}})
    assert "%1) local_unnamed_addr #2 comdat {" in edited
    assert "@helper() #0 {" in edited
    assert '(ptr %0) #0 section "a #1" {' in edited
    group = edited.splitlines()[-1]
    assert group.startswith("attributes #2 = { cold ")
    assert '"amdgpu-waves-per-eu"="5,5"' in group
    assert '"amdgpu-waves-per-eu"="8"' not in group
    assert '"target-cpu"="gfx90a"' in group


def test_a_quoted_name_and_a_section_do_not_mislead() -> None:
    edited = ir.with_attributes(MODULE, {'se"cond #7': {"amdgpu-waves-per-eu": "5,5"}})
    assert '@"se\\22cond #7"(ptr %0) #2 section "a #1" {' in edited


def test_a_kernel_without_attributes_gets_some() -> None:
    edited = ir.with_attributes(MODULE, {"bare": {"amdgpu-flat-work-group-size": "1,64"}})
    assert "@bare() unnamed_addr addrspace(4) #2 align 256 {" in edited
    assert edited.endswith('attributes #2 = { "amdgpu-flat-work-group-size"="1,64" }\n')


@pytest.mark.parametrize("text", ["", "define amdgpu_kernel void", "attributes #0 = {"])
def test_damaged_text_has_no_kernels(text: str) -> None:
    assert list(ir.definitions(text)) == []
    assert ir.with_attributes(text, {"k": {"a": "b"}}).strip() == text
