"""Writers of containers, from the layouts that the readers of containers state.

`WRITERS` are steps of the files of contract rows: of entries, which are (name, bytes), and options.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from hashlib import md5
from struct import pack, pack_into, unpack_from
from typing import Any

import msgpack

from .conftest import FIXTURES
from .tars import pax, tar, tar_header

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Entry = tuple[str, bytes]
GFX90A = "hipv4-amdgcn-amd-amdhsa--gfx90a"
"""Id of an entry of a bundle."""
OBJECT = (FIXTURES / "code_object" / "tiny-v6-clang22-gfx90a.co").read_bytes()
_ZIP = {"stored": 0, "deflate": 8, "bzip2": 12, "lzma": 14}


def _at(numbers: Iterable[int]) -> list[int]:
    """Sums of all numbers before each."""
    sums = [0]
    for number in numbers:
        sums.append(sums[-1] + number)
    return sums[:-1]


def archive(*members: bytes) -> bytes:
    """Archive of `ar` of these members."""
    return b"!<arch>\n" + b"".join(members)


def member(name: str, data: bytes, size: str | None = None) -> bytes:
    """Member of an archive. The name is as it stands in its header: GNU's end in `/`."""
    text = name.encode("utf-8", "surrogateescape").ljust(16)
    header = text + f"{0:<12}{0:<6}{0:<6}{644:<8}{size or len(data):<10}`\n".encode()
    return header + data + b"\n" * (len(data) % 2)


def thin(*names: str) -> bytes:
    """Thin archive: of files next to it."""
    texts = [f"{name}/\n".encode() for name in names]
    parts = (member(f"/{index}", b"", "9") for index in _at(map(len, texts)))
    return b"!<thin>\n" + member("//", b"".join(texts)) + b"".join(parts)


def bundle(*entries: Entry, align: int = 1) -> bytes:
    """clang's offload bundle."""
    start, rows, body = 32 + sum(24 + len(id) for id, _ in entries), [], b""
    for id, data in entries:
        body += bytes(-(start + len(body)) % align)
        rows.append((start + len(body), len(data), id.encode()))
        body += data
    return table(*rows) + body


def table(*rows: tuple[int, int, bytes]) -> bytes:
    """Header of a bundle: offset, size and id of each entry."""
    entries = (pack("<QQQ", offset, size, len(id)) + id for offset, size, id in rows)
    return b"__CLANG_OFFLOAD_BUNDLE__" + pack("<Q", len(rows)) + b"".join(entries)


def ccob(
    plain: bytes, version: int = 3, method: int = 1, claimed: int | None = None, window: int = 0
) -> bytes:
    """clang's compressed bundle; its `window` is 2 to this power, if stated."""
    options = {int(zstd.CompressionParameter.window_log): window} if window else {}
    packed = zstd.compress(plain, options=options) if method else zlib.compress(plain)
    size = len(plain) if claimed is None else claimed
    lengths = {
        1: pack("<I", size),
        2: pack("<II", 24 + len(packed), size),
        3: pack("<QQ", 32 + len(packed), size),
    }[version]
    return b"CCOB" + pack("<HH", version, method) + lengths + md5(plain).digest()[:8] + packed


def offload_binary(*images: Entry, version: int = 1) -> bytes:
    """LLVM's OffloadBinary: header, entries, tables of strings, strings, images. A name is
    `TRIPLE--ARCH`, or empty for an image without strings."""
    named = [dict(zip(("triple", "arch"), n.split("--"), strict=True)) if n else {}
             for n, _ in images]  # fmt: skip
    table = 32 + 40 * len(images)
    text_at = table + {1: 16, 2: 24}[version] * sum(map(len, named))
    text_size = sum(len(f"{key}{value}") + 2 for one in named for key, value in one.items())
    image_at = text_at + text_size + -(text_at + text_size) % 8
    texts, rows, entries, blobs = b"", b"", b"", b""
    for strings, (_, data) in zip(named, images, strict=True):
        entries += pack(
            "<HHIQQQQ", 0, 4, 0, table + len(rows), len(strings), image_at + len(blobs), len(data)
        )
        for key, value in strings.items():
            places = [text_at + len(texts), text_at + len(texts) + len(key) + 1]
            rows += pack("<QQ", *places) + (pack("<Q", len(value)) if version == 2 else b"")
            texts += f"{key}\0{value}\0".encode()
        blobs += data + bytes(-len(data) % 8)
    count = 40 if version == 1 else len(images)
    header = b"\x10\xff\x10\xad" + pack("<IQQQ", version, image_at + len(blobs), 32, count)
    return (header + entries + rows + texts).ljust(image_at, b"\0") + blobs


