"""Opens containers down to single code objects and assembly texts.

The first bytes decide on the format, never a file's name. A format is a line in `formats.FORMATS`
and a function of a module, which is imported with the first file of the format. The function yields
the contents of a container, one level deep, and nothing if none of it is for AMD GPUs. It raises
`ReadError` if damage keeps it from reading on.
"""

from __future__ import annotations

import codecs
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module

from kernelinfo.errors import BoundError, Message, ReadError, bug, survived
from kernelinfo.reading import build_log
from kernelinfo.reading.blob import BY_DEFAULT, Blob, Bounds, Elsewhere, File, Found, Problem
from kernelinfo.reading.containers import files, formats
from kernelinfo.reading.containers.files import Seen
from kernelinfo.reading.containers.formats import DATA_SECTION, left_out, problem
from kernelinfo.reading.data import Data, text_of
from kernelinfo.reading.messages import say

_EM_AMDGPU = 224
_OF_DEVICES = (
    *("device_code.read_bundle", "device_code.read_offload_binary"),
    *("device_code.read_aks2", "kpack.read"),
)
"""Formats with nothing but code for devices."""
_CUDA_NAME = r"[-+_.]cu(?:da)?\d{2,3}(?!\d)"  # torch-2.9.1+cu128-….whl
_CUDA_CODE = rb"nv_fatbin|__nv_relfatbin"
_EM_CUDA = 190


def _is_cuda(blob: Blob) -> bool:
    """True for a file without AMD GPU code that is for NVIDIA GPUs, judged by its name, ELF machine
    or sections."""
    start = bytes(blob.data.read(0, 20))
    is_cubin = start[:4] == b"\x7fELF" and int.from_bytes(start[18:20], "little") == _EM_CUDA
    is_named = re.search(_CUDA_NAME, os.path.basename(blob.path)) is not None
    is_host = start[:4] == b"\x7fELF" and blob.data.search(re.compile(_CUDA_CODE)) is not None
    return is_cubin or is_named or is_host


def open_paths(
    paths: Iterable[str],
    *,
    required: bool = True,
    among: Sequence[str] = (),
    within: Bounds = BY_DEFAULT,
    seen: Seen | None = None,
) -> Iterator[Found]:
    """Code and problems of files, directories, globs and standard input (`-`), in the order given.

    No file is read twice, even if several paths name it. `seen` holds the files that the whole run
    has read. A host file's kpack archives and a database's log are not read again if they are in
    `paths` or in `among`, the paths of the whole run.
    """
    paths, seen = tuple(paths), set() if seen is None else seen
    for path in paths:
        listed = files.find_once(path, seen)
        for file in survived(listed, partial(Problem, path)):
            yield from open_file(file, required=required, among=among or paths, within=within)


def open_file(
    file: File | Problem,
    *,
    required: bool = True,
    among: Sequence[str] = (),
    within: Bounds = BY_DEFAULT,
) -> Iterator[Found]:
    """Code and problems of one file. A `Problem` and a repeated file are returned unchanged. A
    database's log becomes a repeated file if the database is `among` the paths.

    A file that the user named is a problem if it has no code, unless `required` is False. A file in
    a directory is a problem if it cannot be read, or if its name promises code but it is empty, all
    zero or a Git LFS pointer. Other files without code are skipped.
    """
    if isinstance(file, Problem) or file.is_repeated:
        yield file
    else:
        items = _opened(file, required=required, among=among, within=within)
        yield from survived(items, partial(Problem, file.path))


def _opened(file: File, *, required: bool, among: Sequence[str], within: Bounds) -> Iterator[Found]:
    if files.is_read_as_log(file.path, among):
        yield file._replace(is_repeated=True)
        return
    blob = files.load(file.path, within, file.bytes)
    if isinstance(blob, Problem):
        is_empty = blob.code == files.EMPTY.code
        if (file.named and required) or formats.is_named_as_code(file.path) or not is_empty:
            yield blob
        return
    if (file.named or formats.may_be_code(file.path)) and files.is_pointer(blob):
        yield Problem(file.path, say("git-lfs-pointer"))
        return
    if formats.is_named_as_code(file.path) and files.is_all_zero(blob):
        yield Problem(file.path, say("file-all-zero"))
        return
    yield from open_blob(blob, among, required=file.named and required)


