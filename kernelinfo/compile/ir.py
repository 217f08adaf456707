"""LLVM IR: files, kernels in them, and their function attributes, read and changed.

Only text as LLVM prints it is changed: one line per definition, function attributes in groups (LLVM
AsmWriter.cpp, `AssemblyWriter::printFunction` and `writeAllAttributeGroups`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kernelinfo.compile import ASSEMBLY_OF
from kernelinfo.compile.messages import say
from kernelinfo.errors import Message, ReadError
from kernelinfo.opening import open_regular


class Compiled(NamedTuple):
    """A source compiled for one target, or the compiler's error."""

    path: str  # of the source, as the user wrote it
    target: str
    command: tuple[str, ...]  # the command that compiled the source, without its output
    messages: str  # the compiler's standard error
    assembly: bytes = b""  # empty if it failed, or IR alone was made
    dependencies: tuple[str, ...] = ()
    """Absolute paths: the source, its headers, and where a missing header would be found."""
    error: Message | None = None  # `path: what was found; what to do`
    driver: str = ""  # whose LLVM options it has, `clang` or `hipcc`; empty if it is not known

    def __repr__(self) -> str:
        return f"Compiled({self.path!r}, {self.target!r}, {len(self.assembly)} bytes)"


_MOST_BYTES = 1 << 30
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""Raw bitcode, and the wrapper header of some Apple tools (LLVM BitCodeFormat)."""
_TEXT = rb"(?m)^(?:define|target|@|; ModuleID)"
_PRODUCER = re.compile(rb"(?:AMD )?clang version \d+(?:\.\d+)*(?:git)?")
"""The compiler in `!llvm.ident`. Bitcode, too, has it as plain bytes (LLVM METADATA_STRINGS)."""
TRIPLES = ("amdgcn-amd-amdhsa", "amdgcn-amd-amdpal", "amdgcn-mesa-mesa3d")
"""Triples of AMD GPU runtimes (LLVM AMDGPUUsage, "Target Triples").

Compilers are called with one of these, never with the spelling in the IR.
"""
SPELLINGS = (*TRIPLES, "amdgcn", "amdgcn-unknown-amdhsa", "amdgcn-amd-amdhsa-llvm")
"""Triples to try for bitcode: only a compiler can read the triple that it states."""
_ARCHITECTURE = re.compile(r"amdgcn|amdgpu\d\w*(\.\w+)*")  # amdgpu9.42: LLVM 24
_VENDORS = ("", "amd", "mesa", "unknown")
_SYSTEMS = {"": 0, "unknown": 0, "amdhsa": 0, "amdpal": 1, "mesa3d": 2}  # indices into TRIPLES


class Input(NamedTuple):
    """An IR file in memory, or the IR of a source."""

    path: str  # path of the IR file or the source
    data: bytes
    compiled: Compiled | None = None  # the source as assembly, from the same compiler and flags
    command: tuple[str, ...] = ()  # that compiled the source to this IR

    def __repr__(self) -> str:
        return f"Input({self.path!r}, {len(self.data)} bytes)"

    @property
    def is_optimised(self) -> bool:
        """True for Triton's `.llir`: LLVM has optimised it, and only code generation is left."""
        return self.path.endswith(".llir")

    @property
    def assembly(self) -> str:
        """Path of the assembly that the same compilation may have written; it need not exist."""
        stem, suffix = os.path.splitext(self.path)
        return stem + ASSEMBLY_OF.get(suffix, ".s")

    @property
    def producer(self) -> str | None:
        """The compiler that made the IR, `clang version 22.1.8`; None if it does not say."""
        stamp = _PRODUCER.search(self.data)
        return stamp[0].decode("ascii") if stamp else None


def read_input(path: str) -> Input:
    """The IR file at `path`. Raises `ReadError` if it cannot be read or is not LLVM IR."""
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ReadError(
            say("ir-unreadable", path=path, error=getattr(error, "strerror", None) or error)
        ) from None
    return as_input(path, data)