def zipped(*files: Entry, method: str = "deflate", mode: int = 0) -> bytes:
    """Zip archive; `mode` is that of Unix."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.external_attr = _ZIP[method], mode << 16
            archive.writestr(info, data)
    return whole.getvalue()


def with_member(archive: bytes, name: str, data: bytes) -> bytes:
    """A zip archive with one more member."""
    whole = io.BytesIO(archive)
    with zipfile.ZipFile(whole, "a") as opened:
        opened.writestr(zipfile.ZipInfo(name), data)
    return whole.getvalue()


def zip64(whole: bytes, offset: int) -> bytes:
    """A zip of one member whose directory says in 64 bits where it is."""
    data = bytearray(whole)
    entry, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    extra = pack("<HHQ", 1, 8, offset)
    pack_into("<H", data, entry + 30, len(extra))
    pack_into("<I", data, entry + 42, 0xFFFFFFFF)
    pack_into("<I", data, end + 12, end - entry + len(extra))
    return bytes(data[:end] + extra + data[end:])


def cpio(*files: Entry) -> bytes:
    """Archive of `cpio`, in its new format."""
    end = cpio_member("TRAILER!!!", b"", mode=0)
    return b"".join(cpio_member(name, data) for name, data in files) + end


def cpio_member(name: str, data: bytes, mode: int = 0o100644, size: int | None = None) -> bytes:
    """One member of it."""
    text = name.encode("utf-8", "surrogateescape") + b"\0"
    numbers = (1, mode, 0, 0, 1, 0, len(data) if size is None else size, 0, 0, 0, 0, len(text), 0)
    header = b"070701" + b"".join(b"%08x" % number for number in numbers) + text
    return header + bytes(-len(header) % 4) + data + bytes(-len(data) % 4)


def rpm(payload: bytes) -> bytes:
    """RPM package: lead, signature, header, payload."""
    lead = b"\xed\xab\xee\xdb\3".ljust(96, b"\0")
    signature = rpm_header(1, b"sig")
    padding = bytes(-len(signature) % 8)
    return lead + signature + padding + rpm_header(2, b"package") + payload


def rpm_header(entries: int, store: bytes) -> bytes:
    return pack(">4s4xII", b"\x8e\xad\xe8\1", entries, len(store)) + bytes(16 * entries) + store


def elf(*sections: Entry, kind: int = 1) -> bytes:
    """Object for x86-64 with these sections, of this type, and the table of their names."""
    named = [("", b""), *sections, (".shstrtab", b"")]
    names = [name.encode() + b"\0" for name, _ in named]
    named[-1] = (".shstrtab", b"".join(names))
    datas = [data for _, data in named]
    headers = [
        pack("<IIQQQQIIQQ", name, kind if size else 0, 0, 0, 64 + at, size, 0, 0, 1, 0)
        for name, at, size in zip(
            _at(map(len, names)), _at(map(len, datas)), map(len, datas), strict=True
        )
    ]
    count, at = len(named), 64 + sum(map(len, datas))
    header = pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, count, count - 1)
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + header + b"".join(datas) + b"".join(headers)


def split(
    *,
    paths: str = "../.kpack/x_@GFXARCH@.kpack",
    name: str = "lib/x.so",
    units: str = "0",
    own: str = "",
    reference: bytes | None = None,
    sections: bool = True,
) -> bytes:
    """ELF library whose code rocm-kpack moved to archives: wrappers of `units` and those with code
    of their `own`, a marker that a segment of its own loads, and no code."""
    reference = marker(paths.split(), name) if reference is None else reference
    moved = wrappers(str(units)) + wrappers(str(own), b"FPIH")
    parts = [(b".hipFatBinSegment", 1, moved), (b".rocm_kpack_ref", 1, reference)]
    parts.append((b".hip_fatbin", 8, bytes(4096)))
    names = b"\0" + b"".join(name + b"\0" for name, _, _ in parts) + b".shstrtab\0"
    body, rows, at = b"", bytes(64), 64 + 56
    for section, kind, data in (*parts, (b".shstrtab", 3, names)):
        name_at = names.index(section)
        rows += pack("<IIQQQQIIQQ", name_at, kind, 2, at, at, len(data), 0, 0, 1, 0)
        if kind != 8:
            body += data
            at += len(data)
    start = 64 + 56 + len(moved)
    segment = pack("<IIQQQQQQ", 1, 4, start, start, start, len(reference), len(reference), 8)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + pack(
        *("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at * sections, 0, 64, 56, 1, 64, 5 * sections, 4)
    )
    return header + segment + body + rows * sections


def wrappers(units: str, magic: bytes = b"HIPK") -> bytes:
    """Wrappers of the fat binaries of these units, such as `0,1`."""
    return b"".join(pack("<4sIQQ", magic, 1, 0, int(unit)) for unit in units.split(",") if unit)


def marker(paths: Sequence[str], name: str = "lib/x.so") -> bytes:
    """Reference of a library to its kpack archives."""
    return bytes(msgpack.packb({"kpack_search_paths": list(paths), "kernel_name": name}))


def kpack(*entries: Entry, compressed: bool = False, table: str = "{}") -> bytes:
    """kpack archive. A name is `BINARY@TARGET`; `table` is JSON of keys to be replaced in it."""
    toc: dict[str, Any] = {}
    for ordinal, (name, data) in enumerate(entries):
        binary, _, target = name.partition("@")
        entry = {"type": "hsaco", "ordinal": ordinal, "original_size": len(data)}
        toc.setdefault(binary, {})[target] = entry
    pieces = [data for _, data in entries]
    whole: dict[str, Any] = {"format_version": 1, "group_name": "x", "gfx_arches": [], "toc": toc}
    if compressed:
        pieces = [zstd.compress(data) for data in pieces]
        blob = pack("<I", len(pieces)) + b"".join(pack("<I", len(p)) + p for p in pieces)
        whole |= {"compression_scheme": "zstd-per-kernel"}
        whole |= {"zstd_offset": 64, "zstd_size": len(blob)}
    else:
        blob = b"".join(pieces)
        places = zip(_at(map(len, pieces)), pieces, strict=True)
        stated = [{"offset": 64 + at, "size": len(piece)} for at, piece in places]
        whole |= {"compression_scheme": "none", "blobs": stated}
    start = pack("<4sIQ", b"KPAK", 1, 64 + len(blob)).ljust(64, b"\0")
    return start + blob + bytes(msgpack.packb(whole | json.loads(table)))


def coff(*sections: Entry, long_names: bool = True) -> bytes:
    """Object for x86-64 without symbols; names over eight bytes in the string table."""
    names, table, body = b"", b"", b""
    start = 20 + 40 * len(sections)
    for name, data in sections:
        short = name.encode()
        if len(name) > 8 and long_names:
            short = b"/%d" % (4 + len(names))
            names += name.encode() + b"\0"
        table += short[:8].ljust(8, b"\0")
        table += pack("<IIIIIIHHI", 0, 0, len(data), start + len(body), 0, 0, 0, 0, 0)
        body += data
    header = pack("<HHIIIHH", 0x8664, len(sections), 0, start + len(body), 0, 0, 0)
    return header + table + body + pack("<I", 4 + len(names)) + names


def pe(*sections: Entry) -> bytes:
    """Image of Windows; names have eight bytes."""
    start = b"MZ".ljust(60, b"\0") + pack("<I", 64) + b"PE\0\0"
    whole = bytearray(start + coff(*sections, long_names=False))
    for index in range(len(sections)):
        at = len(start) + 20 + 40 * index + 20
        whole[at : at + 4] = pack("<I", int.from_bytes(whole[at : at + 4], "little") + len(start))
    return bytes(whole)


def aks2(*entries: Entry, **header: int) -> bytes:
    """Pack of AOTriton. A name is `NAME LDS-BYTES THREADS`; `size`, `count` and `directory` replace
    numbers of its header."""
    rows, images = b"", b""
    for words, image in entries:
        name, lds, threads = words.split()
        text = name.encode() + b"\0"
        rows += pack("<IIIII", int(lds), int(threads), len(images), len(image), len(text)) + text
        images += image
    numbers = {"size": len(rows + images), "count": len(entries), "directory": len(rows)} | header
    packed = lzma.compress(rows + images, check=lzma.CHECK_CRC64)
    return b"AKS2" + pack("<III", *numbers.values()) + packed


def printed(*objects: bytes) -> bytes:
    """Module of MLIR with one `gpu.binary` for each object."""
    lines = (
        b'  gpu.binary @k  [#gpu.object<#rocdl.target<chip = "gfx90a">, bin = "%s">]\n' % text
        for text in map(escaped, objects)
    )
    return b"module attributes {gpu.container_module} {\n" + b"".join(lines) + b"}\n"


def escaped(data: bytes) -> bytes:
    """As llvm::printEscapedString writes it."""
    return b"".join(
        b"\\\\" if byte == 92
        else bytes([byte]) if 32 <= byte < 127 and byte != 34
        else b"\\%02X" % byte
        for byte in data
    )  # fmt: skip


def pickled(data: bytes, key: str = "", protocol: int = 4, keys: int = 0) -> bytes:
    """Pickle of bytes, or of a dictionary with them (as text for the key `ir_text`), behind many
    strings that it remembers."""
    value = data.decode() if key == "ir_text" else data
    return pickle.dumps(([*map(str, range(keys))], {key: value}) if key else value, protocol)


TABLES = {
    "kern_db": "(id INTEGER PRIMARY KEY ASC, kernel_name TEXT, kernel_args TEXT, kernel_blob BLOB, "
    "kernel_hash TEXT, uncompressed_size INT)",
    "cache_v1": "(kernel_name TEXT NOT NULL, arch TEXT NOT NULL, hip_version INTEGER NOT NULL, "
    "generator_sum BLOB NOT NULL, code BLOB NOT NULL, timestamp INTEGER NOT NULL, PRIMARY KEY "
    "(kernel_name, arch, hip_version, generator_sum))",
}
"""Columns of the tables of MIOpen and rocFFT. Others are tinygrad's, as `diskcache_put` makes."""


