"""Inputs of the benchmarks: fixtures, Debian's libraries, and a template compiled by clang."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile


def tool(name: str) -> str:
    """The newest of the installed versions of one of LLVM's programs; else its plain name."""
    versions = [number for number in range(40, 13, -1) if shutil.which(f"{name}-{number}")]
    return f"{name}-{versions[0]}" if versions else name


CLANG = tool("clang")
BUNDLER = tool("clang-offload-bundler")
FIXTURES = Path(__file__).parents[2] / "fixtures"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
SMALL_TEXT = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
SYMBOLIC_TEXT = FIXTURES / "assembly" / "variety-clang22-gfx90a.s"
BUNDLE = FIXTURES / "container" / "tiny.hipfb"
TRACE = FIXTURES / "profile" / "kernel_trace.csv"
IR = FIXTURES / "src" / "required.ll"
SMALL_OBJECT = FIXTURES / "code_object" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.out"

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_PAGE = 4096
"""Bytes to which a library aligns its bundles."""
_DISTINCT = 100
"""Kernels that are compiled; more are copies of them under other names."""
_STEPS = 940
"""Statements in each, which make some 39 KB of assembly."""
_FEW_STEPS = 60
_LIVE = 53
"""Values that are alive at once, at most."""
_ARGUMENTS = 30
"""More of them, as kernels of libraries have, and HIP adds a dozen of its own."""
_KERNEL = """
__attribute__((loader_uninitialized, address_space(3))) static float s{number}[{lds}];
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, {size})))
void k{number:05}(__attribute__((address_space(1))) float *p, int n, {arguments}) {{
  float a[{live}];
  s{number}[n] = n;
  {loads}
  {steps}
  {stores}
}}
"""


def library(name: str) -> Path | None:
    """A library of Debian's; None where it is not installed."""
    return next((path.resolve() for path in LIBRARIES.glob(f"lib{name}.so.*")), None)


