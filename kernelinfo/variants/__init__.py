"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""

from kernelinfo.variants.lines import lines as source_lines
from kernelinfo.variants.lines import of_its_row
from kernelinfo.variants.module import IrModule, by_symbol, open_module
from kernelinfo.variants.nouns import SIZES, WAVES, Asked, Language, Line, measures

__all__ = [
    "SIZES",
    "WAVES",
    "Asked",
    "IrModule",
    "Language",
    "Line",
    "by_symbol",
    "measures",
    "of_its_row",
    "open_module",
    "source_lines",
]