def database(read: Callable[[str], bytes], *statements: str) -> bytes:
    """Database. `TABLE: VALUES` is a row of a table, which is made before its first; SQL has the
    functions file(NAME), bz2, md5 and pickle(DATA, PROTOCOL)."""
    functions: dict[str, tuple[int, Callable[..., Any]]] = {
        "file": (1, read),
        "bz2": (1, bz2.compress),
        "md5": (1, lambda data: md5(data).hexdigest()),
        "pickle": (2, lambda data, protocol: pickle.dumps(data, protocol)),
    }
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for name, (count, function) in functions.items():
            connection.create_function(name, count, function)
        connection.execute("PRAGMA page_size = 512")
        made = set()
        for statement in statements:
            name, colon, values = statement.partition(": ")
            if not colon:
                connection.execute(statement)
                continue
            quoted = name.replace('"', '""')
            if name not in made:
                columns = TABLES.get(name, "(key text, val blob, PRIMARY KEY (key))")
                connection.execute(f'CREATE TABLE "{quoted}" {columns}')
                made.add(name)
            connection.execute(f'INSERT INTO "{quoted}" VALUES ({values})')
        return connection.serialize()


def with_note(data: bytes, metadata: str) -> bytes:
    """A code object without sections whose note, moved to its end, holds other metadata: JSON, or
    bytes in hexadecimal."""
    is_json = metadata[:1] in "{[7"
    content = bytes(msgpack.packb(json.loads(metadata))) if is_json else bytes.fromhex(metadata)
    note = pack("<III8s", 7, len(content), 32, b"AMDGPU") + content
    start, count = unpack_from("<Q", data, 32)[0], unpack_from("<H", data, 56)[0]
    headers = range(start, start + 56 * count, 56)
    [header] = [at for at in headers if unpack_from("<I", data, at)[0] == 4]
    moved = bytearray(data)
    pack_into("<Q", moved, header + 8, len(data))
    pack_into("<Q", moved, header + 32, len(note))
    return bytes(moved) + note


