"""Mark of tests that need llvm-objdump."""

from __future__ import annotations

import pytest

from kernelinfo.pressure.disassemblers import programs

needed = pytest.mark.skipif(not programs(), reason="no llvm-objdump is installed")
