"""A failed compilation in one line: what is missing, and what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from kernelinfo.compile.messages import say
from kernelinfo.errors import Message

_CUDA = r"'(?:cuda|cublas|cudnn|cooperative_groups|device_launch_parameters)[\w./]*' file not found"
_HIP = r"cannot find HIP runtime|'hip/[\w./]+' file not found"
_LIBRARY = r"cannot find (?:ROCm|HIP) device library"
_OLD_LIBRARY = r"cannot find ROCm device library for ABI version"
_TARGET = (
    r"(?:invalid|unsupported|unknown) (?:target ID|HIP gpu|CUDA gpu|HIP offload|offload)"
    r"|unsupported (?:HIP|CUDA) gpu architecture|unknown target CPU"
)

_PLACE = re.compile(r"^(?:In file included from )?([^\s:][^:\n]*):\d+:", re.M)
_MISSING = re.compile(r"^([^\s:][^:\n]*):\d+:\d+: fatal error: '([^'\n]+)' file not found", re.M)
_HEADER_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")


def reason(messages: str, target: str) -> Message:
    """Why a source is not compiled for a target, and the mend, from the compiler's messages."""
    if re.search(_TARGET, messages, re.I):  # other messages may follow from it
        return say("compiler-target", target=target)
    if re.search(_OLD_LIBRARY, messages):
        return say("device-library-old")
    if re.search(_LIBRARY, messages):
        return say("device-library-missing", target=target)
    if re.search(_CUDA, messages):
        return say("source-cuda")
    if re.search(_HIP, messages):
        return say("hip-headers-missing")
    return say("source-not-compiled", target=target)


def concerned_files(messages: str, flags: Sequence[str], folder: str) -> Iterator[str]:
    """Absolute paths of the files that messages are about, and of all places where the header that
    is missing would be found.

    `folder` is the one in which the compiler ran.
    """
    for path in _PLACE.findall(messages):
        yield os.path.join(folder, path)
    for path, header in _MISSING.findall(messages):
        for place in (os.path.dirname(path), *_header_folders(flags)):
            yield os.path.join(folder, place, header)


def _header_folders(flags: Sequence[str]) -> Iterator[str]:
    for flag, following in zip(flags, (*flags[1:], ""), strict=True):
        option = next(filter(flag.startswith, _HEADER_FOLDERS), None)
        if option:
            yield flag.removeprefix(option) or following
