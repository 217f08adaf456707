"""What tests use of the room that reads, `kernelinfo.reading`, below its front door.

Who moves or renames something in that room mends this file, and no test.
"""

from __future__ import annotations

from kernelinfo.reading import assembly, build_log, code_object, data, elf
from kernelinfo.reading.assembly import blocks, expressions, kernel_text, metadata_yaml
from kernelinfo.reading.assembly.blocks import read_line
from kernelinfo.reading.assembly.directives import by_field, read_block
from kernelinfo.reading.assembly.expressions import (
    Call,
    Definitions,
    number,
    read_terms,
)
from kernelinfo.reading.assembly.scan import SourceFiles, code_of, without_comments
from kernelinfo.reading.blob import Blob, File, FileBudget
from kernelinfo.reading.code_object.dwarf import entries_below, read_source_lines
from kernelinfo.reading.code_object.note_metadata import read_notes
from kernelinfo.reading.containers import formats, open_paths
from kernelinfo.reading.containers.files import find
from kernelinfo.reading.data import Data, LongText, Text, lines_from, pieces, searchable
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.facts import (
    NOTHING,
    Features,
    KernelFacts,
    Numbers,
    ReadWarning,
    StatedValue,
)
from kernelinfo.reading.grammar import MOST_TOKENS, Builders, NoMatch, load_tables, parse
from kernelinfo.reading.grammar_tables import make_tables
from kernelinfo.reading.metadata import NOT_LINKED, kernel_numbers
from kernelinfo.reading.paths import fits
from kernelinfo.reading.target_id import parse_isa_version, parse_target_id

ROOM = "kernelinfo.reading"

__all__ = [
    "MOST_TOKENS",
    "NOTHING",
    "NOT_LINKED",
    "ROOM",
    "Blob",
    "Builders",
    "Call",
    "Data",
    "Definitions",
    "Features",
    "File",
    "FileBudget",
    "KernelFacts",
    "LongText",
    "NoMatch",
    "Numbers",
    "ReadWarning",
    "SourceFiles",
    "StatedValue",
    "Text",
    "assembly",
    "blocks",
    "build_log",
    "by_field",
    "code_object",
    "code_of",
    "data",
    "elf",
    "entries_below",
    "expressions",
    "find",
    "fits",
    "formats",
    "kernel_numbers",
    "kernel_text",
    "lines_from",
    "load_tables",
    "make_tables",
    "metadata_yaml",
    "number",
    "open_paths",
    "parse",
    "parse_isa_version",
    "parse_target_id",
    "pieces",
    "read_block",
    "read_elf",
    "read_line",
    "read_notes",
    "read_source_lines",
    "read_terms",
    "searchable",
    "without_comments",
]
