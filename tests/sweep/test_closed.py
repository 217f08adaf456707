"""IR and files in the current folder never decide what runs or what is read."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from ..compiling import needs_clang
from ..messages import codes
from ..test_golden import run
from .compilers import IR as PLAIN_IR
from .compilers import script

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs of these tests are scripts")

COMPILERS = [
    pytest.param(name, marks=pytest.mark.needs(name), id=name)
    for name in ("clang-15", "clang-19", "clang-22", "llvmlite")
]

IR = """\
source_filename = "SOURCE"
target triple = "TRIPLE"
MODULE_ASM
define amdgpu_kernel void @kern(ptr addrspace(1) %a, i32 %n) #0 GC !dbg !5 {
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%j, %loop]
  %v = load volatile i32, ptr addrspace(1) %a, !dbg !8
  %j = add i32 %i, %v
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %end, !dbg !8, !llvm.loop !10
end:
  INLINE_ASM
  ret void, !dbg !8
}
attributes #0 = { "target-cpu"="CPU" "target-features"="FEATURES"
  "amdgpu-flat-work-group-size"="1,256" "warn-stack-size"="0" OTHER }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}
!llvm.commandline = !{!15}
!llvm.linker.options = !{!16}
!llvm.dependent-libraries = !{!15}
!llvm.gcov = !{!17}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "clang",
  isOptimized: false, flags: "-fplugin=FILE", runtimeVersion: 0, emissionKind: FullDebug,
  splitDebugFilename: "FILE.dwo", sysroot: "FOLDER")
!1 = !DIFile(filename: "file", directory: "FOLDER")
!3 = !{i32 2, !"Dwarf Version", i32 5}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "kern", scope: !1, file: !1, line: 1, type: !6, unit: !0,
  spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !DILocation(line: 1, column: 3, scope: !5)
