"""What the table of hardware facts tells users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

MESSAGES = {
    "device-no-product": "no known product",
    "device-several": "{name} is {several}; name one product",
    "device-unknown": "unknown device {name!r}; {hint}",
    "device-other-target": "{product} is {target}, not {arch}; leave --arch out",
    "devices-listed": "`kernelinfo arch` lists targets and products",
    "target-not-given": "no target is named; give --arch or --device",
    "target-wave-size": "{target}: no waves of {lanes} lanes",
    "targets-contradiction": "{where}: {error}",
    "targets-no-table": "{where}: a table was expected, not {value!r}",
    "targets-keys": "{where}: missing or unknown: {names}",
    "targets-no-list": "{where}: a list was expected, not {value!r}",
    "targets-choice": "{where}: {value!r} is none of {choices}",
    "targets-type": "{where}: {kind} was expected, not {value!r}",
    "targets-empty": "{where}: is empty",
    "device-nvidia": "{name} is an NVIDIA target; name an AMD one, such as gfx942 or MI300X",
    "target-with-features": (
        "{name} is a target with features; give {processor}. --target {name} chooses kernels by "
        "features"
    ),
}

say = wording(MESSAGES)