def as_input(path: str, data: bytes) -> Input:
    """The bytes of a file as an input. Raises `ReadError` if they are not LLVM IR."""
    wrong: Message | None = None
    if not data:
        wrong = say("ir-empty")
    elif len(data) > _MOST_BYTES:
        wrong = say("ir-too-large", most=_MOST_BYTES)
    elif not data.startswith(_BITCODE) and (b"\0" in data or not re.search(_TEXT, data)):
        wrong = say("ir-no-llvm")
    if wrong:
        raise ReadError(say("ir-malformed", path=path, error=wrong))
    return Input(path, data)


_DEFINITION = re.compile(r'^define ((?:[^\n"@]|"[^"\n]*")*)@("[^"\n]*"|[-\w$.]+)\(.*$', re.M)
_GROUP = re.compile(r"^attributes #(\d{1,9}) = \{(.*)\}$", re.M)
_QUOTED = re.compile(r'"[^"]*"')
_REFERENCE = re.compile(r" #(\d{1,9})(?= )")
_BEFORE_ATTRIBUTES = re.compile(r"(?: (?:local_)?unnamed_addr)?(?: addrspace\(\d+\))?")
_FEATURES = ("sramecc", "xnack")  # of a target id, in its order (AMDGPUUsage, "Target ID")


class IrKernel(NamedTuple):
    """A kernel and the place of its attribute reference."""

    symbol: str
    group: int | None  # number of its attribute group; None if it has none
    start: int
    end: int  # the reference ` #0` is `text[start:end]`; empty at its place without a group


def definitions(text: str) -> Iterator[IrKernel]:
    """The kernels of a module, in order."""
    for match in _kernels(text):
        line = _masked(match[0])
        after = _end_of_parameters(line, match.end(2) - match.start())
        reference = _REFERENCE.search(line, after)
        if reference:
            group, start, end = int(reference[1]), reference.start(), reference.end()
        else:
            before = _BEFORE_ATTRIBUTES.match(line, after)
            group, start = None, before.end() if before else after
            end = start
        yield IrKernel(_symbol(match[2]), group, match.start() + start, match.start() + end)


def _kernels(text: str) -> Iterator[re.Match[str]]:
    """Lines that define kernels. Group 1 is the text before the name, group 2 the name."""
    return (m for m in _DEFINITION.finditer(text) if "amdgpu_kernel" in m[1].split())


def _end_of_parameters(line: str, start: int) -> int:
    """Position after the parenthesis that closes the first one at or after `start`."""
    depth = 0
    for bracket in re.finditer(r"[()]", line[start:]):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return start + bracket.end()
    return len(line)


def _symbol(written: str) -> str:
    r"""The symbol of a name as IR writes it, plain or quoted with escapes as `\22`."""
    if not written.startswith('"'):
        return written
    data = re.sub(
        rb"\\([0-9A-Fa-f]{2})",
        lambda escape: bytes([int(escape[1], 16)]),
        written[1:-1].encode("utf-8", "surrogateescape"),
    )
    return data.decode("utf-8", "surrogateescape")


def with_attributes(text: str, changes: Mapping[str, Mapping[str, str]]) -> str:
    """The module with changed function attributes: symbol → attribute name → value.

    Each changed kernel gets its own attribute group, so that other functions stay unchanged.
    """
    groups = _groups(text)
    kernels = list(definitions(text))
    taken = (*groups, *(kernel.group for kernel in kernels))
    number = max((key for key in taken if key is not None), default=-1)
    pieces, added, position = [], [], 0
    for kernel in kernels:
        if changed := changes.get(kernel.symbol):
            number += 1
            pieces += [text[position : kernel.start], f" #{number}"]
            position = kernel.end
            attributes = _with(groups.get(kernel.group, ""), changed)
            added.append(f"attributes #{number} = {{{attributes} }}\n")
    return "".join([*pieces, text[position:], "\n", *added])


