"""Coverage: the code of a library that devices of a target load."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from kernelinfo.kernel.code_object import CodeObject, library_of, member_file
from kernelinfo.reading.blob import SpirV
from kernelinfo.reading.target_id import parse_target_id, runs_on

SPIRV = "SPIR-V"
"""Stands for a target id of code that is compiled when it is loaded, on any device."""
_BUNDLES = {"fatbin", "bundle", "offload-binary"}
"""Containers with code for several targets, of which a device loads its own."""
_UNIT = r"(?:#\d+)?/[^/]*$"
"""End of a kpack member behind the library: the unit's number and the target."""


def covering(codes: Iterable[str], device: str) -> tuple[str, ...]:
    """The target ids among `codes` that a device of the target id `device` loads.

    Ids of its own processor come first, then generic ones, `SPIRV` last. See `runs_on`.
    """
    fitting = (code for code in codes if code == SPIRV or runs_on(code, device))
    return tuple(sorted(fitting, key=lambda code: (code == SPIRV, is_generic(code, device), code)))


def is_generic(code: str, device: str) -> bool:
    """True if code that a device loads is for a generic target that contains its processor."""
    compiled, device_id = parse_target_id(code), parse_target_id(device)
    return bool(compiled and device_id and compiled.processor != device_id.processor)


def needed_settings(codes: Collection[str], device: str) -> str:
    """The setting that a device of the target id `device` needs to load any of `codes`: `xnack+`.

    Empty if it loads one in the setting that `device` names, or in each."""
    device_id = parse_target_id(device)
    stated = dict(device_id.settings) if device_id else {}
    parsed = [parse_target_id(code) for code in codes]
    needed = [{*target_id.settings} if target_id else set() for target_id in parsed]
    signs = {"on": "+", "off": "-"}
    return ":".join(
        f"{name}{signs[value]}"
        for name, value in sorted(set.intersection(*needed) if needed else ())
        if name not in stated and value in signs
    )


def library_in(path: str, member: str | None) -> str:
    """The name of the library or package with some code, as `library_of` has it; of a kpack archive
    the library that the code was taken out of."""
    if path.endswith(".kpack") and member:
        return library_of(re.sub(_UNIT, "", member))
    return library_of(path)


def carrier(code: CodeObject | SpirV) -> str | None:
    """The library or member of a package that has code for several targets, by its name.

    None for a code object or text of one target, which is one of several files for that.
    """
    if code.path.endswith(".kpack"):
        return library_in(code.path, code.member)
    if not _BUNDLES & {*code.containers}:
        return None
    file = member_file(code.member)
    return " › ".join(filter(None, (code.path, file if ".kpack" not in file else "")))
