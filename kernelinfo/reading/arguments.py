"""Kernel arguments as the metadata list them.

They are read apart from the numbers: few users ask for them, and a library has thousands.
Source: LLVM's AMDGPUUsage, "AMDHSA Code Object Kernel Argument Metadata".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kernelinfo.errors import ReadError
from kernelinfo.reading.assembly import metadata_yaml
from kernelinfo.reading.assembly.scan import assembly_text
from kernelinfo.reading.blob import Blob
from kernelinfo.reading.code_object.note_metadata import read_kernel_maps
from kernelinfo.reading.data import Data, Text, decode, find_all
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.messages import say
from kernelinfo.reading.metadata import kernel_symbol

_BEGIN = re.compile(rb"\.amdgpu_metadata[^\S\n]*+\n")
_END = b".end_amdgpu_metadata"


class Argument(NamedTuple):
    """One argument in the kernel's argument segment; a field is None if not stated."""

    name: str | None  # as the source names it
    type: str | None
    """Type as the source spells it: `float*`."""
    offset: int | None
    """Bytes from the start of the segment."""
    size: int | None
    """Bytes."""
    kind: str | None
    """`by_value`, `global_buffer`, or a hidden argument such as `hidden_block_count_x`."""
    address_space: str | None  # of a pointer

    @property
    def is_hidden(self) -> bool:
        """True if the runtime passes the argument, not the program."""
        return (self.kind or "").startswith("hidden_")


Arguments = dict[str, tuple[Argument, ...]]  # by the kernel's symbol


def arguments_of(blob: Blob) -> Arguments:
    """Arguments of each kernel in a code object or an assembly text, by the kernel's symbol.

    Empty before code object version 3. Raises `ReadError` if the metadata cannot be read.
    """
    if blob.kind == "code-object":
        kernels = _in_code_object(blob.data)
    else:
        kernels = _in_assembly(assembly_text(blob.data))
    return {kernel_symbol(k.get(".symbol"), k.get(".name")): _arguments(k) for k in kernels}


def _in_code_object(data: Data) -> Iterator[Mapping[object, object]]:
    return read_kernel_maps(read_elf(data, []))


def _in_assembly(text: Text) -> Iterator[Mapping[object, object]]:
    for offset, begin in find_all(_BEGIN, text):
        start = offset + len(begin[0])
        end = text.find(_END, start)
        if end < 0:
            return
        yaml, _ = metadata_yaml.document(decode(text[start:end]))
        try:
            root, _ = metadata_yaml.root_of(yaml)
        except ValueError as error:
            raise ReadError(say("metadata-unreadable", error=error)) from error
        yield from _maps(root.get("amdhsa.kernels"))


def _maps(value: object) -> Iterator[Mapping[object, object]]:
    """The maps in a list; nothing if `value` is not a list."""
    items = value if isinstance(value, list) else []
    return (item for item in items if isinstance(item, Mapping))


def _arguments(kernel: Mapping[object, object]) -> tuple[Argument, ...]:
    return tuple(map(_argument, _maps(kernel.get(".args"))))


def _argument(stated: Mapping[object, object]) -> Argument:
    def text(key: str) -> str | None:
        value = stated.get(key)
        return value if isinstance(value, str) else None

    def count(key: str) -> int | None:
        value = stated.get(key)
        return value if type(value) is int and value >= 0 else None

    return Argument(
        name=text(".name"),
        type=text(".type_name"),
        offset=count(".offset"),
        size=count(".size"),
        kind=text(".value_kind"),
        address_space=text(".address_space"),
    )