def text(folder: Path, kernels: int) -> Path | None:
    """Assembly of so many kernels, some 39 KB each; None without clang."""
    made = folder / f"{kernels}.s"
    compiled = folder / f"{min(kernels, _DISTINCT)}.compiled.s"
    if not made.exists():
        if not (compiled.exists() or _compile(min(kernels, _DISTINCT), compiled, "-S")):
            return None
        original = compiled.read_bytes()
        with made.open("wb") as file:
            for copy in range(-(-kernels // _DISTINCT)):
                file.write(original.replace(b"k000", b"k%03d" % copy))
    return made


def objects(folder: Path, files: int) -> Path | None:
    """A directory of so many code objects of one kernel each; None without clang."""
    made = folder / f"{files}.objects"
    distinct = min(files, 30)
    if not made.exists():
        made.mkdir()
        for number in range(distinct):
            path = made / f"{number:05}.co"
            if not _compile(1, path, first=number):
                shutil.rmtree(made)
                return None
            original, name = path.read_bytes(), f"k{number:05}".encode()
            for copy in range(number + distinct, files, distinct):
                (made / f"{copy:05}.co").write_bytes(original.replace(name, b"k%05d" % copy))
    return made


def kernels(folder: Path, count: int, *, alike: bool) -> Path | None:
    """A code object of so many kernels, which state all the same or each something else; None
    without clang."""
    made = folder / f"{count}.{'alike' if alike else 'unlike'}.co"
    is_made = made.exists() or _compile(count, made, steps=_FEW_STEPS, alike=alike)
    return made if is_made else None


def cut(folder: Path, name: str) -> Path | None:
    """A folder with a library, and its code objects in files; None where it is not installed."""
    made, of = folder / f"{name}.cut", library(name)
    if of is None:
        return None
    if not made.exists():
        made.mkdir()
        (made / "library.so").symlink_to(of)
        _extract(of, made)
    return made


def sample(folder: Path, name: str, every: int) -> Path | None:
    """A folder with each so-manyth bundle of a library as one file, `sample.hipfb`, and its code
    objects in files; None where it is not installed."""
    made, of = folder / f"{name}.{every}.sample", library(name)
    if of is None:
        return None
    if not made.exists():
        made.mkdir()
        with of.open("rb") as file:
            fat_binary = ELFFile(file).get_section_by_name(".hip_fatbin")
            section = fat_binary.data() if fat_binary else b""
        starts = [match.start() for match in re.finditer(_BUNDLE, section)]
        starts = [start for start in starts if start % _PAGE == 0]
        ends = [*starts[1:], len(section)]
        bundles = [*zip(starts, ends, strict=True)][every // 4 :: every]
        aligned = (section[start:end] + bytes((start - end) % _PAGE) for start, end in bundles)
        (made / "sample.hipfb").write_bytes(b"".join(aligned))
        _extract(made / "sample.hipfb", made)
    return made


def copies(folder: Path, name: str, times: int) -> Path | None:
    """A folder with so many copies of a library; None where it is not installed."""
    made, of = folder / f"{name}.{times}.copies", library(name)
    if of is None:
        return None
    if not made.exists():
        made.mkdir()
        for number in range(times):
            shutil.copy(of, made / f"{number}.so")
    return made


def folder_of_small_text(folder: Path) -> Path:
    """A folder with the small assembly alone."""
    made = folder / "small"
    made.mkdir(exist_ok=True)
    shutil.copy(SMALL_TEXT, made)
    return made


def dataset(folder: Path, python: str) -> Path | None:
    """A dataset of two builds of the small assembly; None without the extra `fleet`."""
    made, build = folder / "dataset", folder_of_small_text(folder)
    scan = (python, "-m", "kernelinfo", "scan", build, "--to", made, "--workers", "1")
    for number in "12":
        if subprocess.run([*scan, "--build", number], capture_output=True).returncode:
            return None
    return made


_GATE = """\
fail-on = "error"
[workgroup-size]
"none*" = 64
"re:nothing_.*" = 64
[[budget]]
kernel = "flash_*<*, 256, *>"
waves = 2
[[budget]]
scratch = "<=64"
[[suppress]]
rule = "KI106"
kernel = "k0000*"
reason = "measured"
"""


def builds(folder: Path, kernels: int) -> Path | None:
    """Two builds of so many kernels, `old` and `new`, whose numbers of registers differ, the gate's
    configuration, and a baseline of the old one, in one folder. None without clang."""
    made = folder / f"{kernels}.builds"
    if not made.exists():
        made.mkdir()
        for build, shift in (("old", 0), ("new", 1)):
            compiled = made / f"{build}.co"
            if not _compile(_DISTINCT, compiled, steps=_FEW_STEPS, shift=shift):
                shutil.rmtree(made)
                return None
            original = compiled.read_bytes()
            compiled.unlink()
            (made / build).mkdir()
            for copy in range(kernels // _DISTINCT):
                code = original.replace(b"k00", b"k%02d" % copy)
                (made / build / f"{copy:05}.co").write_bytes(code)
        (made / "gate.toml").write_text(_GATE)
        baseline = ("--config", "gate.toml", "--baseline", "pinned.json", "--update-baseline")
        check = (sys.executable, "-m", "kernelinfo", "check", "old", *baseline)
        subprocess.run(check, cwd=made, check=True, stdout=subprocess.DEVNULL)
    return made


def compressed_bundle(folder: Path, of: Path | None) -> Path | None:
    """The largest bundle of a library, compressed; None without library or tool."""
    made = folder / "bundle.hipfb"
    if of is None or shutil.which(BUNDLER) is None:
        return None
    if not made.exists():
        objects = folder / "objects"
        objects.mkdir()
        (objects / "host").touch()
        inputs, targets = [objects / "host"], ["host-x86_64-unknown-linux-gnu"]
        largest = max(_bundles(of, objects), key=_bytes)
        for path in largest:
            inputs.append(path)
            targets.append(f"hipv4-amdgcn-amd-amdhsa--{_target(path)}")
        command = [BUNDLER, "-type=o", "-compress", f"-output={made}"]
        command += [f"-input={path}" for path in inputs]
        subprocess.run([*command, "-targets=" + ",".join(targets)], check=True)
        shutil.rmtree(objects)
    return made


def _extract(library: Path, folder: Path) -> list[Path]:
    """Its code objects as files, in their order."""
    command = [sys.executable, "-m", "kernelinfo", "extract", str(library), "-o", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.co"))


def _target(code_object: Path) -> str:
    """By the name that `extract` gives: `library-001-gfx90a.co`."""
    return code_object.stem.rpartition("-gfx")[2].join(("gfx", ""))


def _bundles(library: Path, folder: Path) -> list[list[Path]]:
    """Its code objects; with the first target begins each of its bundles."""
    bundles: list[list[Path]] = []
    for path in _extract(library, folder):
        if not bundles or _target(path) == _target(bundles[0][0]):
            bundles.append([])
        bundles[-1].append(path)
    return bundles


def _bytes(bundle: list[Path]) -> int:
    return sum(path.stat().st_size for path in bundle)


def _compile(
    kernels: int,
    made: Path,
    *options: str,
    first: int = 0,
    steps: int = _STEPS,
    shift: int = 0,
    alike: bool = False,
) -> bool:
    if shutil.which(CLANG) is None:
        return False
    source = made.with_suffix(".c")
    source.write_text("".join(_kernels(first, kernels, steps, shift, alike)))
    command = [CLANG, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-O1", "-nogpulib"]
    subprocess.run([*command, *options, "-o", made, source], check=True)
    source.unlink()
    return True


def _kernels(first: int, count: int, steps: int, shift: int, alike: bool) -> Iterator[str]:
    for name in range(first, first + count):
        number = first if alike else name
        live = 8 + (number + shift) % _LIVE
        values = range(live)
        yield _KERNEL.format(
            size=256 << number % 3,
            number=name,
            live=live,
            lds=64 * (1 + number % 9) + number // _DISTINCT,
            arguments=", ".join(f"int n{i}" for i in range(_ARGUMENTS)),
            loads=" ".join(f"a[{i}] = p[{i} * n];" for i in values),
            steps=" ".join(
                f"a[{i % live}] = a[{i % live}] * a[{(7 * i + number) % live}] + a[{3 * i % live}];"
                for i in range(steps)
            ),
            stores=" ".join(f"p[{i} * n] = a[{i}];" for i in values),
        )