def _groups(text: str) -> dict[int | None, str]:
    """Number of each attribute group → its text."""
    return {int(match[1]): match[2] for match in _GROUP.finditer(text)}


def _with(attributes: str, changes: Mapping[str, str]) -> str:
    for name, value in changes.items():
        attributes = re.sub(rf' "{re.escape(name)}"(?:="[^"]*")?(?= |$)', "", attributes.rstrip())
        attributes += f' "{name}"="{value}"'
    return attributes


_LINKAGE = (
    *("private", "internal", "available_externally", "linkonce", "linkonce_odr", "weak"),
    *("weak_odr", "common", "appending", "extern_weak", "external"),
    *("default", "hidden", "protected", "dso_local", "dso_preemptable"),
)
"""Words of linkage and visibility in a definition (LLVM LangRef, "Functions")."""


def without_other_kernels(text: str, symbols: Collection[str]) -> str:
    """The module in which all kernels but the named ones are internal, so that optimisation drops
    them first, with the functions that only they call (LLVM GlobalOpt.cpp).

    Their bodies stay in the text: use-list order directives count the uses in them.
    """
    pieces, position = [], 0
    for match in _kernels(text):
        if _symbol(match[2]) not in symbols:
            words = (word for word in match[1].split() if word not in _LINKAGE)
            pieces += [text[position : match.start(1)], "internal ", " ".join(words), " "]
            position = match.end(1)
    return "".join([*pieces, text[position:]])


STAND_IN = "kernelinfo.others"
"""Symbol of the kernel that `with_stand_in` adds."""
_REGISTERS = "".join(
    f'  %v{number} = call {kind} asm sideeffect "", "=v"()\n'
    f'  call void asm sideeffect "", "v"({kind} %v{number})\n'
    for number, kind in enumerate(("i32", *(f"<{n} x i32>" for n in (2, 3, 4, 5, 8, 16, 32))))
)
"""Instructions with VGPRs of each size, from one register to 32."""
_TYPE = re.compile(r"(?:ptr addrspace\(\d+\)|[<{\[].*|(?<!\S)\S+)$")


def with_stand_in(text: str, symbols: Collection[str], shared: Iterable[str]) -> str:
    """The module with one more kernel, first in its text: a stand-in for the kernels that are left
    out.

    `shared` are texts from `definition_texts`. The stand-in stores the address of each shared
    variable, and of a new caller for each shared function, so that the compiler cannot know how
    they are used. It has the attributes of the first kernel of `symbols`, and uses VGPR tuples of
    1 to 32 registers.
    """
    group = next(kernel.group for kernel in definitions(text) if kernel.symbol in symbols)
    functions, used, stores = "", list[str](), ""
    for definition in shared:
        used += _NAME.findall(definition)[:1]
        if match := _GLOBAL.match(definition):
            space = _SPACE.match(match[2])
            stores += _store(f"ptr {space[1] if space else ''} @{match[1]}")
        elif match := _DEFINITION.match(definition):
            caller = f"{STAND_IN}.{len(used)}"
            functions += _caller(match, caller)
            stores += _store(f"ptr @{caller}")
    head = f"define amdgpu_kernel void @{STAND_IN}(ptr addrspace(1) %to)"
    reference = "" if group is None else f" #{group}"
    kernel = f"{functions}{head}{reference} {{\n{_REGISTERS}{stores}  ret void\n}}\n\n"
    start = text.index("\ndefine ") + 1
    every = "|".join(map(re.escape, used))
    orders = re.compile(rf"^ *uselistorder .*@(?:{every}), .*\n", re.M)  # they count the uses
    return orders.sub("", f"{text[:start]}{kernel}{text[start:]}")


def _store(value: str) -> str:
    return f"  store volatile {value}, ptr addrspace(1) %to\n"


