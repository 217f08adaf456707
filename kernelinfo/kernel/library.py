"""Names of libraries: names of files without the version, so that builds compare."""

from __future__ import annotations

import re

_VERSION = r"v?\d[\w.+!~]*"
_PACKAGES = (
    rf"(?P<name>[^-]+)-{_VERSION}(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl",
    r"(?P<name>[^_]+)_[^_]+_[^_]+\.deb",
    rf"(?P<name>.+?)-{_VERSION}-[^-]+\.rpm",
    rf"(?P<name>.+?)-{_VERSION}-[^-]+\.(?:conda|tar\.bz2)",
    rf"(?P<name>.+?)[-_]{_VERSION}\.(?:tar(?:\.\w+)?|tgz|zip)",
)
"""File names of packages, whole: NAME is the package's. A wheel's parts are those of the binary
distribution format (packaging.python.org), a Debian package's those of deb(7)."""
_ENTRY = r"(?:/| › |^)(?:(?:hip|hipv4|openmp|amdgcn|host)-[^/]*|#\d+)(?=/| › |$)"
"""Entry of a bundle, named by its target id, or the number of one of several bundles."""
_SHARED_OBJECT = r"(?P<stem>.+?)(?:-\d+(?:\.\d+)+)?(?:-[0-9a-f]{8})?\.so(?:\.\d+)*"
"""Shared library with versions as linkers write them. auditwheel marks the content by eight
hexadecimal digits (`copylib` in auditwheel/repair.py)."""


def library_of(path: str) -> str:
    """The name of the library or package at `path`, without folder and version.

    `lib/librocsparse.so.0.1` is `librocsparse.so`. A wheel, Debian, rpm or conda package is its
    name: `torch-2.9.1-cp311-cp311-linux_x86_64.whl` is `torch`. Other files keep their names, `-`
    is standard input. This is the column `Library` of rows, `--by library`, and a part of a
    kernel's identity in a fleet.
    """
    name = re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path
    for package in _PACKAGES:
        if found := re.fullmatch(package, name):
            return found["name"]
    if found := re.fullmatch(_SHARED_OBJECT, name):
        return f"{found['stem']}.so"
    return name


def member_file(member: str | None) -> str:
    """The path of a member in its container, without target ids of bundles: `lib/libfoo.so.1`.

    Empty for code of the file itself.
    """
    return re.sub(_ENTRY, "", member or "")
