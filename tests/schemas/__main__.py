"""`python -m tests.schemas` writes the schemas of the package that it imports."""

from __future__ import annotations

from pathlib import Path

import kernelinfo

from .files import schemas
from .generator import text

for name, schema in schemas().items():
    Path(kernelinfo.__path__[0], name).write_text(text(schema), "utf-8")
