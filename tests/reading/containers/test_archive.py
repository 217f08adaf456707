"""Archives: GNU, BSD, thin, nested; what is no archive; members that are elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .opening import ASSEMBLY, CONTAINERS, HOST, NOTHING, OBJECT, members, opened, opened_path

LONG = "a-name-that-does-not-fit.co"


def member(name: str, data: bytes, size: str | None = None) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{size or len(data):<10}`\n".encode()
    return header + data + b"\n" * (len(data) % 2)


def archive(*parts: bytes) -> bytes:
    return b"!<arch>\n" + b"".join(parts)


def thin(*names: str) -> bytes:
    parts = b"".join(member(f"/{index}", b"", "9") for index in indices(names))
    return b"!<thin>\n" + member("//", "".join(f"{name}/\n" for name in names).encode()) + parts


def indices(names: tuple[str, ...]) -> list[int]:
    return [sum(len(name) + 2 for name in names[:index]) for index in range(len(names))]


GNU = archive(
    member("/", b"symbols"),
    member("//", f"{LONG}/\n".encode()),
    member("host.o/", HOST),
    member("/0", OBJECT),
    member("odd.txt/", b"not for a GPU"),
    member("short.co/", OBJECT),
)
BSD = archive(
    member("__.SYMDEF", b"symbols!"),
    member(f"#1/{len(LONG) + 1}", LONG.encode() + b"\0" + OBJECT),
    member("kernel.s", ASSEMBLY),
)


@pytest.mark.parametrize(
    ("data", "names"), [(GNU, [LONG, "short.co"]), (BSD, [LONG, "kernel.s"])], ids=["GNU", "BSD"]
)
def test_names_and_offsets(data: bytes, names: list[str]) -> None:
    blobs, messages = opened(data)
    assert not messages
    assert members(blobs) == names
    assert bytes(blobs[0].data) == OBJECT
    assert all(blob.containers == ("archive",) for blob in blobs)


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("libbsd.a", ["tiny-with-a-long-name-gfx90a.co"]),
        (
            "libnested.a",
            ["inner.a/tiny-with-a-long-name-gfx90a.co", "tiny-with-a-long-name-gfx90a.co"],
        ),
    ],
)
def test_what_llvm_ar_writes(name: str, names: list[str]) -> None:
    blobs, messages = opened_path(CONTAINERS / name)
    assert not messages
    assert members(blobs) == names
    assert all(bytes(blob.data) == OBJECT for blob in blobs)


def test_fat_objects_tell_their_member_and_their_entry() -> None:
    blobs, messages = opened_path(CONTAINERS / "libtwo.a")
    assert not messages
    assert [blob.containers for blob in blobs] == [("archive", "fatbin", "bundle")] * 4
    assert members(blobs)[:2] == [
        "first.o/hipv4-amdgcn-amd-amdhsa--gfx1030",
        "first.o/hipv4-amdgcn-amd-amdhsa--gfx90a",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (archive(member("a.co/", OBJECT), b"x"), "no member header"),
        (archive(member("a.co/", b"", "-60")), "no member header"),
        (archive(member("a.co/", b"", "many")), "no member header"),
        (archive(member("a.co/", OBJECT).replace(b"`\n", b"xx", 1)), "no member header"),
        (archive(member("a.co/", OBJECT, "9999999999")), "of 9999999999 bytes"),
        (archive(member("#1/9999", OBJECT)), "a name longer than its member"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    _, messages = opened(data)
    assert message in messages[-1]


@pytest.mark.parametrize("name", ["/99999", "/²", "#1/", "#1/x", "/", "\udcff"])
def test_odd_names(name: str) -> None:
    encoded = name.encode("utf-8", "surrogateescape")
    header = member("x" * len(encoded), OBJECT).replace(b"x" * len(encoded), encoded, 1)
    blobs, _ = opened(archive(header))
    assert len(blobs) == (name != "/")


def test_an_archive_of_nothing() -> None:
    assert opened(archive()) == ([], NOTHING)
    assert opened(archive(member("a/", b"") * 20_000)) == ([], NOTHING)


def test_thin_members_are_files_beside_it() -> None:
    blobs, messages = opened_path(CONTAINERS / "libthin.a")
    assert not messages
    assert [blob.offset for blob in blobs] == [None] * 4
    assert members(blobs)[0] == "tiny.hipfb/hipv4-amdgcn-amd-amdhsa--gfx90a"
    assert bytes(blobs[0].data) == OBJECT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a thin archive, and one file outside."""
    (tmp_path / "outside.co").write_bytes(OBJECT)
    inside = tmp_path / "lib"
    (inside / "below").mkdir(parents=True)
    (inside / "below" / "k.co").write_bytes(OBJECT)
    (inside / "link.co").symlink_to("../outside.co")
    (inside / "empty.co").touch()
    os.mkfifo(inside / "pipe.co")
    return inside


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../outside.co", "outside the folder"),
        ("link.co", "outside the folder"),
        ("/dev/zero", "outside the folder"),
        ("/etc/passwd", "outside the folder"),
        ("missing.co", "no such file"),
        ("pipe.co", "no regular file"),
        ("below", "no regular file"),
        ("empty.co", "is empty"),
        ("nul\0byte.co", "no such file"),
    ],
)
def test_thin_members_that_are_not_read(folder: Path, name: str, message: str) -> None:
    (folder / "lib.a").write_bytes(thin(name, "below/k.co"))
    [blob], [first] = opened_path(folder / "lib.a")
    assert blob.member == "below/k.co"
    assert message in first


def test_absent_thin_members_are_one_line(folder: Path) -> None:
    (folder / "lib.a").write_bytes(thin(*[f"{n}.co" for n in range(2000)]))
    _, [message] = opened_path(folder / "lib.a")
    assert message == "member of a thin archive: no such file; nor are 1999 more; build it again"


def test_a_thin_member_named_often_is_read_once(folder: Path) -> None:
    (folder / "lib.a").write_bytes(thin(*["below/k.co"] * 1000))
    blobs, messages = opened_path(folder / "lib.a")
    assert (len(blobs), messages) == (1, [])


def test_a_thin_archive_that_names_itself(folder: Path) -> None:
    (folder / "lib.a").write_bytes(thin("lib.a"))
    _, [message] = opened_path(folder / "lib.a")
    assert message.startswith("a thin archive inside another file")


def test_a_thin_archive_without_a_folder_of_its_own(folder: Path) -> None:
    """Bytes must not reach files, nor an archive in an archive those next to the outer one."""
    _, [message] = opened(thin("kernelinfo/__init__.py"))
    assert message.startswith("a thin archive inside another file")
    (folder / "outer.a").write_bytes(archive(member("thin.a/", thin("below/k.co"))))
    blobs, [message] = opened_path(folder / "outer.a")
    assert not blobs
    assert message.startswith("a thin archive inside another file")
