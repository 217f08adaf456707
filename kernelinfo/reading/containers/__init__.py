"""Bytes -> code: containers are opened down to single code objects and assembly texts.

The first bytes decide, never a file's name. A format is a line in `magic.FORMATS` and a module,
which is imported when the first file of it is opened. Its `read` yields what a container holds, one
container deeper each, and nothing where none of it is for AMD GPUs. It raises `ReadError` where the
container is damaged and no more of it can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from kernelinfo.errors import FileBudgetError, ReadError
from kernelinfo.reading.blob import Blob, Elsewhere, Found, Problem
from kernelinfo.reading.budget import BY_DEFAULT, Bounds
from kernelinfo.reading.containers import files, magic, text
from kernelinfo.reading.containers.files import File
from kernelinfo.reading.containers.parts import DATA_SECTION, left_out, problem
from kernelinfo.reading.data import Data

_EM_AMDGPU = 224
_WITHOUT_CODE = "no AMD GPU code found; give what the compiler left for the device"


def open_paths(
    paths: Iterable[str],
    *,
    required: bool = True,
    among: Sequence[str] = (),
    within: Bounds = BY_DEFAULT,
) -> Iterator[Found]:
    """The code in files, directories, globs and standard input (`-`), in the order given.

    Archives of host files are not read twice where they are in a path, or `among` those that the
    run reads elsewhere.
    """
    paths = tuple(paths)
    for path in paths:
        for file in files.find(path):
            yield from open_file(file, required=required, among=among or paths, within=within)


def open_file(
    file: File | Problem,
    *,
    required: bool = True,
    among: Sequence[str] = (),
    within: Bounds = BY_DEFAULT,
) -> Iterator[Found]:
    """The code in what was found: a file, or a problem, which is passed on.

    In a directory, files that hold nothing for AMD GPUs are passed over, unless they cannot be
    read, or have the name of compiler output and are empty, all zero, or pointers of Git LFS; a
    file that was named and holds nothing is a problem, unless it is not `required`.
    """
    if isinstance(file, Problem):
        yield file
        return
    blob = files.load(file.path, within, file.bytes)
    if isinstance(blob, Problem):
        is_empty = blob.message == files.EMPTY
        if (file.named and required) or magic.is_named_as_code(file.path) or not is_empty:
            yield blob
        return
    if (file.named or magic.may_be_code(file.path)) and files.is_pointer(blob):
        yield Problem(file.path, "is a pointer of Git LFS; fetch the file by `git lfs pull`")
        return
    if magic.is_named_as_code(file.path) and files.is_all_zero(blob):
        yield Problem(file.path, "is all zero, as a write that broke off leaves it; build it again")
        return
    yield from open_blob(blob, among, required=file.named and required)


def open_blob(blob: Blob, among: Sequence[str] = (), *, required: bool = True) -> Iterator[Found]:
    """The code in an outermost file; not to hold any is a problem if it is `required`."""
    items = _contents(blob, among, required=required)
    if required:
        format = magic.format_of(bytes(blob.data.read(0, magic.HEAD_BYTES)))
        yield next(items, problem(blob, magic.WITHOUT_CODE.get(format or "", _WITHOUT_CODE)))
    yield from items


def open_bytes(data: bytes, path: str, within: Bounds = BY_DEFAULT) -> Iterator[Found]:
    """The code in `data`, which messages call `path`."""
    yield from open_blob(files.whole(path, Data.of(data), within))


def _contents(blob: Blob, among: Sequence[str], *, required: bool) -> Iterator[Found]:
    """The code in an outermost file, as far as its containers may be read."""
    hosts: list[Elsewhere] = []
    entries: list[str] = []
    members: Counter[str] = Counter()
    try:
        for item in _unpack(blob, required=required):
            if isinstance(item, Elsewhere):
                hosts.append(item)
                continue
            if isinstance(item, Blob) and "kpack" in item.containers:
                entries.append(item.member or "")
            yield _numbered(item, members) if isinstance(item, Blob) else item
        for host in hosts:
            yield from _elsewhere(host, entries, among)
    except (FileBudgetError, ReadError) as error:
        yield problem(blob, str(error))


def _numbered(blob: Blob, members: Counter[str]) -> Blob:
    """The blob, where its member alone tells it from those before, as `LIBRARY/#2/ENTRY`. What lies
    in compressed data has no offset, and bundles of several sources have equal entries."""
    if blob.offset is not None:
        return blob
    member = blob.member or ""
    members[member] += 1
    if members[member] == 1:
        return blob
    folder, slash, name = member.rpartition("/")
    number = f"#{members[member]}"
    return blob._replace(member=f"{folder}{slash}{number}/{name}".removesuffix("/"))


def _elsewhere(host: Elsewhere, entries: list[str], among: Sequence[str]) -> Iterator[Found]:
    """What a host file has in archives: in the same container, or in files next to it."""
    from kernelinfo.reading.containers import hipk

    if host.blob.containers:
        yield host if hipk.is_among(host, entries) else hipk.missing(host, "in this file")
        return
    for item in hipk.code_objects(host, among):
        if isinstance(item, Blob):
            yield from _unpack(item, required=True)
        else:
            yield item


def _unpack(blob: Blob, *, required: bool) -> Iterator[Found]:
    """The code in a blob; one of many files, which is not `required`, may hold none."""
    head = bytes(blob.data.read(0, magic.HEAD_BYTES))
    if not required and not magic.may_hold_code(head, blob.member or blob.path):
        yield from _searched(blob, required=False)
        return
    if _is_code_object(head):
        yield blob
        return
    format = magic.format_of(head)
    if format is None:
        yield from _of_unknown_format(blob, required=required)
        return
    deepest = blob.bounds.nesting
    if len(blob.containers) >= deepest:
        message = f"containers nested more than {deepest} deep; --bound nesting=N reads deeper"
        yield problem(blob, message)
        return
    for item in _members(blob, format):
        blob.budget.spend_member()
        if not isinstance(item, Blob):
            yield item
        elif item.containers[-1] == DATA_SECTION:
            yield from _searched(item, required=required)
        elif item.is_one_of_many:
            yield from _unpack(item, required=False)
        else:
            yield from _unpack(item, required=required or format != "compressed")


def _members(blob: Blob, format: str) -> Iterator[Found]:
    """What a container holds; how it is damaged is a problem."""
    try:
        yield from import_module(f"{__name__}.{format}").read(blob)
    except ReadError as error:
        yield problem(blob, str(error))


def _of_unknown_format(blob: Blob, *, required: bool) -> Iterator[Found]:
    """The text itself, or the code objects in it."""
    item = text.read(blob)
    if isinstance(item, Blob):
        yield item
        return
    items = _searched(blob, required=required)
    if required:
        yield next(items, item)
    yield from items


def _searched(blob: Blob, *, required: bool) -> Iterator[Found]:
    """The code objects in data that no reader knows."""
    if not required and len(blob.data) > blob.bounds.carved:
        yield left_out(blob)
        return
    from kernelinfo.reading.containers import carve  # with all that bundles need

    for item in carve.read(blob):
        if isinstance(item, Blob):
            yield from _unpack(item, required=True)
        else:
            yield item


def _is_code_object(head: bytes) -> bool:
    # Cut off before it names a machine, it is the reader's to complain of.
    return head.startswith(magic.ELF) and (
        len(head) < 20 or int.from_bytes(head[18:20], "little") == _EM_AMDGPU
    )
