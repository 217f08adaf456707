"""Names of kernels in output, without control characters, and what tells equal ones apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kernelinfo.kernel import Kernel, grouped
from kernelinfo.kernel.code_object import library_of, member_file
from kernelinfo.kernel.names import parameters, short
from kernelinfo.reading.target_id import target_id
from kernelinfo.render.paint import Span, cells, folded, wrap
from kernelinfo.render.paint import printable as printable

if TYPE_CHECKING:
    from kernelinfo.compare.summary import KernelSummary
    from kernelinfo.kernel.names import KernelName
    from kernelinfo.render import NameStyle, View
    from kernelinfo.variants.nouns import SweptKernel

    Named = Kernel | KernelName | KernelSummary | SweptKernel
    Attributed = Kernel | KernelSummary


_T = TypeVar("_T")


def member_path(path: str, member: str | None) -> str:
    """Printable path of a file or a member in it: `libapp.so › kernel.co`."""
    return printable(f"{path} › {member}" if member else path)


def name_of(kernel: Named, style: NameStyle) -> str:
    """Printable name of a kernel in this style: short, full or mangled."""
    return printable(chosen_name(kernel, style))


def chosen_name(kernel: Named, style: NameStyle) -> str:
    """A kernel's name in this style, not escaped; see `name_of` for the escaped one."""
    if style == "mangled":
        return kernel.symbol
    is_short = style == "short" and kernel.name != kernel.symbol
    return short(kernel.name) if is_short else kernel.name


def names_of(kernels: Iterable[Named], style: NameStyle) -> Mapping[str, str]:
    """Symbol → printable name. Equal short names get more text until they differ: parameters up to
    the first that differs, else the full name, else the mangled one."""
    by_symbol = {kernel.symbol: kernel for kernel in kernels}
    names = {symbol: name_of(kernel, style) for symbol, kernel in by_symbol.items()}
    if style != "short":
        return names
    for equal in _equal(names):
        cpp = {
            symbol: by_symbol[symbol].name for symbol in equal if by_symbol[symbol].name != symbol
        }
        names |= _with_parameters(cpp)
    for fuller in ("full", "mangled"):
        for equal in _equal(names):
            names |= {symbol: name_of(by_symbol[symbol], fuller) for symbol in equal}
    return names


def heading(name: str, about: str, view: View) -> Iterator[list[Span]]:
    """Lines with a name and its description: one line, or more on a narrow terminal."""
    if view.fold and cells(name) + 3 + cells(about) > view.width:
        yield from ([(line, "bold")] for line in folded(name, view.width, 2))
        yield from wrap([(f"   {about}", "")], view.width, 3)
    else:
        yield [(name, "bold"), (f"   {about}", "")]


def _equal(names: Mapping[_T, str]) -> Iterator[list[_T]]:
    """Groups of two or more keys with equal names."""
    groups = defaultdict(list)
    for key, name in names.items():
        groups[name].append(key)
    return (keys for keys in groups.values() if len(keys) > 1)


def _with_parameters(names: Mapping[str, str]) -> dict[str, str]:
    lists = {symbol: parameters(name) for symbol, name in names.items()}
    longest = max(map(len, lists.values()), default=0)
    count = next(
        (n for n in range(1, longest) if len({each[:n] for each in lists.values()}) == len(lists)),
        longest,
    )
    shown = {
        symbol: ", ".join([*all[:count], *["…"] * (len(all) > count)])
        for symbol, all in lists.items()
    }
    return {symbol: printable(f"{short(name)}({shown[symbol]})") for symbol, name in names.items()}


BETWEEN = " · "
"""Text between a name and what tells it apart."""
_SEPARATOR = " › "


class KernelOrigin(NamedTuple):
    """The origin of a kernel in words, to distinguish it from namesakes."""

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
    code: str
    """Code size of a kernel with Triton options, `code 1 924 B`: its path is only a hash."""
    entry: str
    """The member with all that a container says of it, and its offset."""


_TIERS = (
    ("processor", "target"),
    ("library",),
    ("member", "whole_member"),
    ("options",),
    ("symbol",),
    ("code",),
    ("path",),
    ("entry",),
)
"""Tiers of fields, in the order in which they are tried. A tier adds the field that tells the most
kernels apart; among equally good ones the first, which is the shortest."""


