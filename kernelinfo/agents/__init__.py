"""Answers for coding agents, over the Model Context Protocol. `kernelinfo mcp` alone imports it.

Here are the tools that agents see: name, description and JSON Schema of the arguments, with units.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

_LONGEST_REQUEST = 1 << 20  # bytes of a line; the longest path and pattern take a hundredth
_UNREADABLE = '{{"jsonrpc":"2.0","id":{},"method":"(a request that cannot be read)"}}\n'
_ID = re.compile(r'\s*\{[^{}\[\]]*?"id"\s*:\s*(0|[1-9]\d{0,14}|"[\w.:-]{1,64}")\s*[,}]', re.ASCII)
"""Id of a request, before anything that is nested in it."""


def read_request(stream: BinaryIO, is_readable: Callable[[str], bool]) -> str:
    """The next request, one line of the stream; empty at the end of the stream.

    A line that is too long or unreadable is replaced by a request for an unknown method with the
    same id, which the server answers with an error, or by a blank line if it has no id.
    """
    line = start = stream.readline(_LONGEST_REQUEST)
    while len(line) == _LONGEST_REQUEST and not line.endswith(b"\n"):
        line = stream.readline(_LONGEST_REQUEST)
    text = start.decode("utf-8", "replace")
    is_whole = len(start) < _LONGEST_REQUEST or start.endswith(b"\n")
    if not text or (is_whole and is_readable(text)):
        return text
    id = _id_of(text)
    return "\n" if id is None else _UNREADABLE.format(id)


def _id_of(text: str) -> str | None:
    """The id of a request as JSON; None if it has no usable id."""
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        match = _ID.match(text)
        return match[1] if match else None
    id = request.get("id") if isinstance(request, dict) else None
    is_text = isinstance(id, str) and id.isprintable()
    return json.dumps(id) if type(id) is int or is_text else None


Schema = dict[str, Any]


class AgentTool(NamedTuple):
    """One tool as an agent sees it."""

    name: str
    description: str
    schema: Schema


def _text(description: str) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": 4096, "description": description}


def _count(description: str, least: int = 0) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": 1 << 31, "description": description}


_PATH = {
    "path": _text(
        "File or folder below the server's root: assembly of --save-temps, code object, program, "
        "library, archive, wheel, Triton's cache, or build log."
    )
}
_CHOICE = {
    "kernel": _text(
        "Kernel: a name with or without arguments, a symbol, a glob, or re: and a pattern."
    ),
    "target": _text(
        "Only kernels that run on this target: gfx942, gfx906:xnack+, or a product such as MI300X."
    ),
    "member": _text("Only members of a container that this glob matches."),
    "arch": _text("Target of inputs that name none: gfx942."),
}
_TRAP = {
    "type": "boolean",
    "description": "False leaves out the 16 SGPRs of the trap handler that ROCm installs.",
}
_LAUNCH = {
    "workgroup_size": _count(
        "Workitems of a workgroup at launch; by default the kernel's declared maximum.", 1
    ),
    "dynamic_lds_bytes": _count("LDS that the host adds at launch, in bytes per workgroup."),
    "trap_handler": _TRAP,
}
_WHERE = {
    "where": _text(
        "Condition on columns, in bytes and waves per SIMD: waves < 4 and lds > 32k and spills > 0."
    )
}
_TARGET = {"target": _text("Target or product: gfx90a, MI300X, RX 7900 XTX.")}
_MODE = {
    "wave_size": {"enum": [32, 64], "description": "Lanes of a wave."},
    "wgp_mode": {
        "type": "boolean",
        "description": "RDNA: True for workgroups over a WGP, False for those of one CU.",
    },
    "trap_handler": _TRAP,
}
_SIZE = {"workgroup_size": _count("Workitems of a workgroup; 256 by default.", 1)}
_CEILING = "Occupancy is a ceiling in waves per SIMD, not a speed."


def _tool(name: str, description: str, properties: Schema, required: tuple[str, ...]) -> AgentTool:
    return AgentTool(
        name,
        f"{description} Unknown numbers are left out; left_out counts what has no room.",
        {
            "type": "object",
            "properties": properties,
            "required": [*required],
            "additionalProperties": False,
        },
    )


TOOLS = (
    _tool(
        "report",
        "All kernels of a path, worst occupancy first: allocated VGPRs and AGPRs per lane, SGPRs "
        "per wave, LDS in bytes per workgroup, scratch in bytes per lane, spilled registers, "
        f"waves per SIMD, limiters, the next step, findings. {_CEILING}",
        _PATH | _CHOICE | _WHERE | _LAUNCH,
        ("path",),
    ),
    _tool(
        "explain",
        "One kernel, number by number: used and allocated registers and LDS, what each resource "
        "allows in waves per SIMD, the steps to the next occupancy, each number's source, and the "
        "live registers of assembly. The three first kernels if several have the name.",
        _PATH | _CHOICE | _LAUNCH,
        ("path", "kernel"),
    ),
    _tool(
        "pressure",
        "Live registers: the peak in vector registers per lane with its line and loop, the values "
        "that hold them, and those untouched for longest. Without a kernel, the peak of each. "
        "Lines are those of the assembly; code objects need llvm-objdump, and no compiler runs.",
        _PATH | _CHOICE | _LAUNCH,
        ("path",),
    ),
    _tool(
        "diff",
        "Two builds compared kernel by kernel: waves per SIMD, registers, LDS, scratch, spills and "
        "code bytes that moved, and the limit that they moved under.",
        {
            "old": _text("File or folder below the root, or a saved JSON report: the older build."),
            "new": _text("The other build, in the same forms."),
        }
        | _CHOICE
        | _LAUNCH,
        ("old", "new"),
    ),
    _tool(
        "calc",
        f"The occupancy of given numbers, without a file. {_CEILING}",
        _TARGET
        | {
            "vgprs": _count("Architectural VGPRs per lane."),
            "agprs": _count("AGPRs per lane."),
            "sgprs": _count("SGPRs per wave, VCC included."),
            "lds_bytes": _count("LDS in bytes per workgroup."),
            "scratch_bytes_per_lane": _count("Scratch in bytes per lane."),
        }
        | _SIZE
        | _MODE,
        ("target",),
    ),
    _tool(
        "limits",
        "The step table of a target: the most VGPRs per lane, SGPRs per wave and bytes of LDS per "
        "workgroup for each number of waves per SIMD.",
        _TARGET | _SIZE | _MODE,
        ("target",),
    ),
    _tool(
        "arch",
        "Every hardware constant of a target with its source; without a target, all known ones.",
        _TARGET,
        (),
    ),
    _tool(
        "rules",
        "One rule in full: what it finds, why it matters, what to do; without a rule, all of them.",
        {"rule": _text("Number or name of a rule: KI106.")},
        (),
    ),
)
"""All tools. Each only reads."""
