"""What each command writes its answers by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

Renderer = Callable[..., Iterator[str]]


def outputs(command: str) -> Mapping[str, Renderer]:
    """Format -> function, as the command lists them: the only module that `command` names."""
    found: Mapping[str, Renderer] = import_module(f"kernelinfo.cli.{command}").OUTPUTS
    return found