def with_keys(data: bytes, keys: str) -> bytes:
    """That object with these keys, in JSON, for the first of its two kernels."""
    first = {".name": "_Z3addPii", ".symbol": "_Z3addPii.kd", ".sgpr_count": 6} | json.loads(keys)
    kernels = [first, {".name": "_Z5claimPi"}]
    metadata = {"amdhsa.version": [1, 2], "amdhsa.kernels": kernels}
    return with_note(data, json.dumps(metadata))


WRITERS: dict[str, Callable[..., bytes]] = {
    "archive": lambda *entries: archive(*(member(*entry) for entry in entries)),
    "thin": lambda *entries: thin(*(name for name, _ in entries)),
    "bundle": bundle,
    "offload": offload_binary,
    "zip": zipped,
    "tar": tar,
    "cpio": cpio,
    "elf": elf,
    "split": lambda *marker, **how: split(reference=dict(marker).get("marker"), **how),
    "kpack": kpack,
    "coff": coff,
    "pe": pe,
    "aks2": aks2,
    "mlir": lambda *entries: printed(*(data for _, data in entries)),
}
"""Containers of entries."""
WRAPPERS: dict[str, Callable[..., bytes]] = {
    "member": lambda data, name, **size: member(name, data, *map(str, size.values())),
    "cpio-member": lambda data, name, **how: cpio_member(name, data, **how),
    "tar-header": lambda data, **how: data + tar_header(**how),
    "pax": pax,
    "zip64": lambda data, offset: zip64(data, int(offset, 0)),
    "ccob": ccob,
    "rpm": rpm,
    "note": with_note,
    "says": with_keys,
    "pickle": pickled,
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "unxz": lzma.decompress,
    "lzma": lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
    "zstd": zstd.compress,
}
"""Containers of bytes."""
