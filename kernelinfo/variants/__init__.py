"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""

from kernelinfo.variants.module import IrModule, by_symbol, open_module
from kernelinfo.variants.nouns import Line, LineLanguage, choose_written, measures
from kernelinfo.variants.nouns import lines as source_lines
from kernelinfo.variants.requests import SIZES, WAVES, Asked

__all__ = [
    "SIZES",
    "WAVES",
    "Asked",
    "IrModule",
    "Line",
    "LineLanguage",
    "by_symbol",
    "choose_written",
    "measures",
    "open_module",
    "source_lines",
]
