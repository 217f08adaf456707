"""A repository of forty libraries for three targets, with warnings in it, built by clang.

`python -m tests.gate.forty_libraries FOLDER` writes the screens of a gate's first weeks: adoption,
a regression, an improvement, another compiler, a renamed and a removed library.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TARGETS = ("gfx90a", "gfx942", "gfx1100")
LIBRARIES = 40

SOURCE = """
#define NAME2(a, b) a##_##b
#define NAME1(a, b) NAME2(a, b)
#define NAME(a) NAME1(UNIT, a)
#define KERNEL(size) __attribute__((global, amdgpu_flat_work_group_size(1, size))) void

KERNEL(1024) NAME(copy)(float *to, const float *from) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  to[i] = from[i];
}

KERNEL(256) NAME(stencil)(float *to, const float *from, int n) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  float held[LIVE];
  for (int k = 0; k < LIVE; k++) held[k] = from[i + k * n];
  __builtin_amdgcn_s_barrier();
  for (int k = 0; k < LIVE; k++) to[i + k * n] = held[k] * held[(k * 7) % LIVE];
}

KERNEL(1024) NAME(reduce)(float *to, const float *from, int n) {
  unsigned i = __builtin_amdgcn_workitem_id_x();
  float held[SUMS];
  for (int k = 0; k < SUMS; k++) held[k] = from[i + k * n];
  for (int j = 0; j < n; j++)
    for (int k = 0; k < SUMS; k++) held[k] += held[(k * 5 + 3) % SUMS] * from[j * n + k];
  for (int k = 0; k < SUMS; k++) to[i + k * n] = held[k];
}
"""
_FLAGS = ("-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-fuse-cuid=none", "-O3")
BUNDLERS = [
    found for version in (22, 19, 15) if (found := shutil.which(f"clang-offload-bundler-{version}"))
]
_LIBRARY = '.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "{}"\n'


class Repository:
    """A repository in a folder, with its libraries in `build/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = 19
        self.sizes = {
            "axpy": (20, 24),
            "fft": (28, 130),
            "gemm": (44, 60),
            "sort": (36, 130),
            "spmv": (36, 40),
        }
        """Unit -> live values of its stencil, sums of its reduction; 130 sums spill."""
        (folder / "objects").mkdir(parents=True)
        (folder / "build").mkdir()

    def build(self) -> None:
        """Build all libraries from the sizes of the units, by the compiler of the version."""
        for number in range(LIBRARIES):
            unit = list(self.sizes)[number % len(self.sizes)]
            shutil.copy(self._library(unit), self.folder / "build" / f"lib{unit}{number:02}.so")

    def _library(self, unit: str) -> Path:
        live, sums = self.sizes[unit]
        made = self.folder / "objects" / f"{unit}-{live}-{sums}-{self.version}.so"
        if made.exists():
            return made
        bundle = made.with_suffix(".hipfb")
        objects = [self._object(unit, target, live, sums) for target in TARGETS]
        entries = [f"hipv4-amdgcn-amd-amdhsa--{target}" for target in TARGETS]
        self._run(
            BUNDLERS[0],
            *("-type=o", "-bundle-align=4096", f"-output={bundle}", "-input=/dev/null"),
            f"-targets={','.join(['host-x86_64-unknown-linux-gnu', *entries])}",
            *(f"-input={one}" for one in objects),
        )
        host = made.with_suffix(".s")
        host.write_text(_LIBRARY.format(bundle))
        self._run("clang-22", "-shared", "-nostdlib", "-fuse-ld=lld", str(host), "-o", str(made))
        return made

    def _object(self, unit: str, target: str, live: int, sums: int) -> Path:
        stem = self.folder / "objects" / f"{unit}-{live}-{sums}-{target}-{self.version}"
        source, text, linked = (stem.with_suffix(end) for end in (".hip", ".s", ".co"))
        source.write_text(SOURCE)
        clang, sizes = f"clang-{self.version}", (f"-DLIVE={live}", f"-DSUMS={sums}")
        flags = (*_FLAGS, f"--offload-arch={target}", f"-DUNIT={unit}", *sizes)
        self._run(clang, *flags, "-S", str(source), "-o", str(text))
        assemble = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-c")
        self._run(clang, *assemble, str(text), "-o", f"{stem}.o")
        self._run(f"ld.lld-{self.version}", "-shared", f"{stem}.o", "-o", str(linked))
        return linked

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, text=True)

    def kernelinfo(self, *words: str) -> tuple[str, int]:
        """(what a terminal shows, exit code) of a command in the repository."""
        command = [sys.executable, "-m", "kernelinfo", *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.stdout, done.returncode


def screens(repository: Repository) -> Iterator[tuple[str, str, str, int]]:
    """(title, command, screen, exit code) of each step."""

    def step(title: str, *words: str) -> tuple[str, str, str, int]:
        return title, " ".join(("kernelinfo", *words)), *repository.kernelinfo(*words)

    repository.build()
    yield step("1. A first configuration", "check", "--init", "build")
    yield step("2a. The findings of today", "check", "--top", "3")
    yield step("2b. Accepted", "check", "--update-baseline", "--top", "3")
    yield step("2c. The gate is green", "check")

    usual = repository.sizes["spmv"]
    repository.sizes["spmv"] = (90, 130)
    repository.build()
    yield step("3. A regression", "check", "--top", "3")

    repository.sizes |= {"spmv": usual, "sort": (36, 40)}
    repository.build()
    yield step("4a. An improvement", "check", "--top", "3")
    yield step("4b. Pinned", "check", "--update-baseline", "--top", "3")

    repository.version = 22
    repository.build()
    yield step("5a. clang 19 → 22", "check", "--top", "3")
    yield step("5b. Pinned", "check", "--update-baseline", "-q")

    libraries = repository.folder / "build"
    (libraries / "libfft01.so").rename(libraries / "libfourier.so")
    yield step("6a. A renamed library", "check", "--top", "3")
    yield step("6b. Pinned", "check", "--update-baseline", "--top", "3")

    (libraries / "libgemm02.so").unlink()
    yield step("7a. A removed library", "check", "--top", "3")
    yield step("7b. Dropped", "check", "--update-baseline", "--top", "3")
    yield step("7c. The gate is green", "check")


def main(folder: str) -> None:
    """Print all screens as Markdown."""
    for title, command, screen, code in screens(Repository(Path(folder))):
        print(f"## {title}\n\n```\n$ {command}\n{screen}```\n\nexit code {code}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