def _caller(function: re.Match[str], name: str) -> str:
    """A function that does nothing but call another, whose first line is given.

    Like kernels it is not recursive: what it calls then need not save registers (LLVM
    TargetFrameLoweringImpl.cpp, isSafeForNoCSROpt).
    """
    head = " ".join(word for word in function[1].split() if word not in _LINKAGE)
    line = _masked(function[0])
    parameters = function[0][function.end(2) : _end_of_parameters(line, function.end(2))]
    result = _TYPE.search(_masked(head))
    kind = head[result.start() :] if result else ""
    given, value = ("", "") if kind == "void" else ("%kernelinfo.made = ", " %kernelinfo.made")
    group = _REFERENCE.search(line, function.end(2))
    return (
        f"define {head} @{name}{parameters}{group[0] if group else ''} norecurse {{\n"
        f"  {given}call {head} @{function[2]}{parameters}\n"
        f"  ret {kind}{value}\n}}\n\n"
    )


def _masked(text: str) -> str:
    """The text with underscores in place of quoted parts."""
    return _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), text)


_NAME = re.compile(r'@("[^"\n]*"|[-\w$.]+)')
_GLOBAL = re.compile(r'^@("[^"\n]*"|[-\w$.]+) = (.*)$', re.M)
_CONSTANT = re.compile(r"[^\"\[{]*?\bconstant ")
_LDS = re.compile(r'@(?:"[^"\n]*"|[-\w$.]+) = [^"\[{]*?addrspace\(3\)')
_FUNCTION = re.compile(r"define (?![^@\n]*\bamdgpu_kernel )")
_MATRIX_OR_ASSEMBLY = re.compile(r"@llvm\.amdgcn\.s?mfma|\basm\b")
_CALL_OF_POINTER = re.compile(
    r'^ +(?:%[-\w$.]+ = )?(?:\w+ )?call (?:(?!asm )[^@\n])*?%(?:"[^"\n]*"|[-\w$.]+)\(', re.M
)
_SPACE = re.compile(r"[^\"\[{]*?(addrspace\(\d+\))")
_DECLARATION = re.compile(r'^declare [^@\n]*@(?!llvm\.)("[^"\n]*"|[-\w$.]+)\(.*$', re.M)


def definition_texts(text: str) -> dict[str, str]:
    """Symbol → text of each function and variable of a module, and of functions without a body.

    The text of a function ends with its attributes. Intrinsics are left out.
    """
    groups = _groups(text)
    texts = {_symbol(match[1]): match[0] for match in _GLOBAL.finditer(text)}
    texts |= {_symbol(match[1]): match[0] for match in _DECLARATION.finditer(text)}
    for match in _DEFINITION.finditer(text):
        group = _REFERENCE.search(match[0], match.end(2) - match.start())
        words = groups.get(int(group[1]), "") if group else ""
        body = text[match.start() : text.find("\n}", match.end())]
        texts[_symbol(match[2])] = f"{body}\n{words}"
    return texts


def reached(texts: Mapping[str, str], symbols: Iterable[str]) -> dict[str, str]:
    """The `texts` of these symbols and of everything that they call or refer to, directly or
    not."""
    seen = dict[str, str]()
    new = {*symbols} & texts.keys()
    while new:
        seen |= {symbol: texts[symbol] for symbol in new}
        new = ({*names(texts[symbol] for symbol in new)} & texts.keys()) - seen.keys()
    return seen


def names(definitions: Iterable[str]) -> Iterator[str]:
    """The symbols in texts of functions and variables: their own and those that they refer to."""
    return (_symbol(name) for definition in definitions for name in _NAME.findall(definition))


