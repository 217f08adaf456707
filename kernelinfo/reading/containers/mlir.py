"""Decodes code objects in MLIR text, written as escaped strings: `bin = "\\7FELF\\02\\01…"`.

MLIR prints `gpu.binary` this way (llvm/lib/Support/StringExtras.cpp, `printEscapedString`).
Compilers of domain-specific languages keep the text in files or in pickles; pickles are searched
and never unpickled. FlyDSL compresses it (flydsl/compiler/jit_executor.py, `ir_zlib`).
"""

from __future__ import annotations

import re

from kernelinfo.reading.blob import Blob
from kernelinfo.reading.containers.streams import held
from kernelinfo.reading.data import Data

STRING = rb'"\\7FELF\\02\\01\\01'
"""Pattern for the beginning of a string with an ELF file."""
COMPRESSED = rb"ir_zlib(?:\x94|q.|r.{4})?(?:C.|B.{4}|\x8e.{8})(?=\x78)"
"""Pattern for the key of a pickled map and the opcodes before its value (Python, pickletools:
MEMOIZE, BINPUT and LONG_BINPUT; SHORT_BINBYTES, BINBYTES and BINBYTES8)."""

_UNITS = rb'(?:[^"\\\n]++|\\\\|\\[0-9A-Fa-f]{2})++'
_WINDOW = 1 << 16
"""Bytes of text that are decoded at a time."""
_LONGEST_KEY = 32


def unescaped(data: Data) -> tuple[bytes, int] | None:
    """(decoded bytes, length of the text with both quotes) of the string at the start of the data.

    None if it has no end, or an escape that MLIR does not write."""
    pattern = re.compile(_UNITS)
    plain, at = bytearray(), 1
    while units := pattern.match(data.read(at, _WINDOW)):
        first, *others = units[0].replace(rb"\\", rb"\5C").split(b"\\")
        plain += first
        plain += b"".join([_BYTES[piece[:2].upper()] + piece[2:] for piece in others])
        at += units.end()
    return (bytes(plain), at + 1) if bytes(data.read(at, 1)) == b'"' else None


_BYTES = {b"%02X" % number: bytes([number]) for number in range(256)}


def decompressed(blob: Blob) -> tuple[memoryview, int]:
    """(decompressed text, end of its stream in the blob) behind the key at the blob's start.

    Raises `ReadError` for a stream that is damaged or too large."""
    key = re.compile(COMPRESSED, re.DOTALL).match(blob.data.read(0, _LONGEST_KEY))
    start = key.end() if key else 0
    stream = held("zlib", blob, blob.data.part(start))
    plain = stream.read_all()
    return plain, start + stream.consumed
