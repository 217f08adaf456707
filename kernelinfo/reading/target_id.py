"""Processor and features from the spellings of a target; the compiler from its version strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kernelinfo.errors import OptionError
from kernelinfo.hardware import products, targets
from kernelinfo.hardware.targets import Target
from kernelinfo.reading.data import integer
from kernelinfo.reading.facts import Features, Setting
from kernelinfo.reading.messages import say

# Not compiled at import: one module needs few of these, and each takes 0.1 ms to compile.
_PROCESSOR = r"gfx[0-9a-f]+(?:-[0-9]+)*(?:-generic|-strict)?(?=$|[:+])"
_VERSION = r"(?:^|-)amdgpu(\d{1,2})\.(\d[0-9a-f])-"
"""Processor in the triple itself, as LLVM 24 spells it: amdgpu9.0a."""
_FEATURE = r":(\w+)([+-])|\+([\w-]+)"
_FEATURES = ("sramecc", "xnack")
_ISA = r'\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*"AMD"'

UNKNOWN_TARGET = "unknown"
_SIGNS: dict[str | None, str] = {"on": "+", "off": "-"}


class TargetId(NamedTuple):
    """A processor, for example gfx90a, and the features that its spelling names."""

    processor: str
    settings: tuple[tuple[str, Setting], ...] = ()
    odd: str = ""  # text after the processor that is not a feature

    @property
    def hardware(self) -> Target | None:
        """Hardware facts of the processor; None for an unknown one."""
        return targets.find(self.processor) if self.processor in targets.known() else None

    def features(self, code_object_version: int | None) -> Features:
        """Settings of all features, named in the spelling or not.

        An unnamed feature is `off` up to code object v3. From v4 on it is `any`, or `unsupported`
        if the processor lacks it. It is None if version and processor do not determine it.
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


def parse_target_id(text: str) -> TargetId | None:
    """Processor and features at the end of a target id, a target triple or a bundle entry's id.

    None without a processor. Spellings (AMDGPUUsage, "Target ID"): `gfx90a:sramecc+:xnack-` from
    code object v4 on, `gfx906+sram-ecc` in v3; with or without a prefix such as
    `amdgcn-amd-amdhsa--` or `amdgpu9.42-amd-amdhsa-unknown-`.
    """
    match = re.search(_PROCESSOR, text.strip())
    if not match:
        named = re.search(_VERSION, text)
        return parse_target_id("gfx" + "".join(named.groups())) if named else None
    settings: dict[str, Setting] = {}
    features = text.strip()[match.end() :]
    for name, sign, old_name in re.findall(_FEATURE, features):
        settings[name or old_name.replace("-", "")] = "off" if sign == "-" else "on"
    processor = match[0]
    if target := targets.by_v2_name(processor):
        processor, settings["xnack"] = target.name, "on"
    return TargetId(processor, tuple(settings.items()), odd=re.sub(_FEATURE, "", features))


def target_id(processor: str | None, features: Features) -> str:
    """Target id as LLVM spells it, with the features that are on or off: `gfx90a:xnack-`."""
    settings = (("sramecc", features.sramecc), ("xnack", features.xnack))
    stated = [name + _SIGNS[setting] for name, setting in settings if setting in _SIGNS]
    return ":".join([processor or UNKNOWN_TARGET, *stated])


def named_target_id(text: str) -> str:
    """The target id of a target or product, with the features that the user names: `gfx906:xnack+`.

    Raises `KernelinfoError` for an unknown name, and `OptionError` for a feature that the target
    does not have.
    """
    name, colon, features = text.strip().partition(":")
    target = products.target_named(name)
    settings = dict(re.findall(r":(\w+)([+-])", colon + features.lower()))
    supported = [feature for feature in _FEATURES if getattr(target, feature) is not False]
    odd = re.sub(r":\w+[+-]", "", colon + features)
    if odd or not settings.keys() <= {*supported}:
        has = " and ".join(
            say("target-feature-spellings", feature=feature) for feature in supported
        ) or say("target-without-features")
        raise OptionError(say("target-feature-unknown", text=text, target=target.name, has=has))
    stated = [feature + settings[feature] for feature in supported if feature in settings]
    return ":".join([target.name, *stated])


def runs_on(code: str, target: str) -> bool:
    """True if code for the target id `code` runs on devices of the target id `target`.

    A device runs code for its own processor, and for a generic one that contains it. For each
    setting that `target` states, the code's setting has to be the same or `any`. Source:
    AMDGPUUsage, "Target ID" and "Generic Processors"; ROCR, isa.cpp, `Isa::IsCompatible`.
    """
    if code == target:
        return True
    compiled, device = parse_target_id(code), parse_target_id(target)
    if compiled is None or device is None:
        return False
    members = compiled.hardware.members if compiled.hardware else ()
    if device.processor not in (compiled.processor, *members):
        return False
    settings = dict(compiled.settings)
    return all(settings.get(name, setting) == setting for name, setting in device.settings)


def parse_isa_version(text: str) -> TargetId | None:
    """Processor in the operands of `.hsa_code_object_isa`, such as `9,0,10,"AMD","AMDGPU"`; None
    if they have another form."""
    numbers = re.match(_ISA, text)
    if not numbers:
        return None
    return isa_version(*map(int, numbers.groups()))


def isa_version(major: int, minor: int, stepping: int) -> TargetId | None:
    """Processor of an ISA version: 9, 0, 10 is gfx90a. None for a major version of 100 or more."""
    return parse_target_id(f"gfx{major}{minor:x}{stepping:x}") if major < 100 else None


_LINKER = "Linker:"
_STAMP_VERSION = re.compile(r"version (\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_RELEASE = re.compile(r"\broc-(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
# AMD's compiler is an "AMD clang"; the bitcode libraries of its releases lack the vendor.
_DEVICE_LIBRARY = re.compile(r"clang version .*RadeonOpenCompute/llvm-project roc-")


def distinct(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps stripped of blanks, sorted, without repeats or empty ones.

    Linkers repeat and order stamps as they like.
    """
    return tuple(sorted({stamp.strip() for stamp in stamps} - {""}))


def compilers(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps of compilers: all but the linker's."""
    return tuple(stamp for stamp in stamps if not stamp.startswith(_LINKER))


def makers(stamps: Iterable[str]) -> tuple[str, ...]:
    """The stamps of compilers that may have made the kernels.

    Leaves out AMD's device libraries, which are linked as bitcode with their own compiler's stamp.
    """
    return tuple(stamp for stamp in compilers(stamps) if not _DEVICE_LIBRARY.match(stamp))


def is_of_clang(stamp: str) -> bool:
    """True for the stamp of a clang, AMD's included."""
    return "clang version " in stamp


def compiler_of(stamps: tuple[str, ...]) -> str | None:
    """Stamp of the compiler that made the kernels; None without a compiler's stamp.

    The newest one is taken: no LLVM reads the bitcode of a newer LLVM.
    """
    return max(makers(stamps), key=_age, default=None)


def _age(stamp: str) -> tuple[list[int], list[int], str]:
    """Sort key: newest compiler last; ties by text."""
    return _numbers(_STAMP_VERSION.search(stamp)), _numbers(_RELEASE.search(stamp)), stamp


def _numbers(version: re.Match[str] | None) -> list[int]:
    return [integer(number) for number in version.groups()] if version else []
