"""Bounds of the containers that nobody needs to set; the others are `reading.budget.Bounds`."""

from __future__ import annotations

MOST_STRINGS = 4096  # of one image of an OffloadBinary; real ones have two
MOST_DAMAGED = 16  # bundles of one run, after which no more are sought
LONGEST_NAME = 4096  # bytes of an entry's id or a member's name; real ids have less than 100
REPETITION = 2  # times its own size that a container may hand out
ZSTD_WINDOW_LOG = 27
"""128 MiB. clang compresses with long-distance matching: the window is as large as the content."""
STREAMS = 4096  # compressed streams that may follow each other, however little each gives
STREAM_BYTES = 16 << 10  # what more of them have to give on average; those of bgzip give 64 KiB
XZ_MEMORY_BYTES = 256 << 20  # four times what `xz -9` asks for
COPIED_BYTES = 64 << 20  # files up to this size are read at once; of larger ones, parts
ZIP_DIRECTORY_BYTES = 16 << 20  # of a zip, or an eighth of it; an entry takes about 130
PAX_BYTES = 1 << 20  # of one header of a tar; a path, times and attributes take a few hundred
STANDARD_INPUT_BYTES = 256 << 20  # it has no size to ask for, and maybe no end
SIDECAR_BYTES = 1 << 20  # of a JSON file next to a code object; real ones have less than 2 KB
KPACK_TABLE_BYTES = 64 << 20
"""Of a kpack archive's table of contents, which is unpacked at once; an entry takes about 100."""
KPACK_FRAMES = 1 << 20  # compressed kernels of one kpack archive, as many as ROCm's runtime reads
KPACK_MARKER_BYTES = 64 << 10
"""Of a host library's reference to its kpack archives, as many as ROCm's runtime reads."""
SEARCH_PATHS = 256  # of one host library, and archives that one of its patterns may name
AKS2_DIRECTORY_BYTES = 16 << 20  # of one AKS2 pack; an entry takes about 100
DATABASE_BLOB_BYTES = 256 << 20  # of one value in a database
DATABASE_COPY_BYTES = 1 << 30  # of a database with a write-ahead log, which is read as a copy
DATABASE_ROWS = 1_000_000  # of one table; MIOpen's largest databases have some ten thousand
DATABASE_STEPS = 100_000_000
"""Of SQLite's virtual machine, for one database: a damaged one could keep it forever. A row takes
about thirty."""
RPM_HEADER_BYTES = 256 << 20  # of one header, as many as rpm reads
