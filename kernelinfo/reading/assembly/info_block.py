"""Read the `; Kernel info:` comments that LLVM writes after a kernel's code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from kernelinfo.light_typing import NamedTuple
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.assembly.block import Block, Statement
from kernelinfo.reading.assembly.directives import NAMED_BARRIERS, encoded, vgpr_file
from kernelinfo.reading.assembly.expressions import leading_numbers
from kernelinfo.reading.assembly.scan import Text, decode, lines_from
from kernelinfo.reading.facts import Fact, FactName
from kernelinfo.reading.grammar import load_parser

FIELDS: Mapping[str, FactName] = {
    "codeLenInByte": "code_bytes",
    "NumSgprs": "sgprs",
    "TotalNumSgprs": "sgprs",
    "NumVgprs": "vgprs",
    "NumAgprs": "agprs",
    "TotalNumVgprs": "vgprs",
    "ScratchSize": "scratch_bytes_per_lane",
    "LDSByteSize": "lds_bytes",
    "NumSGPRsForWavesPerEU": "reserved_sgprs",
    "NumVGPRsForWavesPerEU": "reserved_vgprs",
    "AccumOffset": "accum_offset",
    "NamedBarCnt": "named_barriers",
    "Occupancy": "compiler_waves_per_simd",
    "COMPUTE_PGM_RSRC2:SCRATCH_EN": "dynamic_stack",
    "COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT": "tg_split",
}

# LLVM writes 26 lines at most; a comment of a million lines is not one block.
_MOST_LINES = 100
_SHORT = 512
_USUAL = 1 << 12
_COMMENTS = re.compile(rb"(?:[ \t\r\f\v]*+;.*+\n?){1,%d}+" % _MOST_LINES)
_SIZE = re.compile(rb"; codeLenInByte = ([1-9]\d{0,8})\r?\n")
_STAMP = re.compile(rb"[\d:-]+")


_Value = Callable[[Statement], int | None]


class Header(NamedTuple):
    """`; Kernel info:` or `; Function info:`."""

    kind: str


class Field(NamedTuple):
    name: str
    value: str


_PLAIN = re.compile(
    rb"; ([A-Za-z_]\w*(?::[A-Z_]+\b)*) ?[:=] "
    rb"(0|[1-9]\d*|(?!.* bytes)[\w.$(][\w.$()~,+*/&-]*(?: [\w.$()~,+*/&-]+)*)"
    rb"(?: bytes(?:/workgroup \(compile time only\))?)?"
)
_HEADERS = {b"; Kernel info:": Header("Kernel"), b"; Function info:": Header("Function")}


class InfoBlock(NamedTuple):
    kind: str
    block: Block
    code_bytes: int | None
    """Where the line after the header states it, which is then none of the block."""
    unread: tuple[tuple[int, bytes], ...]
    """Comments within that are no fields, and their lines from that of the header."""
    end: int
    """Byte offset of the line after it."""


class _Body(NamedTuple):
    """What follows the header and the size of the code."""

    block: Block
    unread: tuple[tuple[int, bytes], ...]
    length: int
    """In bytes."""


def read_block(text: Text, place: int) -> InfoBlock | None:
    """The block whose first line begins at `place`, if it is one.

    What a log or grep put before the comment signs is passed over.
    """
    first = text[place : place + _SHORT].partition(b"\n")[0]
    header = read_line(first.rstrip(b"\r")) if len(first) < _SHORT else None
    if not isinstance(header, Header):
        return None
    start = place + len(first) + 1
    comments, size = b"", None
    if prefix := _prefix(first):
        comments = b"\n".join(islice(_prefixed(text, start, prefix), _MOST_LINES))
    elif found := _COMMENTS.match(text, start):
        comments = found[0]
        # Nearly all else is the same in many kernels.
        if (size := _SIZE.match(comments)) and comments.count(b"codeLenInByte") == 1:
            comments = comments[size.end() :]
            start += size.end()
        else:
            size = None
    read = _read if len(comments) < _USUAL else _read.__wrapped__
    body = read(comments, 2 if size else 1)
    return InfoBlock(
        header.kind,
        body.block,
        int(size[1]) if size else None,
        body.unread,
        min(start + body.length, len(text)),
    )


def _prefixed(text: Text, place: int, prefix: bytes) -> Iterator[bytes]:
    """The lines from `place` on that begin as the header does."""
    for line in lines_from(text, place):
        if line.startswith(b";") or b";" not in line or _prefix(line) != prefix:
            return
        yield line


@lru_cache(maxsize=1 << 12)
def _read(comments: bytes, line: int) -> _Body:
    """Of whole lines, the first of which is so many lines from the header."""
    statements: list[Statement] = []
    unread: list[tuple[int, bytes]] = []
    length = 0
    lines = comments.removesuffix(b"\n").split(b"\n") if comments else []
    for number, written in enumerate(lines, line):
        comment = written.rstrip(b"\r")
        # Only what is short is remembered, so that a hostile text cannot fill the memory.
        read = read_line(comment) if len(comment) < _SHORT else read_line.__wrapped__(comment)
        if isinstance(read, Header):
            break
        if read is None:
            unread.append((number, comment.strip()))
        else:
            statements.append(Statement(read.name, read.value, number))
        length += len(written) + 1
    return _Body(Block(statements), tuple(unread), length)


def _prefix(line: bytes) -> bytes:
    """What stands before a comment, without what differs from line to line: time stamps and the
    line numbers of grep."""
    return _STAMP.sub(b"0", line[: line.find(b";")].strip())


@lru_cache(maxsize=1 << 14)
def read_line(line: bytes) -> Header | Field | None:
    """One line; None when it is neither a block's header nor a field."""
    comment = line[line.find(b";") :]
    return by_pattern(comment) or by_grammar(comment)


