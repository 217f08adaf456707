"""Words of compile commands that try to run something, and compilers that would let them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from re import ASCII, fullmatch
from typing import NamedTuple

from ..sweep.compilers import script

_SEPARATE = ("-D", "-U", "-I", "-isystem", "-iquote", "-include", "-x")
_BEGUN = ("-DX=", "-Iinclude/")
"""Behind these, a word with a dash is a plain one."""
_JOINED = (*_SEPARATE, "-std=", *_BEGUN)
_VALUES = (
    *(";touch MARK;", "$(touch MARK)", "`touch MARK`", "a|touch MARK", "a&touch MARK&", ">MARK"),
    *("';touch MARK;'", '";touch MARK;"', "\\;touch MARK", "a\ntouch MARK\n", "a\rtouch MARK"),
    *("a\ttouch\tMARK", "a touch MARK", "${IFS}touch${IFS}MARK", "a#;touch MARK", "(touch MARK)"),
    *("1 -fplugin=PLUGIN -DY=b.a", "1 -fplugin=PLUGIN b.lo", "-fplugin=PLUGIN", "@RESPONSE"),
    *("-Xclang -load -Xclang PLUGIN", "-o MARK", "-", "--", "*", "~/a", "{a,b} x", "!touch"),
    *("--amdhsa-code-object-version=;touch MARK;", "--amdhsa-code-object-version=5;touch MARK;.a"),
    *("--hipcc-func-supp;touch MARK", "é;touch MARK", "\0;touch MARK", "\ud800", "", " "),
)
_WORDS = (
    *(("-fplugin=PLUGIN",), ("@RESPONSE",), ("-Xclang", "-load", "-Xclang", "PLUGIN")),
    *(("-fpass-plugin=PLUGIN",), ("-mllvm", "-load=PLUGIN"), ("-B", "tools"), ("-Btools",)),
    *(("--config=RESPONSE",), ("--config", "RESPONSE"), ("-fno-integrated-as",), ("-specs=a",)),
    *(("-fuse-ld=PLUGIN",), ("-wrapper", "touch,MARK"), ("-save-temps",), ("-ftime-trace=MARK",)),
    *(("-Wl,@RESPONSE",), ("-Wa,-o,MARK",), ("-dependency-file", "MARK"), ("--genco",)),
    *(("--gcc-toolchain=tools",), ("-resource-dir=tools",), ("--rocm-path=tools",)),
    *(("-;touch MARK;.a",), ("touch MARK;.lo",), ("-Wno-a\ntouch MARK",), ("-gdb;touch MARK",)),
    *(("-Xarch_device", "-fplugin=PLUGIN"), ("-idirafter", "-fplugin=PLUGIN"), ("$(touch MARK)",)),
)
VARIANTS: tuple[tuple[str, ...], ...] = (
    *(
        (option + value,)
        for option, value in product(_JOINED, _VALUES)
        if value.strip() and not (option in _BEGUN and fullmatch(r"[-=\w]+", value, ASCII))
    ),
    *product(_SEPARATE, _VALUES),
    *_WORDS,
)
SOME = (
    *((option, value) for option, value in product(_SEPARATE, _VALUES[::3])),
    *((f"-std={value}",) for value in _VALUES[:6]),
    *_WORDS,
)
"""Those that are tried on each real compiler."""


class Trap(NamedTuple):
    """Places where a word that runs something leaves a mark."""

    folder: Path

    @property
    def mark(self) -> Path:
        return self.folder / "evil-mark"

    @property
    def plugin(self) -> Path:
        """A plug-in that makes the mark when a compiler loads it."""
        return self.folder / "evil.so"

    def words(self, variant: Iterable[str]) -> list[str]:
        """The words of a variant, aimed at this trap."""
        response = self.folder / "evil.rsp"
        if not response.exists():
            response.write_text(f"-fplugin={self.plugin}\n")
        places = {"MARK": self.mark, "PLUGIN": self.plugin, "RESPONSE": response}
        words = list(variant)
        for name, place in places.items():
            words = [word.replace(name, str(place)) for word in words]
        return words

    def commands(self, *flags: Sequence[str]) -> str:
        """Path of compile commands: a source `kN.hip` for each of the lists of flags."""
        entries = [
            {
                "directory": str(self.folder),
                "file": f"k{number}.hip",
                "arguments": ["hipcc", "--offload-arch=gfx90a", *words, "-c", f"k{number}.hip"],
            }
            for number, words in enumerate(flags)
        ]
        path = self.folder / "compile_commands.json"
        path.write_text(json.dumps(entries))
        return str(path)

    def sources(self, number: int) -> list[str]:
        """Names of sources that compile without headers."""
        names = [f"k{index}.hip" for index in range(number)]
        for name in names:
            kernel = "__attribute__((global)) void k(int *a) { a[1] = 2; }\n"
            (self.folder / name).write_text(kernel)
        return names

    def joining(self, clang: str, name: str = "hipcc", *, tells: bool = False) -> str:
        """A compiler that joins its words to one line for the shell, as AMD's program does.

        It writes its words to `NAME.words`, and tells its line if `tells` is set.
        """
        told = f'[ -n "$HIPCC_VERBOSE" ] && printf "hipcc-cmd: {clang} %s\\n" "$*"\n'
        lines = f'printf "%s\\n" "$@" >> {self.folder}/{name}.words\n' + (told if tells else "")
        return script(self.folder / name, f'{lines}exec /bin/sh -c "{clang} $*"')

    def clang(self, assembly: Path) -> str:
        """A compiler that writes its words to `clang++.words`, and the assembly as its output."""
        text = f"""for word in "$@"; do
  [ "$word" = -### ] && echo ' "{self.folder}/clang++" "-cc1"' >&2 && exit
done
printf '%s\\n' "$@" > {self.folder}/clang++.words
while [ "$1" != -o ]; do shift; done
cp {assembly} "$2\""""
        return script(self.folder / "clang++", text)

    def seen(self, name: str) -> list[str]:
        """Lines of the words that a compiler of this trap got."""
        return (self.folder / f"{name}.words").read_text().splitlines()
