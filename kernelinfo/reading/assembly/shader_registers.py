"""Numbers in the registers that graphics drivers program: `.AMDGPU.config` and PAL's metadata.

RSRC1 belongs to the hardware stage that a function is compiled for. Only a compute shader is, like
a kernel, launched in workgroups of its own size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly.directives import DirectiveBlock, Evaluate, Fields, PlacedNumbers
from kernelinfo.reading.assembly.expressions import Directive
from kernelinfo.reading.data import Text, decode, integer, line_end
from kernelinfo.reading.facts import Numbers
from kernelinfo.reading.messages import say

_COMPUTE = "COMPUTE_PGM_RSRC1"
_FIELDS: Mapping[str, str] = {
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


def read_config(text: Text, offset: int) -> DirectiveBlock:
    """Registers after the line of `.AMDGPU.config` at `offset`, as a block of statements.

    The section holds pairs of address and value before each function, for mesa3d and for no
    operating system. Source: LLVM AMDGPUAsmPrinter::EmitProgramInfoSI.
    """
    start = line_end(text, offset) + 1
    lines = text[start : start + _MOST_BYTES]
    statements, position, line = [], 0, 1
    while pair := re.compile(_PAIR).match(lines, position):
        if name := _REGISTERS.get(integer(pair[1])):
            statements.append(Directive(name, decode(pair[2]), line + 1))
        position, line = pair.end(), line + 2
    return DirectiveBlock(statements)


def config_numbers(stated: Fields, value: Evaluate, target: Target | None) -> PlacedNumbers:
    """Numbers in the registers of `.AMDGPU.config`."""
    numbers: PlacedNumbers = {}
    for statement in stated.values():
        name = _FIELDS.get(statement.name)
        if name is None:
            numbers["graphics_stage"] = True, statement.line
        elif name == "wgp_mode" and not _has_modes(target):
            continue
        elif (count := value(statement)) is not None:
            number = bool(count & _WGP_MODE) if name == "wgp_mode" else count
            numbers[name] = number, statement.line
    return numbers


class Pipelines(NamedTuple):
    """Stages of a module's functions in PAL's metadata (AMDGPUUsage, "Code Object Metadata", for
    amdpal)."""

    graphics: frozenset[str]
    """Functions of graphics stages; only the last one named for a stage."""
    compute: str | None
    """Function of the compute stage; the last one named."""
    is_compute: bool
    """True without a graphics stage: then all functions belong to the compute stage."""
    wgp_mode: bool | None
    """True if the compute stage runs in WGP mode; None if not stated."""
    dynamic_vgprs: bool = False
    """True if the `compute` function takes VGPRs while it runs."""
    dynamic_vgpr_block: int = 0
    """VGPRs per lane that it takes at a time; 0 if not stated."""

    def numbers(self, symbol: str, target: Target | None) -> Numbers:
        """Numbers of the function with that symbol."""
        if symbol in self.graphics:
            return Numbers(graphics_stage=True)
        named = self.is_compute or symbol == self.compute
        is_dynamic = self.dynamic_vgprs and symbol == self.compute
        return Numbers(
            wgp_mode=self.wgp_mode if named and _has_modes(target) else None,
            dynamic_vgprs=is_dynamic or None,
            dynamic_vgpr_block=(self.dynamic_vgpr_block or None) if is_dynamic else None,
        )


def read_metadata(root: Mapping[object, object]) -> Pipelines:
    """Pipelines in the map of `.amdgpu_pal_metadata`. Raises `ValueError` if it has none."""
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
    return Pipelines(
        frozenset(filter(None, map(_entry, stages.values()))),
        _entry(compute),
        not stages,
        mode if isinstance(mode, bool) else None,
        is_dynamic or saved is not None,
        saved // _SAVED_BLOCKS if isinstance(saved, int) else 0,
    )


def read_pairs(operand: str) -> Pipelines:
    """Pipelines in the operand of `.amd_amdgpu_pal_metadata`: pairs of register and value.

    Raises `ValueError` for digits that the assembler refuses.
    """
    numbers = [integer(number, 0) for number in re.findall(_NUMBER, operand)]
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    registers: dict[str | None, object] = {_REGISTERS.get(4 * key): value for key, value in pairs}
    is_compute = registers.keys() <= {_COMPUTE, None}
    return Pipelines(frozenset(), None, is_compute, _mode(registers))


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