def by_pattern(comment: bytes) -> Header | Field | None:
    """What nearly all lines are: headers, numbers, values in symbols; None where the grammar
    must decide.

    To import a parser takes longer than to read a file. A test holds both to the same answer on
    every comment there is.
    """
    if plain := _PLAIN.fullmatch(comment):
        return Field(plain[1].decode(), plain[2].decode())
    return _HEADERS.get(comment)


def by_grammar(comment: bytes) -> Header | Field | None:
    """One comment; the grammar decides what it means."""
    from lark import Token, UnexpectedInput

    try:
        tree = load_parser("kernel_info").parse(decode(comment))
    except UnexpectedInput:
        return None
    words = [str(token) for token in tree.children if isinstance(token, Token)]
    return Header(*words) if tree.data == "header" else Field(words[0], "".join(words[1:]))


def facts(
    statements: Sequence[Statement],
    value: _Value,
    target: Target | None,
    wave_size: object,
) -> list[Fact]:
    """What a block states; `value` evaluates a statement, or gives None and says why itself.

    Registers reserved need the target and the register file that waves of the kernel's size see;
    where `wave_size` is None, the block may settle it. They are rounded here from
    `…ForWavesPerEU`, the count that LLVM encodes, and not taken from `…Blocks`, the encoded field:
    LLVM encoded gfx1250 in units of 8 until 22 was out, and since of 16, and the block alone does
    not tell which.
    """
    found: dict[FactName, Fact] = {}
    if target and wave_size is None and (settled := _wave_size(statements, value, target)):
        found["wave_size"], wave_size = settled, settled.value
    file = vgpr_file(target, wave_size)
    for statement in statements:
        name = FIELDS.get(statement.field)
        if name is None:
            continue
        count = value(statement)
        if name == "vgprs" and statement.field == "TotalNumVgprs":
            arch = found.pop(name, None)  # NumVgprs leaves the AGPRs out
            if arch is not None:
                found["arch_vgprs"] = arch._replace(name="arch_vgprs")
        if count is None:
            continue
        if name == "reserved_vgprs":
            if file is None:
                continue
            count = encoded(count, file.encoding_granule)
        elif name == "reserved_sgprs":
            if target is None or not target.sgprs.encoding_granule:
                continue
            count = encoded(count, target.sgprs.encoding_granule)
        elif name == "named_barriers":
            count *= NAMED_BARRIERS
        known = bool(count) if name in ("tg_split", "dynamic_stack") else count
        found[name] = Fact(name, known, "kernel-info", statement.line)
    # Scratch that is enabled with a size of 0 is of a size that is not known before the launch;
    # beside a size, being enabled says nothing.
    enabled = found.pop("dynamic_stack", None)
    scratch = found.get("scratch_bytes_per_lane")
    if enabled and enabled.value and scratch and scratch.value == 0:
        found["dynamic_stack"] = enabled
    return list(found.values())


def _wave_size(statements: Sequence[Statement], value: _Value, target: Target) -> Fact | None:
    """The only wave size of the target's that a block without a descriptor fits, if it is one.

    The symbolic `Occupancy` names the register file; else the unit in which `VGPRBlocks` encodes
    `NumVGPRsForWavesPerEU` differs, but for the fewest registers (LLVM SIProgramInfo,
    AMDGPUMCExpr::createOccupancy, IsaInfo::getVGPREncodingGranule).
    """
    if len(target.vgprs) == 1:
        return None
    stated = {statement.field: statement for statement in statements}
    if occupancy := stated.get("Occupancy"):
        _, *file_sizes = leading_numbers(occupancy.value, "occupancy", 3) or (0,)
        fits = [f for f in target.vgprs if [f.granule, f.per_simd] == file_sizes]
        if len(fits) == 1:
            return Fact("wave_size", fits[0].wave_size, "kernel-info", occupancy.line)
    count, blocks = stated.get("NumVGPRsForWavesPerEU"), stated.get("VGPRBlocks")
    if count is None or blocks is None:
        return None
    number, encoding = value(count), value(blocks)
    if number is None or encoding is None:
        return None
    fits = [
        file
        for file in target.vgprs
        if encoded(number, file.encoding_granule) == (encoding + 1) * file.encoding_granule
    ]
    return (
        Fact("wave_size", fits[0].wave_size, "kernel-info", blocks.line) if len(fits) == 1 else None
    )
