"""Numbers that only a kernel's instructions prove: LDS sized at launch, dynamic VGPRs.

For most kernels a search for a few bytes decides, without reading instructions.
"""

from __future__ import annotations

from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly.instructions import function_text
from kernelinfo.reading.assembly.kernel_text import KernelText
from kernelinfo.reading.facts import KernelFacts, Numbers, StatedNumbers
from kernelinfo.reading.text import Text

_NO_ACCESS = tuple(
    b"ds_" + name
    for name in (
        *(b"bpermute", b"permute", b"swizzle", b"gws_", b"nop"),
        *(b"param_load", b"direct_load"),
    )
)
"""`ds_` instructions that only exchange lanes, synchronise waves or read a graphics stage's input
(RDNA4 ISA, "Data Share Operations")."""
_MEMORY = (b"buffer_", b"global_", b"cluster_", b"tensor_")
_TAKES_VGPRS = b"s_alloc_vgpr"


def with_proven(
    kernel: KernelFacts, text: Text, found_in: KernelText, target: Target | None
) -> KernelFacts:
    """The kernel with the numbers that its instructions prove, from the source `code`."""
    start, end = found_in.label, found_in.end
    if start is None:
        return kernel
    has_lds = _reserves_no_lds(kernel.stated) and reaches_lds(text, start, end)
    takes_vgprs = False
    if _may_take_vgprs(target) and text.find(_TAKES_VGPRS, start, end) >= 0:
        code = function_text(text, start, end)
        takes_vgprs = code is not None and _TAKES_VGPRS in code
    if not (has_lds or takes_vgprs):
        return kernel
    proven = Numbers(dynamic_lds=has_lds or None, dynamic_vgprs=takes_vgprs or None)
    return kernel._replace(stated=(*kernel.stated, ("code", proven)))


def reaches_lds(text: Text, start: int, end: int) -> bool:
    """True if the function with its label at `start` has an instruction that reaches LDS."""
    if all(text.find(sign, start, end) < 0 for sign in (b"\tds_", b" ds_", b" lds", b"_lds")):
        return False
    code = function_text(text, start, end) or b""
    return any(is_lds_access(line) for line in code.split(b"\n") if b"ds" in line)


def is_lds_access(line: bytes) -> bool:
    """True for a line with an instruction that reaches LDS."""
    # `gds` is another memory. `lds` in the name or the operands: a copy between memory and LDS.
    words = line.partition(b";")[0].partition(b"//")[0].split()
    if not words or b"gds" in words:
        return False
    name = words[0]
    if name.startswith(b"ds_"):
        return not name.startswith(_NO_ACCESS)
    return name.startswith(_MEMORY) and (b"lds" in words or b"_lds" in name)


def _reserves_no_lds(stated: tuple[StatedNumbers, ...]) -> bool:
    """True if all sources that state LDS state 0 bytes, and none states LDS sized at launch.

    False for a graphics stage.
    """
    if any(numbers.dynamic_lds or numbers.graphics_stage for _, numbers in stated):
        return False
    return {numbers.lds_bytes for _, numbers in stated} - {None} == {0}


def _may_take_vgprs(target: Target | None) -> bool:
    """True for a gfx12 target: its waves may take VGPRs while they run."""
    return target is not None and (target.named_barriers or bool(target.vgprs[0].dynamic_blocks))