def open_blob(blob: Blob, among: Sequence[str] = (), *, required: bool = True) -> Iterator[Found]:
    """Code and problems of an outermost file; if `required`, a file without code is a problem."""
    items = _contents(blob, among, required=required)
    first = next(items, None)
    if first is None and required:
        format = formats.format_of(bytes(blob.data.read(0, formats.HEAD_BYTES)))
        is_database = format == formats.DATABASE
        without = say("database-without-kernels") if is_database else say("file-without-code")
        first = problem(blob, say("file-cuda") if _is_cuda(blob) else without)
    if first is not None:
        yield first
    yield from items


def open_bytes(data: bytes, path: str, within: Bounds = BY_DEFAULT) -> Iterator[Found]:
    """Code and problems of `data`; messages call it `path`."""
    yield from open_blob(files.whole(path, Data.of(data), within))


def _contents(blob: Blob, among: Sequence[str], *, required: bool) -> Iterator[Found]:
    """Code and problems of an outermost file; exceeding a bound ends with a problem."""
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
    except (BoundError, ReadError) as error:
        yield problem(blob, error.message)
    except Exception as error:
        yield problem(blob, bug(error))


def _numbered(blob: Blob, members: Counter[str]) -> Blob:
    """The blob; a member seen before gets a number: `LIBRARY/#2/ENTRY`.

    Only blobs without an offset need it: in compressed data, bundles of several sources have
    entries of the same name."""
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
    """The code of a host file, from the kpack archives next to it.

    A host file in a container is returned itself if `entries`, the members of the kpack archives in
    that container, hold its code; else a problem.
    """
    from kernelinfo.reading.containers import kpack

    if host.blob.containers:
        yield host if kpack.is_among(host, entries) else kpack.missing(host, "in this file")
        return
    for item in kpack.code_objects(host, among):
        if isinstance(item, Blob):
            yield from _unpack(item, required=True)
        else:
            yield item


def _unpack(blob: Blob, *, required: bool) -> Iterator[Found]:
    """Code and problems of a blob, which may be without code unless `required`."""
    head = bytes(blob.data.read(0, formats.HEAD_BYTES))
    if not required and not formats.is_worth_opening(head, blob.member or blob.path):
        yield from _searched(blob, required=False)
        return
    if _is_code_object(head):
        yield blob._replace(kind="code-object")
        return
    format = formats.format_of(head)
    if format is None:
        yield from _read_unknown(blob, required=required)
        return
    deepest = blob.bounds.nesting
    if len(blob.containers) >= deepest:
        yield problem(blob, say("container-nesting", deepest=deepest))
        return
    if blob.within or format in _OF_DEVICES or blob.containers[-1:] == ("fatbin",):
        blob = blob._replace(within=(*blob.within, blob.data))
    for item in _members(blob, format):
        blob.budget.spend_member()
        if not isinstance(item, Blob):
            yield item
            continue
        if item.containers[-1] == DATA_SECTION:
            contents = _searched(item, required=required)
        elif item.is_one_of_many:
            contents = _unpack(item, required=False)
        else:
            contents = _unpack(item, required=required or format != formats.COMPRESSED_FILE)
        yield from survived(contents, partial(problem, item))


def _members(blob: Blob, format: str) -> Iterator[Found]:
    """The contents of a container, one level deep; damage becomes a problem."""
    try:
        module, _, function = format.partition(".")
        yield from getattr(import_module(f"{__name__}.{module}"), function)(blob)
    except ReadError as error:
        yield problem(blob, error.message)
    except Exception as error:
        yield problem(blob, bug(error))


def _read_unknown(blob: Blob, *, required: bool) -> Iterator[Found]:
    """The blob itself if it is assembly or a build log, else the code objects found in it; a
    problem if there are none and the blob is `required` to have code."""
    item = _text(blob)
    if isinstance(item, Blob):
        yield item
        return
    items = _searched(blob, required=required)
    if required:
        yield next(items, item)
    yield from items