!10 = distinct !{!10, !11, !12, !13}
!11 = !{!"llvm.loop.vectorize.enable", i1 true}
!12 = !{!"llvm.loop.unroll.full"}
!13 = !{!"llvm.loop.distribute.enable", i1 true}
!15 = !{!"-fplugin=FILE -load=FILE @FILE --config=FILE"}
!16 = !{!"lib", !"--plugin=FILE"}
!17 = !{!"FILE.gcno", !"FILE.gcda", !0}
"""
"""Ways in which IR names a file. FILE is a pipe that nobody may open."""

PARTS = {
    "SOURCE": "FILE",
    "TRIPLE": "amdgcn-amd-amdhsa",
    "MODULE_ASM": "",
    "GC": "",
    "INLINE_ASM": "",
    "CPU": "gfx90a",
    "FEATURES": "",
    "OTHER": "",
}
HOSTILE = {
    "names": {},
    "module-asm": {"MODULE_ASM": r'module asm ".include \22FILE\22\0A.incbin \22FILE\22"'},
    "inline-asm": {
        "INLINE_ASM": 'call void asm sideeffect ".incbin \\22FILE\\22\\0A.include \\22FILE\\22", '
        '""(), !srcloc !15'
    },
    "macro": {
        "MODULE_ASM": r'module asm ".macro m a b\0A.\\a\\b \22FILE\22\0A.endm\0Am in cbin"',
    },
    "crash": {"GC": 'gc "FILE"'},
    "attributes": {
        "OTHER": '"probe-stack"="FILE" "amdgpu-sched-strategy"="FILE" "patchable-function"="FILE" '
        '"stack-protector-guard"="FILE" "load"="FILE"',
    },
    "instrumentation": {"OTHER": '"instrument-function-entry-inlined"="FILE"'},
    "features": {"FEATURES": "+help,+cpuhelp,+@FILE,-load=FILE"},
    "cpu": {"CPU": "@FILE"},
    "cpu-option": {"CPU": "gfx90a -fplugin=FILE"},
    "triple": {"TRIPLE": "amdgcn-amd-amdhsa/x"},
    "triple-in-folder": {"TRIPLE": "FOLDER/x"},
    "second-triple": {"MODULE_ASM": 'target  triple  =  "amdgcn-amd-amdhsa/x"'},
}
READ_BY = ("names", "module-asm", "inline-asm", "macro", "attributes", "features")
"""Cases that compile as if the name meant nothing. The others end with one error line."""


def hostile(name: str, file: Path) -> str:
    text = IR
    for part, value in (PARTS | HOSTILE[name]).items():
        text = text.replace(part, value)
    return text.replace("FOLDER", str(file.parent)).replace("FILE", str(file))


def lay_traps(folder: Path, mark: Path) -> None:
    """Put programs and configuration files under the names that compilers look for."""
    names = ["llvm-symbolizer", "addr2line", "lld", "as", "llc", "opt", "clang"]
    names += [f"clang-{version}" for version in range(13, 61)]
    for place in (folder, folder / "bin"):
        place.mkdir(exist_ok=True)
        for name in names:
            script(place / name, f'echo "$0 $*" >> {mark}\necho clang version 99')
    plugin = folder / "plugin.so"
    code = "int creat(const char *, int);"
    code += f'__attribute__((constructor)) void f(void) {{ creat("{mark}", 0600); }}'
    command = ["clang-22", "-x", "c", "-w", "-shared", "-fPIC", "-", "-o", str(plugin)]
    subprocess.run(command, input=code, text=True, check=True)
    (folder / "amdgcn-amd-amdhsa").mkdir()
    for name in ("amdgcn-amd-amdhsa/x", "amdgcn-amd-amdhsa", "clang", "x", "amdgcn"):
        (folder / f"{name}.cfg").write_text(f"-fplugin={plugin}\n")


class Watched:
    """A pipe that tells if a process opened it for reading."""

    def __init__(self, pipe: Path) -> None:
        self.is_opened = False
        os.mkfifo(pipe)
        self._pipe = pipe
        self._done = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            with suppress(OSError):  # no reader
                os.close(os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK))
                self.is_opened = True


def test_the_watch_sees_a_reader(tmp_path: Path) -> None:
    with Watched(tmp_path / "file") as watched:
        subprocess.run(["cat", str(tmp_path / "file")], check=True)
    assert watched.is_opened


@pytest.mark.nightly
@needs_clang
def test_the_traps_leave_a_mark(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    lay_traps(tmp_path, mark)
    command = [
        "clang-22",
        "--target=amdgcn-amd-amdhsa/x",
        "-nogpulib",
        "-x",
        "ir",
        "-S",
        "-o",
        "-",
        "-",
    ]
    subprocess.run(
        command,
        input=hostile("names", tmp_path / "file").encode(),
        cwd=tmp_path,
        capture_output=True,
    )
    assert mark.exists()
    mark.unlink()
    clang = shutil.which("clang-22") or ""
    command = ["clang-22", "--target=amdgcn-amd-amdhsa", "-x", "ir", "-S", "-nogpulib"]
    text = hostile("crash", tmp_path / "file").encode()
    path = {"PATH": f"bin:{os.environ['PATH']}"}
    subprocess.run(
        [*command, "-fno-crash-diagnostics", "-o", "-", "-"],
        executable=clang,
        input=text,
        cwd=tmp_path,
        env=os.environ | path,
        capture_output=True,
    )
    assert "llvm-symbolizer" in mark.read_text()


@pytest.mark.nightly
@needs_clang
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", HOSTILE)
def test_ir_runs_nothing_and_opens_nothing(
    name: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, mark, temporary = tmp_path / "here", tmp_path / "mark", tmp_path / "tmp"
    here.mkdir()
    temporary.mkdir()
    lay_traps(here, mark)
    monkeypatch.setenv("PATH", f":.:bin:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(temporary))
    pipe = here / "file"
    (here / "k.ll").write_text(hostile(name, pipe))
    with Watched(pipe) as watched:
        before = sorted(here.rglob("*"))
        arguments = ("--compiler", compiler, "--waves", "8", "--timeout", "60")
        _, err, code = run("sweep", "k.ll", *arguments, folder=here)
    assert code == (0 if name in READ_BY else 2) or name == "instrumentation", err
    assert not mark.exists(), mark.read_text(errors="replace")
    assert not watched.is_opened
    assert sorted(here.rglob("*")) == before
    assert list(temporary.iterdir()) == []


@pytest.mark.nightly
@needs_clang
@pytest.mark.parametrize("entries", [":{}", ".:{}", "bin:{}", "{}:"])
def test_no_compiler_of_the_current_folder_is_found(
    entries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    lay_traps(tmp_path, mark)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", entries.format(os.environ["PATH"]))
    monkeypatch.setenv("ROCM_PATH", "rocm")
    script(Path("clang-99"), f"echo ran >> {mark}")
    (tmp_path / "k.ll").write_text(PLAIN_IR)
    for given in ((), ("--compiler", "clang")):
        run("sweep", "k.ll", *given, "--waves", "8", folder=tmp_path)
    _, err, code = run("sweep", "k.ll", "--compiler", "clang-99", folder=tmp_path)
    assert (code, mark.exists()) == (2, False)
    assert "clang-no-program" in codes(err)
    run("sweep", "k.ll", "--compiler", "./clang", folder=tmp_path)
    assert mark.exists()
