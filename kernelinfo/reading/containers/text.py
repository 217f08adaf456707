"""Assembly texts: whether a text is for AMD GPUs at all."""

from __future__ import annotations

import codecs
import re

from kernelinfo.reading.blob import Blob, Problem

# One of these stands in whatever LLVM or a person writes for these GPUs, mostly at the top.
_MARKS = re.compile(
    rb"\.amd(?:gcn_target|hsa_|_kernel_code_t|_amdgpu_|gpu_(?:metadata|hsa_kernel|pal_metadata))"
    rb"|\.hsa_code_object_|; Kernel info:|\.section\s+\.AMDGPU\."
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(blob: Blob) -> Blob | Problem:
    """The text itself, UTF-16 turned into UTF-8; a problem where it is not AMDGPU assembly."""
    if bytes(blob.data[:2]) in _UTF16:
        decoded = bytes(blob.data).decode("utf-16", "replace")
        blob = blob._replace(data=memoryview(decoded.encode()))
    if _MARKS.search(blob.data):
        return blob
    if b"\0" in bytes(blob.data[:4096]):
        message = "neither AMD GPU code nor text; give what the compiler left for the device"
    elif re.search(rb"\.hip_fatbin", blob.data):
        message = "host assembly: the device's is the file whose name has amdgcn in it"
    else:
        message = "no AMDGPU assembly found; give what the compiler left for the device"
    return Problem(blob.path, message, blob.member, blob.offset)