def attributed(kernels: Sequence[Attributed], names: Mapping[str, str]) -> list[str]:
    """A distinct name for each kernel; `names` maps symbols to names."""
    return told_apart(
        [[kernel] for kernel in kernels], [names[kernel.symbol] for kernel in kernels]
    )


def told_apart(
    rows: Sequence[Sequence[Attributed]], called: Sequence[str], *, targets: bool = True
) -> list[str]:
    """The text of each row of kernels, extended where several rows have the same text.

    The fields of `_TIERS` are added in their order, and only as needed: the target with features,
    the library, the member, Triton's constants and options, the symbol, code size, path and entry:
    `gemm · gfx90a:xnack+ · libfoo.so`. Without `targets` the target is not added, as in tables that
    have a column for it.
    """
    texts = [*called]
    for group in _equal(dict(enumerate(called))):
        apart = _apart([_shared(rows[index]) for index in group], targets)
        for index, additions in zip(group, apart, strict=True):
            texts[index] = BETWEEN.join((texts[index], *map(printable, additions)))
    return texts


def _apart(origins: Sequence[KernelOrigin], targets: bool) -> list[tuple[str, ...]]:
    """For each origin, the texts that tell it from the others."""
    shared = set(origins[0].options).intersection(*(origin.options for origin in origins))
    options = [
        " ".join(option for option in origin.options if option not in shared) for origin in origins
    ]
    fields = [
        origin._asdict() | {"options": words}
        for origin, words in zip(origins, options, strict=True)
    ]
    distinct: list[tuple[str, ...]] = [()] * len(origins)
    shown = distinct
    for number, tier in enumerate(_TIERS):
        tried = [[texts[field] for texts in fields] for field in tier]
        texts = max(tried, key=lambda texts: len({*zip(distinct, texts, strict=True)}))
        longer = [(*so_far, text) for so_far, text in zip(distinct, texts, strict=True)]
        if len({*longer}) == len({*distinct}):
            continue
        if tier == ("path",):  # it tells little: a folder, or a hash
            alike = Counter(distinct)
            texts = [
                text if alike[so_far] > 1 else ""
                for so_far, text in zip(distinct, texts, strict=True)
            ]
        distinct = longer
        if targets or number:
            shown = [(*so_far, text) for so_far, text in zip(shown, texts, strict=True)]
    return [tuple(filter(None, parts)) for parts in shown]


def _shared(row: Sequence[Attributed]) -> KernelOrigin:
    """The origin that a row of several kernels shows. A text that differs between them is written
    as the first text and the number of others."""
    origins = list(dict.fromkeys(map(_origin, row)))
    if not origins[1:]:
        return origins[0]
    fields = (field for field in KernelOrigin._fields if field != "options")
    texts = {field: several(getattr(origin, field) for origin in origins) for field in fields}
    common = set(origins[0].options).intersection(*(origin.options for origin in origins))
    options = tuple(option for option in origins[0].options if option in common)
    return KernelOrigin(options=options, **texts)


def several(texts: Iterable[str]) -> str:
    """The first of different texts and the number of the others: `libfoo.so + 7 more`."""
    first, *rest = dict.fromkeys(texts)
    return f"{first} + {len(rest)} more" if rest else first


def _origin(kernel: Attributed) -> KernelOrigin:
    if not isinstance(kernel, Kernel):
        path, _, member = kernel.code_object.partition(_SEPARATOR)
        processor, target, offset = kernel.processor, kernel.target, ""
        options, code_bytes = kernel.options, kernel.numbers.code_bytes
    else:
        origin = kernel.code_object
        path, member = origin.path, origin.member or ""
        processor, target = origin.target or "?", target_id(origin.target, origin.features)
        options, code_bytes = origin.options, kernel.code_bytes
        offset = f"at 0x{origin.offset:x}" if origin.offset else ""
    file = member_file(member)
    return KernelOrigin(
        processor=processor,
        target=target,
        library=library_of(path) if path else "",
        path=path,
        member=file.rpartition("/")[2],
        whole_member=file,
        options=tuple(f"{name}={value}" for name, value in options),
        symbol=kernel.symbol,
        code=f"code {grouped(code_bytes)} B" if options and code_bytes else "",
        entry=f"{member} {offset}".strip(),
    )
