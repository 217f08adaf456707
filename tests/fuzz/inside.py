"""Ways that only the fuzzer takes alone: short readers beside their references, and edits of IR."""

from __future__ import annotations

from kernelinfo import ReadError
from kernelinfo.compile import ir
from kernelinfo.variants import SIZES, WAVES
from tests.reading.by_lark import assert_read_as_by_lark, line_by_lark

from ..reading.inside import blocks, metadata_yaml

_WISH = {WAVES: "5,5", SIZES: "1,64"}


def read_ir(data: bytes) -> None:
    """Read a file with these bytes, and edit the IR that LLVM might have printed of it."""
    try:
        file = ir.as_input("k.ll", data)
    except ReadError:
        return
    assert file.producer is None or len(file.producer) <= len(data)
    text = file.data.decode("utf-8", "surrogateescape")
    stated = ir.triple(text)
    triple = ir.known_triple(stated) if stated is not None else None
    assert triple is None or triple in ir.TRIPLES
    assert ir.triple(ir.with_triple(text, ir.TRIPLES[0])) == ir.TRIPLES[0]
    edit(text)


def edit(text: str) -> None:
    """Set attributes of all kernels, and of the first alone."""
    kernels = list(ir.definitions(text))
    before = ir.attributes(text, (WAVES,))
    assert before.keys() == {kernel.symbol for kernel in kernels}
    ir.is_opencl(text)
    ir.target_id(text)
    every = ir.with_attributes(text, dict.fromkeys(before, _WISH))
    assert ir.with_attributes(text, {}) == text + "\n"
    assert len(list(ir.definitions(every))) == len(kernels)
    first = dict.fromkeys([kernel.symbol for kernel in kernels[:1]], _WISH)
    after = ir.attributes(ir.with_attributes(text, first), (WAVES,))
    assert {s: v for s, v in after.items() if s not in first} == {
        s: v for s, v in before.items() if s not in first
    }


_PRINTED = r"""; ModuleID = '<stdin>'
source_filename = "<stdin>"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32"
target triple = "amdgcn-amd-amdhsa"

define protected amdgpu_kernel void @first(ptr byref({ i32 }) %1) local_unnamed_addr #0 comdat {
  ret void
}

define void @helper() #0 {
  ret void
}

define amdgpu_kernel void @"se\22cond #7"(ptr %0) #0 section "a #1" !kernel_arg_type !3 {
  call void @llvm.thing(i32 1) #1
  ret void
}

define amdgpu_kernel void @bare() unnamed_addr addrspace(4) align 256 {
  ret void
}

attributes #0 = { cold "amdgpu-waves-per-eu"="8" "target-cpu"="gfx90a" "target-features"="+xnack" }
attributes #1 = { nounwind "amdgpu-flat-work-group-size"="1,256" }
!llvm.ident = !{!1}
!1 = !{!"AMD clang version 17.0.0 (https://github.com/RadeonOpenCompute/llvm-project)"}
"""
IR = [
    _PRINTED.encode(),
    b"BC\xc0\xde" + bytes(range(32)) + b"clang version 22.1.8",
    b'target triple = "amdgcn-amd-amdhsa/x"\ntarget triple = "amdgcn"\n',
    b'target triple = "amdgpu9.42-amd-amdhsa"\ndefine amdgpu_kernel void @k() #99999999999 {\n',
    b"define amdgpu_kernel void @k(" + b"(" * 2000 + b") #0 {\n" + b"attributes #0 = { }\n" * 200,
]


def same_lines(data: bytes) -> None:
    """Each comment of a kernel's info."""
    for line in data.splitlines():
        assert blocks.read_line(line) == line_by_lark(line)


def same_expressions(data: bytes) -> None:
    """The steps of each line's value."""
    for line in data.decode("utf-8", "backslashreplace").splitlines():
        assert_read_as_by_lark(line.partition(",")[2] or line)


def same_yaml(data: bytes) -> None:
    """The facts of a metadata block, where its pattern is the compiler's."""
    text, _ = metadata_yaml.document(data.decode("utf-8", "backslashreplace"))
    try:
        short = metadata_yaml._compilers(text)
    except ValueError:
        return
    try:
        whole = metadata_yaml._any_yaml(text)
    except ValueError:  # damage in what is not looked at
        return
    assert short == whole
