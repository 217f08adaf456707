"""Kernels compiled for other occupancies, launch bounds and scheduling strategies.

IR file -> text -> function attributes edited -> the user's compiler -> assembly -> kernels.
"""

from kernelinfo.variants.lines import lines as source_lines
from kernelinfo.variants.lines import of_its_row as of_its_row
from kernelinfo.variants.module import IrModule as IrModule
from kernelinfo.variants.module import by_symbol as by_symbol
from kernelinfo.variants.module import open_module as open_module
from kernelinfo.variants.nouns import SIZES as SIZES
from kernelinfo.variants.nouns import WAVES as WAVES
from kernelinfo.variants.nouns import Asked as Asked
from kernelinfo.variants.nouns import Language as Language
from kernelinfo.variants.nouns import Line as Line
from kernelinfo.variants.nouns import measures as measures
