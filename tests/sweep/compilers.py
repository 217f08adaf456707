"""Compilers that are shell scripts: what they are asked, and what they answer."""

from __future__ import annotations

from pathlib import Path

from ..fuzz.specimens import Specimen, assembly

IR = """\
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


def script(path: Path, text: str) -> str:
    """Path of an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def clang(path: Path, compile: str) -> str:
    """A compiler that tells a version and compiles by shell commands."""
    return script(
        path, f'case "$*" in *--version*) echo clang version 22.1.8; exit;; esac\n{compile}'
    )


def recorder(folder: Path, *kernels: str) -> str:
    """A compiler that keeps each IR in `folder`/seen and its options in `folder`/words, and answers
    with assembly of kernels."""
    (folder / "seen").mkdir()
    answer = folder / "answer.s"
    answer.write_bytes(assembly([Specimen(name, 64, 0, 8, 0, 0, 64) for name in kernels]))
    keep = f"echo $* >> {folder}/words; cat > $(mktemp {folder}/seen/XXXXXX)"
    return clang(
        folder / "clang", f'case "$*" in *-emit-llvm*) cat;; *) {keep}; cat {answer};; esac'
    )
