"""Mark of tests that need llvm-objdump."""

from __future__ import annotations

import pytest

needed = pytest.mark.needs("llvm-22")
