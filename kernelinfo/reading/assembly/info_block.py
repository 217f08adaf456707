"""Numbers in the `; Kernel info:` comments that LLVM writes after a kernel's code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from kernelinfo.hardware.targets import Target, Vgprs
from kernelinfo.reading.assembly.directives import (
    DirectiveBlock,
    Evaluate,
    Fields,
    PlacedNumbers,
    Readings,
    encoded,
    read_numbers,
    vgpr_granule,
    wave_size_in,
)
from kernelinfo.reading.assembly.expressions import Directive, leading_numbers, number
from kernelinfo.reading.data import Text, decode, lines_from, match_at
from kernelinfo.reading.grammar import Builders, NoMatch, load_tables, parse
from kernelinfo.reading.metadata import NAMED_BARRIERS, UINT32

_CODE_BYTES = "codeLenInByte"
_FIELDS: Readings = {
    _CODE_BYTES: ("code_bytes", int),
    "NumSgprs": ("sgprs", int),
    "TotalNumSgprs": ("sgprs", int),
    "NumAgprs": ("agprs", int),
    "TotalNumVgprs": ("vgprs", int),
    "ScratchSize": ("scratch_bytes_per_lane", int),
    "LDSByteSize": ("lds_bytes", int),
    "AccumOffset": ("accum_offset", int),
    "NamedBarCnt": ("named_barriers", lambda count: count * NAMED_BARRIERS),
    "Occupancy": ("compiler_waves_per_simd", int),
    "COMPUTE_PGM_RSRC2:SCRATCH_EN": ("dynamic_stack", bool),
    "COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT": ("tg_split", bool),
}

# LLVM writes up to 26 lines; a comment of a million lines is not one block.
_MOST_LINES = 100
_SHORT = 512
_USUAL = 1 << 12
_COMMENTS = re.compile(
    rb"(?<![ \t\r\f\v])(?:[ \t\r\f\v]*+;(?! Kernel info:).*+\n?){1,%d}+" % _MOST_LINES
)
_STAMP = re.compile(rb"[\d:-]+")

BUILD: Builders = {"header": str, "field": lambda name, value="": Directive(name, value, 0)}
"""Constructors by the rules of kernel_info.lark. A header becomes its kind: `Kernel`; a field
`; NAME: VALUE` becomes a statement without the unit."""


class InfoBlock(NamedTuple):
    """One block of kernel info or function info."""

    kind: str
    """`Kernel` or `Function`."""
    block: DirectiveBlock
    code_bytes: int | None
    """Size of the code, if the first line states it; that line is not in `block`."""
    unread: tuple[tuple[int, bytes], ...]
    """Comments that are not fields: the line counted from the header, and the text."""
    end: int
    """Byte offset of the line after the block."""


_Body = tuple[DirectiveBlock, tuple[tuple[int, bytes], ...], int]
"""Lines after the header, comments in them that are not fields, and the lines' bytes."""


def read_block(text: Text, offset: int) -> InfoBlock | None:
    """Block whose first line begins at `offset`; None if it states nothing, as in prose.

    Text of a log or of grep before the comment signs is ignored.
    """
    first = text[offset : offset + _SHORT].partition(b"\n")[0]
    header = read_line(first.rstrip(b"\r")) if len(first) < _SHORT else None
    if not isinstance(header, str):
        return None
    start = offset + len(first) + 1
    comments, code_bytes = b"", None
    if prefix := _prefix(first):
        comments = b"\n".join(islice(_prefixed(text, start, prefix), _MOST_LINES))
    elif match := match_at(_COMMENTS, text, start):
        code_bytes, comments = _without_code_bytes(match[0])
        start += len(match[0]) - len(comments)
    read = _read if len(comments) < _USUAL else _read.__wrapped__
    block, unread, length = read(comments, 1 if code_bytes is None else 2)
    if code_bytes is None and not block.statements:
        return None
    return InfoBlock(header, block, code_bytes, unread, min(start + length, len(text)))


def _without_code_bytes(comments: bytes) -> tuple[int | None, bytes]:
    """Size of the code in bytes, if only the first line states it, and the lines after that line.

    The other lines are equal in many kernels, and are then read once.
    """
    first, newline, rest = comments.partition(b"\n")
    field = read_line(first.rstrip(b"\r"))
    if newline and isinstance(field, Directive) and field.name == _CODE_BYTES:
        size = number(field.value)
        if size is not None and 0 <= size <= UINT32 and _CODE_BYTES.encode() not in rest:
            return size, rest
    return None, comments


