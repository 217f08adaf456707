"""Linking info in assembly that is not linked yet: `.amdgpu_info` and `.amdgpu_lds`.

    .amdgpu_info NAME              up to .end_amdgpu_info, for this function without its callees:
    .amdgpu_flags N                1 VCC, 2 flat scratch, 4 dynamic stack
    .amdgpu_num_sgpr N             and .amdgpu_num_vgpr, .amdgpu_num_agpr
    .amdgpu_private_segment_size   bytes of scratch
    .amdgpu_use VARIABLE           a variable in LDS
    .amdgpu_call FUNCTION
    .amdgpu_indirect_call "TYPE"   a call through a pointer to a function of that type
    .amdgpu_lds NAME, SIZE, ALIGN  a variable in LDS, anywhere in the module

Source: output of LLVM 24git.
"""

from __future__ import annotations

import re

from kernelinfo.errors import Message
from kernelinfo.hardware.targets import Target
from kernelinfo.reading.assembly import directives
from kernelinfo.reading.assembly.expressions import number
from kernelinfo.reading.assembly.scan import described_kernel
from kernelinfo.reading.budget import KernelBudget
from kernelinfo.reading.data import Text, integer
from kernelinfo.reading.facts import KernelFacts
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import UINT32
from kernelinfo.reading.object_linking import NOTE, LinkedFunction, with_callees

_NUMBERS = {
    "flags": "flags",
    "num_sgpr": "sgprs",
    "num_vgpr": "vgprs",
    "num_agpr": "agprs",
    "private_segment_size": "scratch",
}
_VARIABLE = rb"(.*),[ \t]*(\d{1,10})[ \t]*,[ \t]*\d+\s*$"


class LinkingText:
    """Functions and LDS variables of one module, collected while its text is read."""

    def __init__(self, budget: KernelBudget) -> None:
        self._budget = budget
        self._functions: dict[str, LinkedFunction] = {}
        self._variables: dict[str, int] = {}
        """Bytes by name of an LDS variable."""

    def take(self, text: Text, offset: int, kind: str, operand: bytes) -> Message | None:
        """Read one directive; return a warning about it, or None."""
        if kind == "amdgpu_lds":
            if found := re.match(_VARIABLE, operand):
                self._variables[described_kernel(found[1])] = integer(found[2])
            return None
        self._budget.spend()
        block, ended = directives.read_block(text, offset, kind)
        name = described_kernel(operand)
        function = self._functions[name] = LinkedFunction(is_open=not ended)
        for field, value, _ in block.statements:
            count = number(value)
            if field in _NUMBERS and count is not None and 0 <= count <= UINT32:
                setattr(function, _NUMBERS[field], count)
            elif field == "call":
                function.calls.append(described_kernel(value.encode()))
            elif field == "use":
                function.uses[described_kernel(value.encode())] = 0
            elif field in _NUMBERS or field == "indirect_call":
                function.is_open = True
        return None if ended else say("linking-info-endless", kernel=name)

    def with_callees(
        self, kernels: list[KernelFacts], target: Target | None, *, xnack: bool
    ) -> tuple[list[KernelFacts], tuple[Message, ...]]:
        """The kernels with numbers that include their callees, and a note that says so.

        Unchanged and without a note if the module has no linking info.
        """
        if not self._functions:
            return kernels, ()
        for function in self._functions.values():
            function.is_open |= not function.uses.keys() <= self._variables.keys()
            function.uses = {name: self._variables.get(name, 0) for name in function.uses}
        return with_callees(kernels, self._functions, target, xnack=xnack), (NOTE,)
