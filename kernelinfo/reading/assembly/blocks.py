"""Blocks that state numbers of a kernel beside its descriptor: LLVM's `; Kernel info:` comments,
and registers that graphics drivers program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from itertools import islice

from kernelinfo.hardware.targets import Target, Vgprs
from kernelinfo.reading.assembly.directives import (
    Evaluate,
    Fields,
    PlacedNumbers,
    Readings,
    TextBlock,
    encoded,
    read_numbers,
    vgpr_granule,
    wave_size_in,
)
from kernelinfo.reading.assembly.expressions import leading_numbers, number
from kernelinfo.reading.data import Text, decode, integer, line_end, lines_from, match_at
from kernelinfo.reading.facts import NOTHING, Numbers, StatedValue
from kernelinfo.reading.grammar import Builders, NoMatch, load_tables, parse
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import NAMED_BARRIERS, UINT32

_CODE_BYTES = "codeLenInByte"
_INFO_FIELDS: Readings = {
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

Unread = list[tuple[int, bytes]]
"""(line, text) of each comment in a block that is not a field; the block's first line is 0."""

BUILD: Builders = {"header": str, "field": lambda name, value="": StatedValue(name, value, 0)}
"""Constructors by the rules of kernel_info.lark. A header becomes its kind: `Kernel`; a field
`; NAME: VALUE` becomes a statement without the unit."""


def read_block(text: Text, offset: int) -> tuple[str, TextBlock, Unread, int | None, int] | None:
    """(kind, block, unread comments, bytes of code, end) of the info block whose first line begins
    at `offset`; None if the text there is not a block.

    The kind is `Kernel` or `Function`. If only the line after the header states the size of the
    code, the block leaves it out, unless a log's prefix precedes it. The end is the byte
    offset of the line after the block. Text that a log or grep puts before the comment signs is
    ignored.
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
    read = _read_body if len(comments) < _USUAL else _read_body.__wrapped__
    block, unread, length = read(comments, 1 if code_bytes is None else 2)
    if code_bytes is None and not block:
        return None
    return header, block, unread, code_bytes, min(start + length, len(text))


def _without_code_bytes(comments: bytes) -> tuple[int | None, bytes]:
    """(bytes of code, remaining lines) if only the first line states the size of the code;
    otherwise (None, all lines).

    Many kernels have equal remaining lines, which are then read only once.
    """
    first, newline, rest = comments.partition(b"\n")
    field = read_line(first.rstrip(b"\r"))
    if newline and isinstance(field, StatedValue) and field.name == _CODE_BYTES:
        size = number(field.value)
        if size is not None and 0 <= size <= UINT32 and _CODE_BYTES.encode() not in rest:
            return size, rest
    return None, comments


def _prefixed(text: Text, offset: int, prefix: bytes) -> Iterator[bytes]:
    """Lines from `offset` on, up to the first without the header's prefix."""
    for line in lines_from(text, offset):
        if line.startswith(b";") or b";" not in line or _prefix(line) != prefix:
            return
        yield line


@lru_cache(maxsize=1 << 12)
def _read_body(comments: bytes, line: int) -> tuple[TextBlock, Unread, int]:
    """(block, unread comments, bytes read) of the comment lines.

    Reading stops at the next header. `line` is the distance of the first comment line from this
    header, in lines.
    """
    statements: list[StatedValue] = []
    unread: Unread = []
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
            statements.append(StatedValue(read.name, read.value, distance))
        length += len(written) + 1
    return tuple(statements), unread, length


def _prefix(line: bytes) -> bytes:
    """The text before a comment, with numbers replaced by `0`: time stamps and grep's line numbers
    differ."""
    return _STAMP.sub(b"0", line[: line.find(b";")].strip())


def read_line(line: bytes) -> str | StatedValue | None:
    """What a line states by kernel_info.lark: the kind of a header, or a field; None for any other
    line."""
    # Only short lines are cached, so that a hostile text cannot fill the memory.
    return _read_line(line) if len(line) < _SHORT else _read_line.__wrapped__(line)


@lru_cache(maxsize=1 << 14)
def _read_line(line: bytes) -> str | StatedValue | None:
    comment = decode(line[line.find(b";") :])
    try:
        read: str | StatedValue = parse(load_tables("kernel_info"), comment, BUILD)
    except NoMatch:
        return None
    return read


