"""Recognises assembly texts and build logs with kernels for AMD GPUs."""

from __future__ import annotations

import codecs
import re
import zlib
from contextlib import suppress

from kernelinfo.reading import build_log
from kernelinfo.reading.blob import Blob, Problem
from kernelinfo.reading.containers.parts import problem
from kernelinfo.reading.data import Data, text_of

# Every assembly text for these GPUs has one of these, mostly at the top.
_MARKS = re.compile(
    rb"\.amd(?:gcn_target|hsa_|_kernel_code_t|_amdgpu_|gpu_(?:metadata|hsa_kernel|pal_metadata))"
    rb"|\.hsa_code_object_|; Kernel info:|\.section\s+\.AMDGPU\."
)
_RESOURCE_USAGE = rb"Function Name: |Pass: +kernel-resource-usage"
_RECORD = b"--- !"
_FLAG = "-Rpass-analysis=kernel-resource-usage"
_LOOKED_AT = 1 << 20
_BINARY_BYTES = 1 << 12  # a zero byte in so many first bytes means that data are no text
_LOG = rb"(?m)(?:warning|remark|error): |^\[\d+/\d+\] |^\[ *\d+%\] "
_ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_MAPS = (*(bytes([first]) for first in range(0x80, 0x90)), b"\xde", b"\xdf")
"""First bytes of MessagePack maps."""
_CATALOGUE = rb"[\xa0-\xbf](?:solutions|library|codeObjectFile)"
_CATALOGUE_BYTES = 1 << 12
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(blob: Blob) -> Blob | Problem:
    """The text as a blob of its kind, UTF-16 converted to UTF-8; a problem if it has no kernels."""
    if bytes(blob.data.read(0, 2)) in _UTF16:
        if len(blob.data) > blob.bounds.memory:
            return problem(blob, _too_large(blob))
        blob = blob._replace(data=Data.of(bytes(blob.data).decode("utf-16", "replace").encode()))
    is_large = len(blob.data) > blob.bounds.carved  # small texts may have stray zeros
    is_binary = is_large and b"\0" in bytes(blob.data.read(0, _BINARY_BYTES))
    if not is_binary and blob.data.search(_MARKS) is not None:
        return blob._replace(kind="assembly")
    may_be_log = not is_binary and blob.data.search(re.compile(_RESOURCE_USAGE)) is not None
    if may_be_log and build_log.accepts(text_of(blob.data)):
        return blob._replace(kind="build-log")
    return problem(blob, _reason(blob.data))


def _too_large(blob: Blob) -> str:
    size, most = len(blob.data), blob.bounds.memory
    allowed = f"more than the {most} held at once"
    return f"a text in UTF-16 of {size} bytes, {allowed}; --bound memory=N reads it"


_PTX = rb"(?m)^\s*\.target\s+sm_\d"


def _reason(data: Data) -> str:
    """Message on data without kernels: their kind, and the file to give instead."""
    start = bytes(data.read(0, _LOOKED_AT))
    if _is_catalogue(start):
        return "a catalogue of Tensile without code; give the .co or .hsaco files next to it"
    if b"\0" in start[:_BINARY_BYTES]:
        return "neither AMD GPU code nor text; give what the compiler left for the device"
    if data.search(re.compile(rb"\.hip_fatbin")) is not None:
        return "host code; give the *-hip-amdgcn-*.s next to it"
    if re.search(_PTX, start):
        return "PTX, for NVIDIA GPUs; give a build for AMD GPUs (ROCm)"
    if start.startswith(_RECORD):
        return f"no resource usage in this optimization record; compile with {_FLAG}, too"
    if re.search(_LOG, start):
        return f"no resource usage in this log; compile with {_FLAG}"
    return "no AMDGPU assembly found; give what the compiler left for the device"


def _is_catalogue(start: bytes) -> bool:
    """True for the first bytes of Tensile's catalogue of code objects.

    It is a MessagePack map, compressed by zlib in newer versions."""
    if start.startswith(_ZLIB):
        with suppress(zlib.error):
            start = zlib.decompressobj().decompress(start, _CATALOGUE_BYTES)
    head = start[:_CATALOGUE_BYTES]
    return head.startswith(_MAPS) and re.search(_CATALOGUE, head) is not None
