"""Read which processor a module is for, as the many spellings of a target say it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kernelinfo.occupancy import targets
from kernelinfo.occupancy.targets import Target
from kernelinfo.reading.facts import Features, Setting

# Few of these are needed for one module, and each takes 0.1 ms to compile.
_PROCESSOR = r"gfx[0-9a-f]+(?:-[0-9]+)*(?:-generic|-strict)?(?=$|[:+])"
_VERSION = r"(?:^|-)amdgpu(\d{1,2})\.(\d[0-9a-f])-"
"""The processor in the triple itself, as LLVM 24 spells it: amdgpu9.0a."""
_FEATURE = r":(\w+)([+-])|\+([\w-]+)"
_ISA = r'\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*"AMD"'

UNKNOWN_TARGET = "unknown"
_SIGNS: dict[str | None, str] = {"on": "+", "off": "-"}


class TargetId(NamedTuple):
    """A processor, for example gfx90a, and the features that were spelled out."""

    processor: str
    settings: tuple[tuple[str, Setting], ...] = ()
    odd: str = ""  # what stands behind the processor and is no feature

    @property
    def hardware(self) -> Target | None:
        """The facts of the processor; None where it is not known."""
        return targets.find(self.processor) if self.processor in targets.known() else None

    def features(self, code_object_version: int | None) -> Features:
        """All features; what an absent one means depends on the code object version.

        Up to v3 it is off. From v4 on the code runs with any setting, where there is one. Where
        version or processor do not tell, it stays None.
        """
        target = self.hardware

        def setting(name: str, supported: bool | None) -> Setting | None:
            stated = dict(self.settings)
            if name in stated:
                return stated[name]
            if code_object_version is not None and code_object_version < 4:
                return "off"
            if supported:
                return None if code_object_version is None else "any"
            return None if supported is None else "unsupported"

        xnack, sramecc = (target.xnack, target.sramecc) if target else (None, None)
        return Features(setting("xnack", xnack), setting("sramecc", sramecc))


@lru_cache(maxsize=1 << 10)  # all files of a build are for a few targets
def parse_target_id(text: str) -> TargetId | None:
    """The processor that ends `text`: a target id, a target triple or a bundle entry's id.

    Spellings are those of AMDGPUUsage, "Target ID": `gfx90a:sramecc+:xnack-` (code object v4 on),
    `gfx906+sram-ecc` (v3), behind `amdgcn-amd-amdhsa--`, `amdgpu9.42-amd-amdhsa-unknown-` and the
    like. None when there is no processor.
    """
    found = re.search(_PROCESSOR, text.strip())
    if not found:
        named = re.search(_VERSION, text)
        return parse_target_id("gfx" + "".join(named.groups())) if named else None
    settings: dict[str, Setting] = {}
    features = text.strip()[found.end() :]
    for name, sign, old_name in re.findall(_FEATURE, features):
        settings[name or old_name.replace("-", "")] = "off" if sign == "-" else "on"
    processor = found[0]
    if target := targets.by_v2_name(processor):
        processor, settings["xnack"] = target.name, "on"
    return TargetId(processor, tuple(settings.items()), odd=re.sub(_FEATURE, "", features))


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
    return isa_version(*map(int, numbers.groups()))


def isa_version(major: int, minor: int, stepping: int) -> TargetId | None:
    """The processor of an ISA version: 9, 0, 10 is gfx90a. None if its numbers are out of range."""
    return parse_target_id(f"gfx{major}{minor:x}{stepping:x}") if major < 100 else None
