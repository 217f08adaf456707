"""`kernelinfo.sweep` from Python. The name stays that of the function."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernelinfo
from kernelinfo.errors import CompilerError, OptionError, ReadError

from ..compiling import bitcode, needs_clang
from .interrupts import KERNEL

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "kernelinfo" / "manual").glob("*.md"))]


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


@pytest.mark.slow
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
    assert results[0].kernel.used.vgprs
    assert not found.has_failed


@pytest.mark.slow
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