def info_numbers(
    stated: Fields, value: Evaluate, target: Target | None, wave_size: int | None
) -> PlacedNumbers:
    """Numbers in a block of kernel info.

    Reserved registers require the target. Reserved VGPRs also depend on the wave size: `wave_size`,
    else the size that the block implies, else the target's default. Both counts are rounded up from
    `…ForWavesPerEU`, the count that LLVM encodes, not taken from the encoded `…Blocks`: its unit on
    gfx1250 is 8 VGPRs up to LLVM 21 and 16 in LLVM 22, and the block does not say which.
    """
    settled = _wave_size(stated, value, target) if target and wave_size is None else {}
    vgprs = vgpr_granule(target, wave_size or wave_size_in(settled))
    sgprs = target.sgprs.encoding_granule if target else 0
    readings: Readings = {
        **_INFO_FIELDS,
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
    """The `wave_size` that a block without a descriptor implies; empty if the target has only one
    size, if no size fits, or if both do.

    The symbolic `Occupancy` names the register file. Otherwise a size fits if its granule turns
    `NumVGPRsForWavesPerEU` into `VGPRBlocks`; for the smallest counts both sizes do. Source: LLVM
    SIProgramInfo, AMDGPUMCExpr::createOccupancy, IsaInfo::getVGPREncodingGranule.
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


# Numbers in the registers that graphics drivers program: `.AMDGPU.config` and PAL's metadata.
#
# RSRC1 belongs to the hardware stage that a function is compiled for. Only a compute shader is,
# like a kernel, launched in workgroups of its own size.

_COMPUTE = "COMPUTE_PGM_RSRC1"
_REGISTER_FIELDS: Mapping[str, str] = {
    "SPILLED_SGPRS": "sgpr_spills",
    "SPILLED_VGPRS": "vgpr_spills",
    _COMPUTE: "wgp_mode",
}
"""Number by register. Any other register only shows that the function is a graphics stage."""
_REGISTERS: Mapping[int, str] = {
    0x4: "SPILLED_SGPRS",
    0x8: "SPILLED_VGPRS",
    0xB028: "SPI_SHADER_PGM_RSRC1_PS",
    0xB128: "SPI_SHADER_PGM_RSRC1_VS",
    0xB228: "SPI_SHADER_PGM_RSRC1_GS",
    0xB328: "SPI_SHADER_PGM_RSRC1_ES",
    0xB428: "SPI_SHADER_PGM_RSRC1_HS",
    0xB528: "SPI_SHADER_PGM_RSRC1_LS",
    0xB848: _COMPUTE,
}
"""Register by byte address (LLVM SIDefines.h); the first two are LLVM's own. PAL's addresses are in
units of 4 bytes."""
_WGP_MODE = 1 << 29
"""Bit of RSRC1 (AMDGPUUsage, "compute_pgm_rsrc1 for GFX6-GFX12")."""

_SAVED_BLOCKS = 7
"""Blocks of dynamic VGPRs that a trap handler saves: all blocks of a wave except the first (LLVM
AMDGPUAsmPrinter::EmitPALMetadata, `.dynamic_vgpr_saved_count`)."""

_MOST_BYTES = 1 << 12
_PAIR = rb"[ \t]*\.long[ \t]+(\d{1,9})[ \t]*\r?\n[ \t]*\.long[ \t]+([^\r\n;]+?)[ \t]*\r?(?:\n|$)"
_NUMBER = r"0x[0-9a-fA-F]{1,8}|\d{1,9}"


def read_config(text: Text, offset: int) -> TextBlock:
    """The registers that `.AMDGPU.config` lists from `offset` on, as a block of statements.

    For mesa3d, and without an operating system, the section holds (address, value) pairs before
    each function. Source: LLVM AMDGPUAsmPrinter::EmitProgramInfoSI.
    """
    start = line_end(text, offset) + 1
    lines = text[start : start + _MOST_BYTES]
    statements, position, line = [], 0, 1
    while pair := re.compile(_PAIR).match(lines, position):
        if name := _REGISTERS.get(integer(pair[1])):
            statements.append(StatedValue(name, decode(pair[2]), line + 1))
        position, line = pair.end(), line + 2
    return tuple(statements)


def config_numbers(stated: Fields, value: Evaluate, target: Target | None) -> PlacedNumbers:
    """Numbers in the registers of `.AMDGPU.config`."""
    numbers: PlacedNumbers = {}
    for statement in stated.values():
        name = _REGISTER_FIELDS.get(statement.name)
        if name is None:
            numbers["graphics_stage"] = True, statement.line
        elif name == "wgp_mode" and not _has_modes(target):
            continue
        elif (count := value(statement)) is not None:
            number = bool(count & _WGP_MODE) if name == "wgp_mode" else count
            numbers[name] = number, statement.line
    return numbers


NumbersByFunction = Mapping[str | None, Numbers]
"""Symbol of a function → its numbers in PAL's metadata (AMDGPUUsage, "Code Object Metadata", for
amdpal); those of every other function under None."""


def pal_numbers(stages: NumbersByFunction, symbol: str, target: Target | None) -> Numbers:
    """Numbers of the function with that symbol; `wgp_mode` only for a target with both modes."""
    numbers = stages.get(symbol, stages[None])
    return numbers if _has_modes(target) else numbers._replace(wgp_mode=None)


def read_pal_metadata(root: Mapping[object, object]) -> NumbersByFunction:
    """Numbers in the map of `.amdgpu_pal_metadata`. Raises `ValueError` if it has no pipelines.

    If several functions are named for one stage, the last one counts. Without a graphics stage, all
    functions belong to the compute stage.
    """
    pipelines = root.get("amdpal.pipelines")
    if not isinstance(pipelines, list):
        raise ValueError(say("pal-metadata-no-list"))
    stages: dict[object, Mapping[object, object]] = {}
    registers: dict[str | None, object] = {}
    for pipeline in map(_map, pipelines):
        named = _map(pipeline.get(".hardware_stages")).items()
        stages |= {name: _map(stage) for name, stage in named}
        # A key is a number, possibly with LLVM's name for it: `0x2e12 (COMPUTE_PGM_RSRC1)`.
        registers |= {
            _REGISTERS.get(4 * integer(number[0], 0)): value
            for key, value in _map(pipeline.get(".registers")).items()
            if (number := re.match(_NUMBER, str(key)))
        }
    compute = stages.pop(".cs", {})
    mode = compute.get(".wgp_mode", _mode(registers))
    saved = compute.get(".dynamic_vgpr_saved_count")
    computes = [_map(_map(pipeline).get(".compute_registers")) for pipeline in pipelines]
    is_dynamic = any(registers.get(".dynamic_vgpr_en") is True for registers in computes)
    compute_numbers = Numbers(wgp_mode=mode if isinstance(mode, bool) else None)
    numbers: dict[str | None, Numbers] = {None: NOTHING if stages else compute_numbers}
    if (symbol := _entry(compute)) is not None:
        if is_dynamic or saved is not None:
            block = saved // _SAVED_BLOCKS if isinstance(saved, int) else 0
            compute_numbers = compute_numbers._replace(
                dynamic_vgprs=True, dynamic_vgpr_block=block or None
            )
        numbers[symbol] = compute_numbers
    graphics = filter(None, map(_entry, stages.values()))
    return numbers | dict.fromkeys(graphics, Numbers(graphics_stage=True))


def read_pal_pairs(operand: str) -> NumbersByFunction:
    """Numbers in the operand of `.amd_amdgpu_pal_metadata`: pairs of register and value.

    Raises `ValueError` for digits that the assembler refuses.
    """
    numbers = [integer(number, 0) for number in re.findall(_NUMBER, operand)]
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    registers: dict[str | None, object] = {_REGISTERS.get(4 * key): value for key, value in pairs}
    is_compute = registers.keys() <= {_COMPUTE, None}
    return {None: Numbers(wgp_mode=_mode(registers)) if is_compute else NOTHING}


def _mode(registers: Mapping[str | None, object]) -> bool | None:
    value = registers.get(_COMPUTE)
    return bool(value & _WGP_MODE) if isinstance(value, int) else None


def _entry(stage: Mapping[object, object]) -> str | None:
    """Symbol of a stage's function; None if not named.

    From LLVM 20 on it is in `.entry_point_symbol`, and `.entry_point` holds PAL's own name.
    """
    name = stage.get(".entry_point_symbol", stage.get(".entry_point"))
    return name if isinstance(name, str) else None


def _map(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _has_modes(target: Target | None) -> bool:
    return target is not None and len(target.domains) > 1
