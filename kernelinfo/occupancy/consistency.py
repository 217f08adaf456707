"""Whether a table of targets.toml has the right types, and what in it cannot be true at once."""

from __future__ import annotations

import typing
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from kernelinfo.errors import TargetsError
from kernelinfo.occupancy.targets import Target


def check_types(kind: Any, value: Any, where: str) -> None:
    """Raises `TargetsError` unless `value` is a table for a row of that kind, a list of them, or a
    plain value of exactly that type.

    An optional kind is that kind: TOML has no None.
    """
    if NoneType in get_args(kind):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if hasattr(kind, "_fields"):
        if not isinstance(value, dict):
            raise TargetsError(f"{where}: a table was expected, not {value!r}")
        names = set(kind._fields)
        needed = names - kind._field_defaults.keys()
        if wrong := sorted((value.keys() - names) | (needed - value.keys())):
            raise TargetsError(f"{where}: missing or unknown: {', '.join(wrong)}")
        types = get_type_hints(kind, localns=vars(typing))
        for key, one in value.items():
            check_types(types[key], one, f"{where} {key}")
    elif get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TargetsError(f"{where}: a list was expected, not {value!r}")
        for one in value:
            check_types(get_args(kind)[0], one, where)
    elif get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise TargetsError(f"{where}: {value!r} is none of {get_args(kind)}")
    elif type(value) is not kind:
        raise TargetsError(f"{where}: {kind.__name__} was expected, not {value!r}")
    elif kind is str and not value.strip():
        raise TargetsError(f"{where}: is empty")


def contradictions(target: Target) -> list[str]:
    """What cannot be true at once in one table; empty when it makes sense."""
    files_by_size = {file.wave_size: file for file in target.vgprs}
    sgprs, lds = target.sgprs, target.lds
    checks = {
        "a VGPR granule does not divide its file": all(
            f.per_simd % f.granule == 0 == f.granule % f.encoding_granule for f in target.vgprs
        ),
        "an early encoding granule is none that was replaced": all(
            f.encoding_granule % (f.early_encoding_granule or f.encoding_granule) == 0
            and f.early_encoding_granule != f.encoding_granule
            for f in target.vgprs
        ),
        "a wave addresses more VGPRs than there are": all(
            f.addressable <= f.per_simd for f in target.vgprs
        ),
        "waves of 64 do not see half of what waves of 32 see": set(files_by_size) != {32, 64}
        or 2 * files_by_size[64].per_simd == files_by_size[32].per_simd,
        "the default wave size has no register file": target.waves.default_size in files_by_size,
        "a unified register file needs an offset granule": (target.agprs.file == "unified")
        == (target.agprs.offset_granule > 0),
        "a unified register file needs the most VGPRs and AGPRs of a wave": (
            target.agprs.file == "unified"
        )
        == (target.agprs.addressable > 0),
        "the SGPR granule does not fit the file": sgprs.per_simd % sgprs.granule == 0,
        "the LDS granule does not divide LDS": all(
            d.lds_bytes % lds.granule_bytes == 0 for d in target.domains
        ),
        "a workgroup may have more LDS than there is": lds.bytes_per_workgroup
        <= target.domains[0].lds_bytes,
        "a domain stands twice": len({d.per for d in target.domains}) == len(target.domains),
    }
    return [complaint for complaint, holds in checks.items() if not holds]
