"""Host ELF files: their sections with code for the device, or the bundles found without any."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernelinfo.errors import ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Problem
from kernelinfo.reading.containers import bundle, ccob, magic
from kernelinfo.reading.containers.device_sections import Section, parts
from kernelinfo.reading.containers.parts import DATA_SECTION, part, problem, rest
from kernelinfo.reading.elf import read_elf
from kernelinfo.reading.facts import ReadWarning

# clang aligns the fat binary of each translation unit to this.
_PAGE = 4096
_MAGIC = re.compile(re.escape(magic.BUNDLE))


def read(blob: Blob) -> Iterator[Blob | Problem | Elsewhere]:
    """The bytes of each section with device code, whatever they are."""
    from kernelinfo.reading.containers import hipk  # most host files have sections

    warnings: list[ReadWarning] = []
    try:
        elf = read_elf(blob.data, warnings)
    except ReadError:  # cut off, or of a kind that drives no AMD GPU
        return
    for warning in warnings:
        yield problem(blob, warning.message, at=warning.offset or 0)
    if elf.sections:
        sections = (Section(s.name, s.offset, elf.bytes_of(s)) for s in elf.sections if s.size)
        yield from parts(blob, sections)
        return
    try:
        reference = hipk.without_sections(blob, elf)
    except ReadError as error:
        yield problem(blob, str(error))
        return
    if reference:
        yield reference
    else:
        yield from _found(blob)


def _found(blob: Blob) -> Iterator[Blob | Problem]:
    """The bundles in a file whose section headers were stripped.

    A compressed bundle is believed only on a page's first byte, with a version and a method that
    exist: its four letters occur by chance. Where no page begins with a bundle, the magic of plain
    ones is searched for, and what is none behind it is passed over. A file without any is to be
    searched for code objects.
    """
    data, at, nothing = blob.data, 0, True
    while at < len(data):
        head = bytes(data[at : at + len(magic.BUNDLE)])
        length = 0
        if head == magic.BUNDLE or ccob.is_header(head):
            nothing = False
            try:
                length = bundle.length_of(rest(blob, at))
                yield part(blob, "fatbin", data[at : at + length], at=at)
            except ReadError as error:
                yield problem(blob, str(error), at=at)
        at += max(1, -(-length // _PAGE)) * _PAGE
    end = 0
    for found in _MAGIC.finditer(data) if nothing else ():
        at = found.start()
        if at < end:
            continue
        try:
            length = bundle.length_of(rest(blob, at))
        except ReadError:
            continue
        end = at + length
        yield part(blob, "fatbin", data[at:end], at=at)
    if nothing and not end:
        yield part(blob, DATA_SECTION, data, at=0)
