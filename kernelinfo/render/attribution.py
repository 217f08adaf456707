"""Texts that tell kernels of one name apart: target, library or member, constants, symbol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kernelinfo.kernel import Kernel
from kernelinfo.kernel.library import library_of, member_file
from kernelinfo.reading.target_id import target_id
from kernelinfo.render.names import printable

if TYPE_CHECKING:
    from kernelinfo.compare.summary import KernelSummary

    Named = Kernel | KernelSummary

BETWEEN = " · "
"""Text between a name and what tells it apart."""
_SEPARATOR = " › "


class KernelOrigin(NamedTuple):
    """The origin of a kernel in texts, to tell it apart from a namesake."""

    processor: str
    target: str
    library: str
    path: str
    member: str
    """File name of the innermost member; empty for a library's own code."""
    whole_member: str
    options: tuple[str, ...]
    """Constants and options of Triton: `BLOCK_M=128`."""
    symbol: str
    entry: str
    """The member with all that a container says of it, and its offset."""


_TIERS: tuple[tuple[Callable[[KernelOrigin], str], ...], ...] = (
    (lambda one: one.processor, lambda one: one.target),
    (lambda one: one.library,),
    (lambda one: one.member, lambda one: one.whole_member),
    (lambda one: " ".join(one.options),),
    (lambda one: one.symbol,),
    (lambda one: one.path,),
    (lambda one: one.entry,),
)
"""Texts in the order in which they are tried; of a tier the shortest that tells the most apart."""


def attributed(kernels: Sequence[Named], names: Mapping[str, str]) -> list[str]:
    """The name of each kernel, with the text that tells it apart; see `attributed_rows`."""
    return attributed_rows([[kernel] for kernel in kernels], names)


def attributed_rows(
    rows: Sequence[Sequence[Named]], names: Mapping[str, str], *, targets: bool = True
) -> list[str]:
    """The name of each row of kernels, with the text that tells it apart from rows of that name.

    `names` maps symbols to names; the kernels of a row have one symbol. Added are, in this order
    and only as needed, the target with features, the library or member, constants and options of
    Triton, and the symbol: `gemm · gfx90a:xnack+ · libfoo.so`. Without `targets` the target is not
    added, as in tables that have a column for it.
    """
    groups = defaultdict[str, list[int]](list)
    texts = [names[row[0].symbol] for row in rows]
    for index, text in enumerate(texts):
        groups[text].append(index)
    for group in groups.values():
        if group[1:]:
            apart = _apart([_shared(rows[index]) for index in group], targets)
            for index, more in zip(group, apart, strict=True):
                texts[index] = BETWEEN.join((texts[index], *map(printable, more)))
    return texts


def _apart(origins: Sequence[KernelOrigin], targets: bool) -> list[tuple[str, ...]]:
    """The texts that tell each origin apart from the others."""
    shared = set(origins[0].options).intersection(*(one.options for one in origins))
    origins = [
        one._replace(options=tuple(option for option in one.options if option not in shared))
        for one in origins
    ]
    known: list[tuple[str, ...]] = [()] * len(origins)
    told = known
    for number, tier in enumerate(_TIERS):
        tried = [[*map(of, origins)] for of in tier]
        texts = max(tried, key=lambda texts: len({*zip(known, texts, strict=True)}))
        more = [(*so_far, text) for so_far, text in zip(known, texts, strict=True)]
        if len({*more}) == len({*known}):
            continue
        known = more
        if targets or number:
            told = [(*so_far, text) for so_far, text in zip(told, texts, strict=True)]
    return [tuple(filter(None, one)) for one in told]


def _shared(row: Sequence[Named]) -> KernelOrigin:
    """The origin of a row. A text that differs within it is the first and the number of others."""
    origins = list(dict.fromkeys(map(_origin, row)))
    if not origins[1:]:
        return origins[0]
    texts = {
        field: [*dict.fromkeys(getattr(origin, field) for origin in origins)]
        for field in KernelOrigin._fields
        if field != "options"
    }
    some = {
        name: f"{of[0]} + {len(of) - 1} more" if of[1:] else of[0] for name, of in texts.items()
    }
    return KernelOrigin(options=(), **some)


def _origin(kernel: Named) -> KernelOrigin:
    if not isinstance(kernel, Kernel):
        path, _, member = kernel.code_object.partition(_SEPARATOR)
        processor, target, offset = kernel.processor, kernel.target, ""
        options: tuple[str, ...] = ()
    else:
        origin = kernel.code_object
        path, member = origin.path, origin.member or ""
        processor, target = origin.target or "?", target_id(origin.target, origin.features)
        options = tuple(f"{name}={value}" for name, value in origin.options)
        offset = f"at 0x{origin.offset:x}" if origin.offset else ""
    file = member_file(member)
    return KernelOrigin(
        processor=processor,
        target=target,
        library=library_of(path) if path else "",
        path=path,
        member=file.rpartition("/")[2],
        whole_member=file,
        options=options,
        symbol=kernel.symbol,
        entry=f"{member} {offset}".strip(),
    )
