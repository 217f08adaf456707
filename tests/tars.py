"""Tar archives: of any dialect, and with headers that lie."""

from __future__ import annotations

import io
import tarfile

_DIALECTS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def tar(*files: tuple[str, bytes], dialect: str = "pax", kind: int | str = 0) -> bytes:
    """Tar archive."""
    whole = io.BytesIO()
    how = {"format": _DIALECTS[dialect], "encoding": "latin-1"}
    with tarfile.open(fileobj=whole, mode="w", **how) as archive:  # type: ignore[call-overload]
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.linkname = str(kind).encode(), len(data), "elsewhere"
            archive.addfile(info, io.BytesIO(data))
    return whole.getvalue()


def tar_header(size: int = 10, kind: int | str = 0, sparse: bytes = b"") -> bytes:
    """Header for the member k.co; its size is in binary, as GNU tar has large ones."""
    whole = bytearray(tarfile.TarInfo("k.co").tobuf(tarfile.GNU_FORMAT))
    sign = b"\xff" if size < 0 else b"\x80"
    whole[124:136] = sign + (size % (1 << 88)).to_bytes(11, "big")
    whole[156:157] = str(kind).encode()
    whole[386 : 386 + len(sparse)] = sparse
    whole[148:156] = b" " * 8
    whole[148:156] = b"%06o\0 " % sum(whole)
    return bytes(whole)


def pax(body: bytes) -> bytes:
    """Pax header with these records."""
    return tar_header(len(body), "x") + body + bytes(-len(body) % 512)


def _record(text: bytes) -> bytes:
    """Pax header with one record, of up to 89 bytes with its length."""
    return pax(b"%d %s\n" % (len(text) + 4, text))


LIES = {
    "2^62 bytes": tar_header(1 << 62),
    "2^45 bytes": tar_header(1 << 45),
    "-1 byte": tar_header(-1),
    "-512 bytes": tar_header(-512),
    "-2^40 bytes": tar_header(-1 << 40),
    "pax says 2^62": _record(b"size=%d" % (1 << 62)) + tar_header(),
    "pax says 10^60": _record(b"size=" + b"9" * 60) + tar_header(),
    "a sparse map without end": tar_header(10, "S", b"00000000001\0" * 8 + b"\1"),
    "a sparse map of no numbers": tar_header(10, "S", b"x" * 97),
    "400 long names": (tar_header(4, "L") + b"abc\0".ljust(512, b"\0")) * 400 + tar_header(),
    "5,000 pax headers": _record(b"comment=xxxxx") * 5000 + tar_header(),
}
"""Headers of a tar that lie."""
