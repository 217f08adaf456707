"""A failed compilation in one line: what is missing, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CUDA = r"'(?:cuda|cublas|cudnn|cooperative_groups|device_launch_parameters)[\w./]*' file not found"
_HIP = r"cannot find HIP runtime|'hip/[\w./]+' file not found"
_LIBRARY = r"cannot find (?:ROCm|HIP) device library"
_TARGET = (
    r"(?:invalid|unsupported|unknown) (?:target ID|HIP gpu|CUDA gpu|HIP offload|offload)"
    r"|unsupported (?:HIP|CUDA) gpu architecture|unknown target CPU"
)


def reason(messages: str, target: str, flags: Sequence[str]) -> str:
    """Why a source is not compiled for a target, and the mend, from the compiler's messages."""
    if re.search(_LIBRARY, messages):
        mend = "give its folder by -- --rocm-device-lib-path=DIR, or leave it out by -- -nogpulib"
        return f"no ROCm device library for {target}; {mend}"
    if re.search(_CUDA, messages):
        return "is CUDA without HIP; translate it by hipify-clang or hipify-perl"
    if re.search(_HIP, messages):
        mend = "install them, or add -- -nogpuinc -nogpulib for kernels without headers"
        return f"HIP's headers are missing; {mend}"
    if re.search(_TARGET, messages, re.I):
        return f"this compiler does not know {target}; give a newer one by --compiler"
    return f"is not compiled for {target}; see the compiler's messages"
