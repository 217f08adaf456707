"""The functions of a code object, by the disassembler that the user has installed.

The only module here that starts a program: `llvm-objdump` of ROCm, or of LLVM 14 or newer.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Set
from itertools import chain
from subprocess import DEVNULL, PIPE
from typing import IO

from kernelinfo.errors import ReadError
from kernelinfo.pressure.listing import Listing, read_listing
from kernelinfo.reading.assembly.loc import SourceFiles
from kernelinfo.reading.code_object.symbols import Symbol, kernel_symbols
from kernelinfo.reading.data import Data
from kernelinfo.reading.elf import read_elf

_FLAGS = ("-d", "--symbolize-operands", "--no-show-raw-insn", "--no-leading-addr")
_NAMED = re.compile(r"llvm-objdump-(\d{1,3})$")
_FUNCTION = re.compile(rb"(?:[0-9a-f]{8,16} )?<(.+)>:\s*$")
_LOCAL = re.compile(rb"L\d+$")
_SECONDS = 60
_MOST_BYTES = 1 << 28  # of one function's text
_NEEDED = (
    "pressure of a code object needs llvm-objdump (LLVM 14 or newer; ROCm and the llvm packages"
    " have it); the .s of --save-temps needs nothing"
)


def listings(data: Data, symbols: Set[str]) -> Iterator[tuple[str, Listing]]:
    """The functions of these symbols, as far as they are disassembled, one at a time. Raises
    `ReadError` where no disassembler is found, none reads this code, or one breaks off.

    Where several begin at one address, the disassembler names one of them: those with a size have
    that much of its code, the others none.
    """
    known = kernel_symbols(read_elf(data, []), []).defined
    begins = {name: (one.section, one.value) for name, one in known.items()}
    sized = {begins[name] for name, one in known.items() if one.size}
    together = defaultdict(list)
    for name in symbols:
        together[begins.get(name, name)].append(name)
    named = {name for name, begin in begins.items() if begin in together} | symbols
    for printed, listing in _printed(data, named):
        begin = begins.get(printed, printed)
        for name in together.pop(begin, ()):
            yield name, _cut(listing, known[name]) if begin in sized else listing


def _cut(listing: Listing, symbol: Symbol) -> Listing:
    """The instructions within a symbol's size, without what a linker puts between functions."""
    end = symbol.value + symbol.size
    steps = tuple(step for step in listing.steps if (step.address or 0) < end)
    labels = {name: at for name, at in listing.labels.items() if at < len(steps)}
    return listing._replace(steps=steps, labels=labels)


def _printed(data: Data, symbols: Set[str]) -> Iterator[tuple[str, Listing]]:
    """Each of these functions that a disassembler prints. Raises as `listings`."""
    with tempfile.NamedTemporaryFile(prefix="kernelinfo-", suffix=".co") as file:
        file.write(data.read())
        file.flush()
        for program in programs():
            found = False
            for one in _disassembled(program, file.name, symbols):
                found = True
                yield one
            if found:
                return
    raise ReadError(_NEEDED)


def programs() -> list[str]:
    """The disassemblers of this machine: ROCm's first, then by name, the highest version first."""
    roots = [os.environ.get("ROCM_PATH", ""), "/opt/rocm"]
    paths = [os.path.join(root, "llvm", "bin", "llvm-objdump") for root in roots if root]
    versions = {
        int(match[1])
        for folder in os.get_exec_path()
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if (match := _NAMED.match(name))
    }
    names = ["llvm-objdump", *(f"llvm-objdump-{n}" for n in sorted(versions, reverse=True))]
    found = (shutil.which(name) for name in [*paths, *names])
    return list(dict.fromkeys(path for path in found if path))


def _disassembled(program: str, path: str, symbols: Set[str]) -> Iterator[tuple[str, Listing]]:
    """Each wanted function that the program prints; none where it knows no such code. Raises
    `ReadError` where the program fails after it has printed some."""
    command = [program, *_FLAGS, path]
    with subprocess.Popen(command, stdout=PIPE, stderr=DEVNULL) as process:
        try:
            assert process.stdout is not None
            last: _Function | None = None
            functions = _functions(process.stdout, symbols)
            while function := _next(functions, process):
                if last:
                    yield _listed(*last)
                last = function
            if last and process.wait():
                raise ReadError(f"{program} failed or took more than {_SECONDS} s for a kernel")
            if last:
                yield _listed(*last)
        except BaseException:
            process.kill()
            raise


_Function = tuple[str, list[str]]  # a symbol and its lines


def _next(functions: Iterator[_Function], process: subprocess.Popen[bytes]) -> _Function | None:
    """The next function; the program is killed where it takes too long for it."""
    limit = threading.Timer(_SECONDS, process.kill)
    limit.start()
    try:
        return next(functions, None)
    finally:
        limit.cancel()


def _listed(symbol: str, lines: list[str]) -> tuple[str, Listing]:
    return symbol, read_listing(lines, None, SourceFiles(), lambda *_: None, symbol)


def _functions(output: IO[bytes], symbols: Set[str]) -> Iterator[_Function]:
    """The lines of each wanted function, which ends where the next one begins."""
    name = ""
    lines: list[str] = []
    taken = 0
    for line in chain(output, [b"<end>:"]):
        header = _FUNCTION.match(line) if b"<" in line else None
        if header and not _LOCAL.match(header[1]):
            if name:
                yield name, lines
            name, lines, taken = header[1].decode("utf-8", "backslashreplace"), [], 0
            name = name if name in symbols else ""
        elif name and taken < _MOST_BYTES:
            taken += len(line)
            lines.append(line.decode("utf-8", "replace").rstrip())
