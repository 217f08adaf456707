"""Code objects in MLIR's text, in files and in pickles, which are searched and never unpickled."""

from __future__ import annotations

import pickle
import random
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from kernelinfo.reading.budget import Bounds

from .opening import CONTAINERS, FIXTURES, GFX1030, HOST, OBJECT, members, opened, opened_path

OBJECTS = sorted((FIXTURES / "code_object").iterdir())
CUT_OFF = "a code object cut off or damaged, by its header"


def escaped(data: bytes) -> bytes:
    """As llvm::printEscapedString writes it."""
    return b"".join(
        b"\\\\"
        if byte == 92
        else bytes([byte])
        if 32 <= byte < 127 and byte != 34
        else b"\\%02X" % byte
        for byte in data
    )


def printed(*objects: bytes) -> bytes:
    """A module of MLIR with one `gpu.binary` for each object."""
    target = b'#rocdl.target<chip = "gfx90a">'
    lines = (
        b'  gpu.binary @k  [#gpu.object<%s, bin = "%s">]\n' % (target, escaped(one))
        for one in objects
    )
    return b"module attributes {gpu.container_module} {\n" + b"".join(lines) + b"}\n"


@pytest.mark.parametrize("name", ["tiny.mlir", "flydsl-plain.pkl", "flydsl-zlib.pkl"])
def test_code_objects_of_the_fixtures(name: str) -> None:
    blobs, messages = opened_path(CONTAINERS / name)
    assert ([bytes(blob.data) for blob in blobs], messages) == ([OBJECT, GFX1030], [])


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name)
def test_every_object_comes_out_as_it_went_in(path: Path) -> None:
    whole = path.read_bytes()
    blobs, messages = opened(printed(whole, whole))
    assert ([bytes(blob.data) for blob in blobs], messages) == ([whole, whole], [])
    assert [blob.containers for blob in blobs] == [("mlir",)] * 2
    places = [int((member or "").removeprefix("at 0x"), 16) for member in members(blobs)]
    assert all(printed(whole, whole)[at:].startswith(b'"\\7FELF') for at in places)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("size", [100, 70_000])