def _searched(blob: Blob, *, required: bool) -> Iterator[Found]:
    """Code objects found by their headers in data of unknown format; a note if the data are too
    large to search."""
    if not required and len(blob.data) > blob.bounds.carved:
        yield left_out(blob)
        return
    from kernelinfo.reading.containers import host_binary  # imports much, for bundles

    for item in host_binary.search(blob):
        if isinstance(item, Blob):
            yield from _unpack(item, required=True)
        else:
            yield item


def _is_code_object(head: bytes) -> bool:
    # A file truncated before its machine field is taken for one: its reader reports the damage.
    return head.startswith(formats.ELF) and (
        len(head) < 20 or int.from_bytes(head[18:20], "little") == _EM_AMDGPU
    )


# Every assembly text for these GPUs has one of these, mostly at the top.
_MARKS = (
    rb"\.amd(?:gcn_target|hsa_|_kernel_code_t|_amdgpu_|gpu_(?:metadata|hsa_kernel|pal_metadata))"
    rb"|\.hsa_code_object_|; Kernel info:|\.section\s+\.AMDGPU\."
)
_RESOURCE_USAGE = rb"Function Name: |Pass: +kernel-resource-usage"
_RECORD = b"--- !"
_FLAG = "-Rpass-analysis=kernel-resource-usage"
_LOOKED_AT = 1 << 20
_BINARY_BYTES = 1 << 12  # a zero byte in so many first bytes means that data are not text
_LOG = rb"(?m)(?:warning|remark|error): |^\[\d+/\d+\] |^\[ *\d+%\] "
_ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_MAPS = (*(bytes([first]) for first in range(0x80, 0x90)), b"\xde", b"\xdf")
"""First bytes of MessagePack maps."""
_CATALOGUE = rb"[\xa0-\xbf](?:solutions|library|codeObjectFile)"
_CATALOGUE_BYTES = 1 << 12
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _text(blob: Blob) -> Blob | Problem:
    """The text as a blob of its kind, UTF-16 converted to UTF-8; a problem if it has no kernels."""
    if bytes(blob.data.read(0, 2)) in _UTF16:
        if len(blob.data) > blob.bounds.memory:
            memory = blob.bounds.memory
            return problem(blob, say("text-utf16-too-large", size=len(blob.data), most=memory))
        blob = blob._replace(data=Data.of(bytes(blob.data).decode("utf-16", "replace").encode()))
    is_large = len(blob.data) > blob.bounds.carved  # small texts may have stray zeros
    is_binary = is_large and b"\0" in bytes(blob.data.read(0, _BINARY_BYTES))
    if not is_binary and blob.data.search(re.compile(_MARKS)) is not None:
        return blob._replace(kind="assembly")
    may_be_log = not is_binary and blob.data.search(re.compile(_RESOURCE_USAGE)) is not None
    if may_be_log and build_log.accepts(text_of(blob.data)):
        return blob._replace(kind="build-log")
    return problem(blob, _reason(blob.data))


_PAGE = rb"(?i)\s*<(!doctype html|html)\b"
_PTX = rb"(?m)^[ \t]*\.target[ \t]+sm_\d"


def _reason(data: Data) -> Message:
    """The message on data without kernels: what they are, and which file to give instead."""
    start = bytes(data.read(0, _LOOKED_AT))
    if _is_catalogue(start):
        return say("tensile-catalogue")
    if b"\0" in start[:_BINARY_BYTES]:
        return say("file-unknown")
    if re.match(_PAGE, start):
        return say("html-page")
    if data.search(re.compile(rb"\.hip_fatbin")) is not None:
        return say("assembly-of-host")
    if re.search(_PTX, start):
        return say("ptx")
    if start.startswith(_RECORD):
        return say("record-without-usage", flag=_FLAG)
    if re.search(_LOG, start):
        return say("log-without-usage", flag=_FLAG)
    return say("text-without-assembly")


def _is_catalogue(start: bytes) -> bool:
    """True for the first bytes of Tensile's catalogue of code objects.

    It is a MessagePack map, compressed by zlib in newer versions."""
    if start.startswith(_ZLIB):
        with suppress(zlib.error):
            start = zlib.decompressobj().decompress(start, _CATALOGUE_BYTES)
    head = start[:_CATALOGUE_BYTES]
    return head.startswith(_MAPS) and re.search(_CATALOGUE, head) is not None
