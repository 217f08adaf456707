"""Products by name, and the targets that run the same code."""

from __future__ import annotations

import re

from kernelinfo.errors import OptionError, did_you_mean, or_list
from kernelinfo.hardware import targets
from kernelinfo.hardware.messages import say
from kernelinfo.hardware.targets import Device, Target

_MOST_NAMED = 3  # products in a suggestion


def find(name: str) -> tuple[Target, Device]:
    """(target, product) by the name of a product, or of a gfx target with one product.

    Case, blanks and words such as Radeon do not count: `7900 xtx` is the RX 7900 XTX. `MI250` means
    one of its dies, as it does to the runtime. Raises `OptionError` if no product or several match.
    """
    products = {
        device.name: (target, device)
        for target in map(targets.find, targets.known())
        for device in target.devices
    }
    word = name.strip().casefold()
    for spelled in (str.casefold, _plain):
        for spelling, pair in products.items():
            if spelled(word) in (spelled(spelling), spelled(spelling.removesuffix(" GCD"))):
                return pair
    if word in targets.known():
        of_target = targets.find(word).devices
        if len(of_target) == 1:
            return targets.find(word), of_target[0]
        several = ", ".join(device.name for device in of_target) or say("device-no-product")
        raise OptionError(say("device-several", name=name, several=several))
    if re.fullmatch(_NVIDIA, word):
        raise OptionError(say("device-nvidia", name=name))
    plain = _plain(word)
    begun = [product for product in products if plain and _plain(product).startswith(plain)]
    hint = or_list(begun[:_MOST_NAMED]) if begun else did_you_mean(word, products)
    hint = hint or say("devices-listed")
    raise OptionError(say("device-unknown", name=name, hint=hint))


_NVIDIA = (
    r"(sm|compute)_\d\w*|(nvidia|geforce|tesla|quadro|jetson|rtx|gtx|dgx)[\s\w-]*"
    r"|(h(20|100|200|800)|a(2|10|16|30|40|100|800|[456]000)|v100|b[123]00|l4|l40s?|t4|p40|p100|k80"
    r"|g[hb][23]00)([\s_-][\s\w-]*)?"
)
"""Pattern for the names of NVIDIA's targets, brands, and products that clouds rent out."""


def _plain(name: str) -> str:
    """The name for a comparison: without case, blanks and brand words."""
    words = re.sub(r"\b(amd|instinct|radeon|rx|ai|pro|graphics)(?=[\s\d]|$)", " ", name.casefold())
    return re.sub(r"[\s_-]", "", words)


def names() -> list[str]:
    """The names of all products."""
    return [
        device.name for target in map(targets.find, targets.known()) for device in target.devices
    ]


def target_named(name: str) -> Target:
    """The target by its own name or a product's name, in any case. Raises `KernelinfoError`."""
    if name.lower().startswith("gfx"):
        name = name.lower()
    processor, features, _ = name.partition(":")
    if features and processor in targets.known():
        raise OptionError(say("target-with-features", name=name, processor=processor))
    if name.startswith("gfx") or name in targets.known():
        return targets.find(name)
    return find(name)[0]


def choose(arch: str | None, device: str | None) -> tuple[Target, Device | None]:
    """(target, product) for the given names; the product is None without `device`.

    With a generic `arch` and a `device` the target is the device's. Raises `OptionError` if the
    names contradict each other or both are None."""
    if device is None:
        if arch is None:
            raise OptionError(say("target-not-given"))
        return targets.find(arch), None
    target, product = find(device)
    if arch is not None and not runs_on(targets.find(arch), target):
        raise OptionError(
            say("device-other-target", product=product.name, target=target.name, arch=arch)
        )
    return target, product


def runs_on(compiled: Target, target: Target) -> bool:
    """True if code for `compiled` runs on `target` unchanged."""
    return target.name in (compiled.name, *compiled.members)
