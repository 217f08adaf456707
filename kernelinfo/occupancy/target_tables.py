"""The tables of targets.toml, one target's at a time: parsed by the wheel's build, or here."""

from __future__ import annotations

import marshal
import re
from functools import cache
from os.path import dirname, join
from typing import TYPE_CHECKING, Any
from zlib import crc32

from kernelinfo.errors import TargetsError
from kernelinfo.package_file import read_package_file

if TYPE_CHECKING:
    from kernelinfo.occupancy.targets import Domain, Lds, Target, Vgprs

_SOUGHT = ("elf_mach = ", "v2_name_with_xnack = ")


def are_parsed() -> bool:
    """Whether the wheel's build has parsed them, and refused what contradicts itself."""
    return bool(_parsed())


def names() -> tuple[str, ...]:
    """Of all targets, in the order of the file."""
    return tuple(_parsed()) or tuple(key for key in _sections(_text()) if "." not in key)


def table(name: str) -> dict[str, Any] | None:
    """The values of one target, shared topics included; None where it has no table. Only its own
    tables are parsed: the whole file would take longer than a small report."""
    if parsed := _parsed():
        found: dict[str, Any] | None = marshal.loads(parsed[name][1]) if name in parsed else None
        return found
    sections = _sections(_text())
    return _table(sections, name) if name in sections else None


def name_with(line: str) -> str | None:
    """The target in whose table that line stands, of those in `_SOUGHT`; None if there is none."""
    if parsed := _parsed():
        return next((name for name, (lines, _) in parsed.items() if line in lines), None)
    sections = _sections(_text())
    return next((name for name, text in sections.items() if f"\n{line}\n" in text), None)


def parse(toml: bytes) -> bytes:
    """All tables, as `marshal` has them; each can be read alone."""
    sections = _sections(toml.decode())
    parsed = {}
    for name, text in sections.items():
        if "." not in name:
            sought = [line for line in text.splitlines() if line.startswith(_SOUGHT)]
            # The format's last version without references, which are not the same in every build.
            parsed[name] = sought, marshal.dumps(_table(sections, name), 2)
    return marshal.dumps(parsed, 2)


def parsed_name(toml: bytes) -> str:
    """The file with the tables of just this text."""
    return f"targets-{crc32(toml):08x}.tables"


def check_types(kind: Any, value: Any, where: str) -> None:
    """Raises `TargetsError` unless `value` is a table for a row of that kind, a list of them, or a
    plain value of exactly that type.

    An optional kind is that kind: TOML has no None.
    """
    import typing

    if type(None) in typing.get_args(kind):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    if hasattr(kind, "_fields"):
        if not isinstance(value, dict):
            raise TargetsError(f"{where}: a table was expected, not {value!r}")
        names = set(kind._fields)
        needed = names - kind._field_defaults.keys()
        if wrong := sorted((value.keys() - names) | (needed - value.keys())):
            raise TargetsError(f"{where}: missing or unknown: {', '.join(wrong)}")
        types = typing.get_type_hints(kind, localns=vars(typing))
        for key, one in value.items():
            check_types(types[key], one, f"{where} {key}")
    elif typing.get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TargetsError(f"{where}: a list was expected, not {value!r}")
        for one in value:
            check_types(typing.get_args(kind)[0], one, where)
    elif typing.get_origin(kind) is typing.Literal:
        if value not in typing.get_args(kind):
            raise TargetsError(f"{where}: {value!r} is none of {typing.get_args(kind)}")
    elif type(value) is not kind:
        raise TargetsError(f"{where}: {kind.__name__} was expected, not {value!r}")
    elif kind is str and not value.strip():
        raise TargetsError(f"{where}: is empty")


def contradictions(target: Target) -> list[str]:
    """What cannot be true at once in one table; empty when it makes sense."""
    files, sgprs, lds, agprs = target.vgprs, target.sgprs, target.lds, target.agprs
    per_simd = {file.wave_size: file.per_simd for file in files}
    with_beliefs: tuple[Vgprs | Lds | Domain, ...] = (*files, lds, *target.domains)
    checks = {
        "a VGPR granule does not divide its file": all(
            f.per_simd % f.granule == 0 == f.granule % f.encoding_granule for f in files
        ),
        "an early encoding granule is none that was replaced": all(
            f.encoding_granule % (f.early_encoding_granule or f.encoding_granule) == 0
            and f.early_encoding_granule != f.encoding_granule
            for f in files
        ),
        "an early encoding granule needs the release that replaced it": all(
            (f.early_encoding_granule > 0) == (f.early_encoding_before > 0) for f in files
        ),
        "a wave addresses more VGPRs than there are": all(
            f.addressable <= f.per_simd for f in files
        ),
        "waves of 64 do not see half of what waves of 32 see": set(per_simd) != {32, 64}
        or 2 * per_simd[64] == per_simd[32],
        "the default wave size has no register file": target.waves.default_size in per_simd,
        "a unified register file needs an offset granule and the most VGPRs and AGPRs of a wave": (
            {agprs.offset_granule > 0, agprs.addressable > 0} == {agprs.file == "unified"}
        ),
        "the SGPR granule does not fit the file": sgprs.per_simd % sgprs.granule == 0,
        "the LDS granule does not divide LDS": all(
            d.lds_bytes % lds.granule_bytes == 0 for d in target.domains
        ),
        "a workgroup may have more LDS than there is": lds.bytes_per_workgroup
        <= target.domains[0].lds_bytes,
        "a domain stands twice": len({d.per for d in target.domains}) == len(target.domains),
        "a belief is about no field of its topic": all(
            belief.field in topic._fields for topic in with_beliefs for belief in topic.believed
        ),
    }
    return [complaint for complaint, holds in checks.items() if not holds]


@cache
def _sections(text: str) -> dict[str, str]:
    """The text of each target, by its name, and of each shared topic, by `topic.name`."""
    found: dict[str, str] = {}
    for part in re.split(r"(?m)^(?=\[)", text)[1:]:
        heading = part[: part.index("]")].strip("[")
        key = heading.partition(".")[0] if heading.startswith("gfx") else heading
        found[key] = found.get(key, "") + part
    return found


def _table(sections: dict[str, str], name: str) -> dict[str, Any]:
    """The values of one target; where it refers to a shared topic, those of the topic."""
    import tomllib

    own: dict[str, Any] = tomllib.loads(sections[name])[name]
    for topic, value in own.items():
        if isinstance(value, str) and (shared := sections.get(f"{topic}.{value}")):
            own[topic] = tomllib.loads(shared)[topic][value]
    return own


@cache
def _parsed() -> dict[str, tuple[list[str], bytes]]:
    """By the name of each target the lines that are sought and its table; empty in a checkout."""
    try:
        parsed: dict[str, Any] = marshal.loads(_data(parsed_name(_data("targets.toml"))))
    except OSError:
        return {}
    return parsed


@cache
def _text() -> str:
    return _data("targets.toml").decode()


def _data(name: str) -> bytes:
    return read_package_file(join(dirname(__file__), name))