def shared(
    texts: Mapping[str, str], symbols: Collection[str], others: Iterable[str]
) -> tuple[str, ...]:
    """The `texts` of functions and variables that the kernels `symbols` reach and that are named in
    code that only the kernels `others` reach. Constants, functions without a body and functions
    that are always inlined are left out."""
    mine = reached(texts, symbols)
    theirs = reached(texts, others)
    used = {*names(theirs[symbol] for symbol in theirs.keys() - mine.keys())}
    return tuple(text for symbol, text in mine.items() if symbol in used and _may_move(text))


def _may_move(definition: str) -> bool:
    """True for a function or a variable that the compiler may treat differently if it has other
    uses."""
    if match := _GLOBAL.match(definition):
        return not _CONSTANT.match(match[2])
    words = definition.rpartition("\n")[2].split()
    return definition.startswith("define ") and "alwaysinline" not in words


def is_open(texts: Mapping[str, str]) -> bool:
    """True if the registers or LDS of calls come from the whole module: calls through a pointer,
    functions without a body, and functions that use LDS (LLVM AMDGPULowerModuleLDS.cpp).

    `texts` are those that kernels reach.
    """
    lds = {symbol for symbol, text in texts.items() if _LDS.match(text)}
    called = (text for text in texts.values() if _FUNCTION.match(text) and _may_move(text))
    uses_lds = any(lds.intersection(names([text])) for text in called)
    return uses_lds or any(
        text.startswith("declare ") or _CALL_OF_POINTER.search(text) for text in texts.values()
    )


def may_use_agprs(definition: str) -> bool:
    """True for a function with matrix instructions, inline assembly or a call through a pointer,
    for one without a body, and for one that need not be inlined."""
    may_stay = definition.startswith("declare ") or (
        _FUNCTION.match(definition) and _may_move(definition)
    )
    return bool(
        may_stay or _MATRIX_OR_ASSEMBLY.search(definition) or _CALL_OF_POINTER.search(definition)
    )


def attributes(text: str, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Symbol → attribute name → value, for the named attributes. Absent attributes are left out."""
    pattern = re.compile(rf' "({"|".join(map(re.escape, names))})"="([^"]*)"')
    of_group = {number: dict(pattern.findall(group)) for number, group in _groups(text).items()}
    return {kernel.symbol: of_group.get(kernel.group, {}) for kernel in definitions(text)}


def is_opencl(text: str) -> bool:
    """True if a kernel has argument metadata that only OpenCL's front end writes."""
    return any(" !kernel_arg_type " in kernel[0] for kernel in _kernels(text))


def triple(text: str) -> str | None:
    """The module's target triple; None if it states none."""
    stated = re.search(r'^target triple = "([^"]*)"', text, re.M)
    return stated[1] if stated else None


def known_triple(stated: str) -> str | None:
    """The member of `TRIPLES` that a spelling means; None if it is not for an AMD GPU.

    Compilers build file names from the triple: given `amdgcn-amd-amdhsa/x`, clang would read
    `x.cfg` in the current folder, and that file could load a plug-in.
    """
    architecture, vendor, system, *_ = [*stated.split("-"), "", ""]
    if not _ARCHITECTURE.fullmatch(architecture) or vendor not in _VENDORS:
        return None
    return TRIPLES[_SYSTEMS[system]] if system in _SYSTEMS else None


def with_triple(text: str, triple: str) -> str:
    """The module, with its target triple replaced."""
    stated = re.subn(r'^target triple = "[^"]*"', f'target triple = "{triple}"', text, flags=re.M)
    return stated[0] if stated[1] else f'target triple = "{triple}"\n{text}'


def target_id(text: str) -> str | None:
    """`gfx90a:xnack-` of the first kernel that states its processor; None if none does."""
    for stated in attributes(text, ("target-cpu", "target-features")).values():
        if processor := stated.get("target-cpu"):
            settings = stated.get("target-features", "").split(",")
            signs = (
                f"{name}{sign}" for name in _FEATURES for sign in "+-" if sign + name in settings
            )
            return ":".join([processor, *signs])
    return None
