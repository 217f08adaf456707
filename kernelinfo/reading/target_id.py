"""Read which processor a module is for, as the many spellings of a target say it."""

from __future__ import annotations

import re

from kernelinfo.light_typing import Literal, NamedTuple
from kernelinfo.reading.facts import Features

_Setting = Literal["any", "on", "off", "unsupported"]

# Few of these are needed for one module, and each takes 0.1 ms to compile.
_PROCESSOR = r"gfx[0-9a-f]+(?:-[0-9]+)*(?:-generic|-strict)?(?=$|[:+])"
_FEATURE = r":(\w+)([+-])|\+([\w-]+)"
_ISA = r'\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*"AMD"'
# Code object v2 has no features in its target; odd steppings mean "with XNACK" instead
# (AMDGPUUsage, "AMDGPU Code Object V2 ISA", and LLVM 13 AMDGPUTargetStreamer).
_V2_WITH_XNACK = {"gfx901": "gfx900", "gfx903": "gfx902", "gfx905": "gfx904", "gfx907": "gfx906"}

# LLVM TargetParser, getArchAttrAMDGCN; as e_flags of empty objects of llvm-mc 22 have it, except
# XNACK on gfx125x: LLVM 22 and 24 disagree about it, and neither side is taken.
_XNACK = r"gfx(801|810|9[0-5].|9-.+|101[0-3]|10-1-generic)"
_SRAMECC = r"gfx(906|908|90a|94[0-2]|950|9-4-generic|125.+)"
_SURVEYED = r"gfx([678]..|9[0-5].|9-.+|10[13].|10-.+|11[05].|11-generic|120.|12-generic)"
UNKNOWN_TARGET = "unknown"
_SIGNS: dict[str | None, str] = {"on": "+", "off": "-"}


class TargetId(NamedTuple):
    """A processor, for example gfx90a, and the features that were spelled out."""

    processor: str
    settings: tuple[tuple[str, _Setting], ...] = ()
    odd: str = ""
    """What stands behind the processor and is no feature."""

    def features(self, code_object_version: int | None) -> Features:
        """All features; what an absent one means depends on the code object version.

        Up to v3 it is off. From v4 on the code runs with any setting, where there is one. Where
        version or processor do not tell, it stays None.
        """
        stated = dict(self.settings)

        def setting(name: str, having: str) -> _Setting | None:
            if name in stated:
                return stated[name]
            if code_object_version is not None and code_object_version < 4:
                return "off"
            if re.fullmatch(having, self.processor):
                return None if code_object_version is None else "any"
            return "unsupported" if re.fullmatch(_SURVEYED, self.processor) else None

        return Features(xnack=setting("xnack", _XNACK), sramecc=setting("sramecc", _SRAMECC))


def parse_target_id(text: str) -> TargetId | None:
    """The processor that ends `text`: a target id, a target triple or a bundle entry's id.

    Spellings are those of AMDGPUUsage, "Target ID": `gfx90a:sramecc+:xnack-` (code object v4 on),
    `gfx906+sram-ecc` (v3), behind `amdgcn-amd-amdhsa--`, `amdgpu9.42-amd-amdhsa-unknown-` and the
    like. None when there is no processor.
    """
    found = re.search(_PROCESSOR, text.strip())
    if not found:
        return None
    settings: dict[str, _Setting] = {}
    features = text.strip()[found.end() :]
    for name, sign, old_name in re.findall(_FEATURE, features):
        settings[name or old_name.replace("-", "")] = "off" if sign == "-" else "on"
    processor = found[0]
    if processor in _V2_WITH_XNACK:
        processor, settings["xnack"] = _V2_WITH_XNACK[processor], "on"
    return TargetId(
        processor, tuple(settings.items()), re.sub(_FEATURE, "", features) if features else ""
    )


def target_id(processor: str | None, features: Features) -> str:
    """The target as LLVM spells it, with the features that are on or off: `gfx90a:xnack-`."""
    settings = (("sramecc", features.sramecc), ("xnack", features.xnack))
    stated = [name + _SIGNS[setting] for name, setting in settings if setting in _SIGNS]
    return ":".join([processor or UNKNOWN_TARGET, *stated])


def parse_isa_version(text: str) -> TargetId | None:
    """The processor of `.hsa_code_object_isa` with these operands: `9,0,10,"AMD","AMDGPU"`."""
    numbers = re.match(_ISA, text)
    if not numbers:
        return None
    major, minor, stepping = map(int, numbers.groups())
    return parse_target_id(f"gfx{major}{minor:x}{stepping:x}")
