"""The rows of targets.toml that the page's own occupancy model reads."""

from __future__ import annotations

from typing import Any

from kernelinfo.occupancy import targets

_NOT_COUNTED = {
    *("source", "confidence", "elf_mach", "encoding_granule", "early_encoding_granule"),
    *("early_encoding_before", "believed", "xnack", "sramecc", "named_barriers"),
    *("v2_name_with_xnack", "with_vcc", "with_xnack", "with_flat_scratch"),
    *("architected_flat_scratch", "dynamic_blocks", "default_size", "devices"),
}
"""Fields of a target that occupancy does not depend on, or that the demand already holds."""


def hardware() -> dict[str, Any]:
    """Every known target by its name, as JSON values under the names of its fields."""
    return {name: _row(targets.find(name)) for name in targets.known()}


def _row(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        fields = value._asdict().items()
        return {name: _row(field) for name, field in fields if name not in _NOT_COUNTED}
    return [_row(item) for item in value] if isinstance(value, tuple) else value
