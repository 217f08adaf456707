"""Short readers agree with the reference readers, on broken inputs too."""

from __future__ import annotations

from kernelinfo.reading.assembly import info_block, metadata_yaml
from tests.reading.by_lark import assert_read_as_by_lark, line_by_lark


def same_lines(data: bytes) -> None:
    """Each comment of a kernel's info."""
    for line in data.splitlines():
        assert info_block.read_line(line) == line_by_lark(line)


def same_expressions(data: bytes) -> None:
    """The steps of each line's value."""
    for line in data.decode("utf-8", "backslashreplace").splitlines():
        assert_read_as_by_lark(line.partition(",")[2] or line)


def same_yaml(data: bytes) -> None:
    """The facts of a metadata block, where its pattern is the compiler's."""
    text, _ = metadata_yaml.document(data.decode("utf-8", "backslashreplace"))
    try:
        short = metadata_yaml._compilers(text)
    except ValueError:
        return
    try:
        whole = metadata_yaml._any_yaml(text)
    except ValueError:  # damage in what is not looked at
        return
    assert short.version == whole.version
    assert short.target == whole.target
    assert short.kernels == whole.kernels
