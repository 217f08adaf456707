"""`kernelinfo.sweep` from Python. The name stays that of the function."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernelinfo
from kernelinfo.errors import CompilerError, OptionError, ReadError

from ..compiling import bitcode, needs_clang
from ..messages import refused
from ..test_golden import run
from .compilers import IR, recorder
from .interrupts import KERNEL

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "kernelinfo" / "manual").glob("*.md"))]


@pytest.mark.tools
def test_it_stays_a_function_when_every_module_is_imported() -> None:
    program = (
        "import pkgutil, kernelinfo\n"
        "for module in pkgutil.walk_packages(kernelinfo.__path__, 'kernelinfo.'):\n"
        "    if not module.name.endswith(('__main__', 'llvmlite_child')):\n"
        "        try: __import__(module.name)\n"
        "        except ImportError: pass\n"
        "for name in kernelinfo.__all__:\n"
        "    assert 'module' not in type(getattr(kernelinfo, name)).__name__, name\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_manual_promises_only_what_exists(page: Path) -> None:
    promised = re.findall(r"\bkernelinfo\.([a-z_]+)\(", page.read_text("utf-8"))
    assert set(promised) <= {*dir(kernelinfo), "triton"}


@pytest.mark.skipif(os.name != "posix", reason="the compiler of this test is a script")
def test_ir_is_swept_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(IR)
    compiler = recorder(tmp_path, "first")
    found = kernelinfo.sweep(tmp_path / "k.ll", "first", compiler=compiler, waves=[4], jobs=1)
    assert [kernel.name for kernel in found.kernels] == ["first"]
    assert "-x hip" not in (tmp_path / "words").read_text()


@pytest.mark.nightly
@needs_clang
def test_a_kernel_is_swept(tmp_path: Path) -> None:
    path = bitcode(KERNEL + 'extern "C" __global__ void idle() {}', tmp_path / "k.bc")
    found = kernelinfo.sweep(path, "crowded", waves=[5, 8], jobs=2)
    assert repr(found) == f"Sweep({path!r}, 'gfx90a', kernels=1, variants=5)"
    (kernel,) = found.kernels
    asked = [(variant.asked.waves, variant.asked.or_more) for variant in kernel.variants]
    assert asked == [(None, False), (5, False), (5, True), (8, False), (8, True)]
    results = [variant.result for variant in kernel.variants]
    assert results[0]
    assert results[0].kernel.numbers.vgprs
    assert not found.has_failed


@pytest.mark.nightly
@needs_clang
def test_a_source_is_swept_as_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define SIZE 3\n")
    source = tmp_path / "k.hip"
    source.write_text(
        '#include "size.h"\n__attribute__((global)) void k(int *a) { a[WHERE] = SIZE; }\n'
    )
    flags = ("-nogpuinc", "-nogpulib", "-DWHERE=1")
    found = kernelinfo.sweep(
        source, "k", arch="MI300X", compiler="clang++-22", flags=flags, waves=[4, 8], level=2
    )
    words = ("--arch", "MI300X", "--compiler", "clang++-22", "--waves", "4,8", "-O", "2")
    out, err, code = run("sweep", str(source), "k", *words, "--format", "json", "--", *flags)
    assert code == 0, err
    (one,) = json.loads(out)["inputs"]
    assert (found.target_id, found.level, found.level_from) == ("gfx942", "2", "option")
    assert (one["target"], one["level"]) == ("gfx942", "-O2")
    mine = [variant.result for variant in found.kernels[0].variants]
    by_command = [variant["kernel"] for variant in one["kernels"][0]["variants"]]
    assert [
        (r.kernel.numbers.vgprs, r.kernel.code_bytes, r.kernel.waves_per_simd) for r in mine if r
    ] == [
        (k["used"]["vgprs"], k["code_bytes"], k["occupancy"]["waves_per_simd"]) for k in by_command
    ]
    commands = [
        {"directory": str(tmp_path), "file": "k.hip", "command": "hipcc -DWHERE=1 -c k.hip"}
    ]
    (tmp_path / "c.json").write_text(json.dumps(commands))
    clang, closed = "clang++-22", flags[:2]
    found = kernelinfo.sweep(
        source, arch="gfx942", compiler=clang, flags=closed, compile_commands=tmp_path / "c.json"
    )
    assert len(found.kernels) == 1
    with refused("source-not-compiled", CompilerError) as error:
        kernelinfo.sweep(source, arch="gfx942", compiler=clang, flags=closed)
    assert "undeclared identifier 'WHERE'" in str(error.value)
    with refused("source-without-target", OptionError):
        kernelinfo.sweep(source)
    with refused("sweep-no-source", OptionError):
        kernelinfo.sweep(tmp_path / "k.bc", flags=flags)


@pytest.mark.nightly
@needs_clang
def test_errors_are_those_of_the_library(tmp_path: Path) -> None:
    path = bitcode(KERNEL, tmp_path / "k.bc")
    for raised, arguments in (
        (OptionError, {"level": "9"}),
        (OptionError, {"strategies": ["fast"]}),
        (OptionError, {"waves": [0]}),
        (CompilerError, {"compiler": "no-such-clang"}),
        (ReadError, {"kernel": "nothing"}),
    ):
        with pytest.raises(raised):
            kernelinfo.sweep(path, **arguments)
    with pytest.raises(ReadError, match="No such file"):
        kernelinfo.sweep(tmp_path / "missing.bc")
