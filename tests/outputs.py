"""What each command writes its answers by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

Renderer = Callable[..., Iterator[str]]


def outputs(command: str) -> Mapping[str, Renderer]:
    """Format -> function, as the module of the command lists them."""
    module = import_module(f"kernelinfo.cli.{'fleet' if command == 'trend' else command}")
    renderers: Mapping[str, Renderer] = module.OUTPUTS
    return renderers