def test_pickles_of_any_protocol(protocol: int, size: int) -> None:
    """Each bytes opcode, behind keys of any number of memoised ones."""
    filler = [str(number) for number in range(size // 100)]
    text = printed(OBJECT).decode()
    plain = pickle.dumps((filler, {"ir_text": text}), protocol)
    assert [bytes(blob.data) for blob in opened(plain)[0]] == [OBJECT]
    packed = pickle.dumps((filler, {"ir_zlib": zlib.compress(text.encode())}), protocol)
    if protocol > 2:  # has no bytes of its own
        assert [bytes(blob.data) for blob in opened(packed)[0]] == [OBJECT]


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(tmp_path, "sprung"),)  # type: ignore[return-value]

    blobs, messages = opened(pickle.dumps((Trap(), printed(OBJECT).decode())))
    assert ([bytes(blob.data) for blob in blobs], messages) == ([OBJECT], [])
    assert not Path(tmp_path, "sprung").exists()


def test_hand_written_escapes_may_be_of_lower_case() -> None:
    text = printed(OBJECT)
    lower = text.replace(b"\\E0", b"\\e0").replace(b"\\FF", b"\\fF")
    assert [bytes(blob.data) for blob in opened(lower)[0]] == [OBJECT]


@pytest.mark.parametrize("cut", [20, 100, 2000, -3, -2])
def test_what_is_cut_off_is_a_problem_and_hides_nothing(cut: int) -> None:
    first = printed(OBJECT)
    string = first.index(b'"\\7FELF')
    broken = first[: string + cut] if cut > 0 else first.rstrip(b'">]}\n')[:cut]
    blobs, messages = opened(broken)
    assert (blobs, messages) == ([], [f"{CUT_OFF}; not read"])
    blobs, messages = opened(broken + b'\n"' + printed(OBJECT))
    assert [bytes(blob.data) for blob in blobs] == [OBJECT]
    assert messages == [f"{CUT_OFF}; not read"]


@pytest.mark.parametrize("escape", [b"\\7", b"\\", b"\\xy", b'\\"', b"\\n", b"\n", b'"'])
def test_escapes_that_mlir_does_not_write(escape: bytes) -> None:
    whole = printed(OBJECT)
    at = whole.index(b"\\00", 600)
    blobs, messages = opened(whole[:at] + escape + whole[at + 3 :] + printed(GFX1030))
    assert [bytes(blob.data) for blob in blobs] == [GFX1030]
    assert messages == [f"{CUT_OFF}; not read"]


def test_code_for_hosts_is_passed_over() -> None:
    host = HOST if HOST.startswith(b"\x7fELF") else b""
    blobs, _ = opened(printed(host, OBJECT))
    assert [bytes(blob.data) for blob in blobs] == [OBJECT]


def test_headers_in_any_number_come_to_an_end() -> None:
    """Each searched to the end of the text, they would take longer than a test may."""
    for header in (b'"\\7FELF\\02\\01\\01', b'"\\7FELF\\02\\01\\01\\', b"ir_zlib\x94Babcd\x78"):
        blobs, messages = opened(header * 30_000, Bounds(members=1_000_000))
        assert blobs == []
        assert messages


def test_text_that_is_compressed_again_and_again_is_opened_once() -> None:
    inner = printed(OBJECT)
    for _ in range(3):
        inner = pickle.dumps({"ir_zlib": zlib.compress(inner)})
    assert opened(inner)[0] == []


def test_compressed_text_is_bounded() -> None:
    bomb = pickle.dumps({"ir_zlib": zlib.compress(bytes(80 << 20))})
    blobs, [message] = opened(bomb)
    assert blobs == []
    assert "zlib data give more than" in message
    whole = pickle.dumps({"ir_zlib": zlib.compress(printed(OBJECT))})
    _, [message] = opened(whole[:-100])
    assert "zlib data cut off" in message


def test_random_damage_never_raises() -> None:
    random_numbers = random.Random(5)
    for whole in (printed(OBJECT), pickle.dumps({"ir_zlib": zlib.compress(printed(OBJECT))})):
        for _ in range(200):
            broken = bytearray(whole)
            for _ in range(random_numbers.randrange(1, 4)):
                broken[random_numbers.randrange(len(broken))] = random_numbers.randrange(256)
            opened(bytes(broken))


@pytest.mark.needs("mlir-opt-22", "lld-22")
@pytest.mark.nightly
def test_what_mlir_itself_prints(tmp_path: Path) -> None:
    """Debian's mlir-22-tools, with a folder of ROCm's names around Debian's linker."""
    mlir_opt = shutil.which("mlir-opt-22")
    assert mlir_opt
    source = tmp_path / "k.mlir"
    source.write_text(
        "module attributes {gpu.container_module} {\n"
        'gpu.module @k [#rocdl.target<chip = "gfx942">] {\n'
        "llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {\n"
        "%c = llvm.mlir.constant(1 : i32) : i32\nllvm.store %c, %p : i32, !llvm.ptr<1>\n"
        "llvm.return }}}\n"
    )
    (tmp_path / "llvm" / "bin").mkdir(parents=True)
    (tmp_path / "amdgcn" / "bitcode").mkdir(parents=True)
    (tmp_path / "llvm" / "bin" / "ld.lld").symlink_to(shutil.which("ld.lld-22") or "")
    to_binary = f"--gpu-module-to-binary=format=binary toolkit={tmp_path}"
    done = subprocess.run([mlir_opt, source, to_binary], check=True, capture_output=True)
    [blob], messages = opened(done.stdout)
    assert messages == []
    assert escaped(bytes(blob.data)) in done.stdout
