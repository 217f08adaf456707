"""What the table of hardware facts tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    # Targets.
    "target-not-given": "no target is named; give --arch or --device",
    "target-with-features": (
        "{name} includes features, but only {processor} is expected here; choose kernels by "
        "features with --target {name}"
    ),
    "target-wave-size": "{target}: no waves of {lanes} lanes",
    # Products.
    "device-unknown": "unknown device {name!r}; {hint}",
    "devices-listed": "`kernelinfo arch` lists targets and products",
    "device-several": "{name} is {several}; name one product",
    "device-no-product": "no known product",
    "device-other-target": "{product} is {target}, not {arch}; drop --arch",
    "device-nvidia": "{name} is NVIDIA's; name an AMD target or product, such as gfx942 or MI300X",
    # targets.toml.
    "targets-contradiction": "{where}: {error}",
    "targets-no-table": "{where}: expected a table, not {value!r}",
    "targets-keys": "{where}: missing or unknown keys: {names}",
    "targets-no-list": "{where}: expected a list, not {value!r}",
    "targets-choice": "{where}: {value!r} is not one of {choices}",
    "targets-type": "{where}: expected {kind}, not {value!r}",
    "targets-empty": "{where}: is empty",
}

say = wording(MESSAGES)
