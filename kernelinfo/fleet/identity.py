"""Identity of a kernel in a fleet: its library, target and symbol.

The file's path decides only between kernels that share all three, without the versions in it.
"""

from __future__ import annotations

import re

from kernelinfo.kernel.library import library_of

_VERSION = re.compile(
    r"[-_.]?v?(?<!\d)\d++(?:\.\d++)+(?:[-.]?(?:dev|post|rc|a|b)\d*)?(?:[+~][0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?"
)
"""`-7.1.0`, `-2.9.1+rocm7.1`, `_0.51.0.dev0`: at least two numbers with a dot between them."""


def without_versions(path: str) -> str:
    """A path or member without the versions in the names of its folders and files."""
    return "/".join(_VERSION.sub("", library_of(part)) if part else "" for part in path.split("/"))