def _prefixed(text: Text, offset: int, prefix: bytes) -> Iterator[bytes]:
    """Lines from `offset` on with the header's prefix."""
    for line in lines_from(text, offset):
        if line.startswith(b";") or b";" not in line or _prefix(line) != prefix:
            return
        yield line


@lru_cache(maxsize=1 << 12)
def _read(comments: bytes, line: int) -> _Body:
    """Body of a block from whole comment lines; the first is `line` lines after the header."""
    statements: list[Directive] = []
    unread: list[tuple[int, bytes]] = []
    length = 0
    lines = comments.removesuffix(b"\n").split(b"\n") if comments else []
    for distance, written in enumerate(lines, line):
        comment = written.rstrip(b"\r")
        read = read_line(comment)
        if isinstance(read, str):
            break
        if read is None:
            unread.append((distance, comment.strip()))
        else:
            statements.append(Directive(read.name, read.value, distance))
        length += len(written) + 1
    return DirectiveBlock(statements), tuple(unread), length


def _prefix(line: bytes) -> bytes:
    """Text before a comment, with `0` for numbers: time stamps and grep's line numbers differ."""
    return _STAMP.sub(b"0", line[: line.find(b";")].strip())


def read_line(line: bytes) -> str | Directive | None:
    """Header's kind, or field, of one line, as kernel_info.lark describes them; None for others."""
    # Only short lines are cached, so that a hostile text cannot fill the memory.
    return _read_line(line) if len(line) < _SHORT else _read_line.__wrapped__(line)


@lru_cache(maxsize=1 << 14)
def _read_line(line: bytes) -> str | Directive | None:
    comment = decode(line[line.find(b";") :])
    try:
        read: str | Directive = parse(load_tables("kernel_info"), comment, BUILD)
    except NoMatch:
        return None
    return read


def info_numbers(
    stated: Fields, value: Evaluate, target: Target | None, wave_size: int | None
) -> PlacedNumbers:
    """Numbers in a block of kernel info.

    Reserved registers need the target and the wave size; with a `wave_size` of None, the block may
    settle it. They are rounded from `…ForWavesPerEU`, the count that LLVM encodes, not taken from
    the encoded `…Blocks`: its unit on gfx1250 is 8 VGPRs up to LLVM 21 and 16 in LLVM 22, and the
    block does not tell which.
    """
    settled = _wave_size(stated, value, target) if target and wave_size is None else {}
    vgprs = vgpr_granule(target, wave_size or wave_size_in(settled))
    sgprs = target.sgprs.encoding_granule if target else 0
    readings: Readings = {
        **_FIELDS,
        "NumVGPRsForWavesPerEU": ("reserved_vgprs", partial(encoded, vgprs)),
        "NumSGPRsForWavesPerEU": ("reserved_sgprs", partial(encoded, sgprs)),
        "NumVgprs": ("arch_vgprs" if "TotalNumVgprs" in stated else "vgprs", int),
    }
    numbers = read_numbers(readings, stated, value)
    # Scratch enabled with a size of 0 gets its size at run time. With another size, the flag adds
    # nothing.
    enabled = numbers.pop("dynamic_stack", None)
    scratch = numbers.get("scratch_bytes_per_lane")
    if enabled and enabled[0] and scratch and scratch[0] == 0:
        numbers["dynamic_stack"] = enabled
    return settled | numbers


def _wave_size(stated: Fields, value: Evaluate, target: Target) -> PlacedNumbers:
    """Wave size that a block without a descriptor implies; empty if it fits none or several.

    The symbolic `Occupancy` names the register file. Else the granule decides in which `VGPRBlocks`
    encodes `NumVGPRsForWavesPerEU`, except for the fewest registers. Source: LLVM SIProgramInfo,
    AMDGPUMCExpr::createOccupancy, IsaInfo::getVGPREncodingGranule.
    """
    if len(target.vgprs) == 1:
        return {}
    fits: list[Vgprs] = []
    if settling := stated.get("Occupancy"):
        sizes = leading_numbers(settling.value, "occupancy", 3) or ()
        fits = [file for file in target.vgprs if (file.granule, file.per_simd) == sizes[1:]]
    count, blocks = stated.get("NumVGPRsForWavesPerEU"), stated.get("VGPRBlocks")
    if len(fits) != 1 and count and blocks:
        settling, vgprs, encoding = blocks, value(count), value(blocks)
        if vgprs is None or encoding is None:
            return {}
        fits = [
            file
            for file in target.vgprs
            if encoded(file.encoding_granule, vgprs) == (encoding + 1) * file.encoding_granule
        ]
    if len(fits) != 1 or settling is None:
        return {}
    return {"wave_size": (fits[0].wave_size, settling.line)}
