"""Fixed bounds on containers; users can set those of `reading.blob.Bounds`."""

from __future__ import annotations

MOST_STRINGS = 4096  # strings of one image of an OffloadBinary; real ones have two
MOST_DAMAGED = 16  # damaged bundles of one run, then the reader stops
LONGEST_NAME = 4096  # bytes of an entry's id or a member's name; real ids have less than 100
REPETITION = 2  # contents of a container, as a multiple of its own size
ZSTD_WINDOW_LOG = 27
"""128 MiB. clang compresses with long-distance matching: the window is as large as the content."""
STREAMS = 4096  # adjacent compressed streams of any size
STREAM_BYTES = 16 << 10  # mean content that more streams need; a stream of bgzip has 64 KiB
XZ_MEMORY_BYTES = 256 << 20  # four times the memory of `xz -9`
COPIED_BYTES = 64 << 20  # files up to this size are read at once, larger ones in parts
ZIP_DIRECTORY_BYTES = 16 << 20  # directory of a zip, or 1/8 of the zip; an entry has about 130
PAX_BYTES = 1 << 20  # one pax header of a tar; real ones have a few hundred
STANDARD_INPUT_BYTES = 256 << 20  # its size is unknown, and it may never end
SIDECAR_BYTES = 1 << 20  # JSON file next to a code object; real ones have less than 2 KB
KPACK_TABLE_BYTES = 64 << 20
"""Table of contents of a kpack archive, unpacked at once; an entry takes about 100 bytes."""
KPACK_FRAMES = 1 << 20  # compressed kernels of one kpack archive; bound of ROCm's runtime, too
KPACK_MARKER_BYTES = 64 << 10
"""A host library's reference to its kpack archives; ROCm's runtime has this bound, too."""
SEARCH_PATHS = 256  # search paths of one host library, and archives that match them
AKS2_DIRECTORY_BYTES = 16 << 20  # directory of one AKS2 pack; an entry takes about 100
DATABASE_BLOB_BYTES = 256 << 20  # one value in a database
DATABASE_COPY_BYTES = 1 << 30  # a database with a write-ahead log: it is read as a copy
DATABASE_ROWS = 1_000_000  # rows of one table; MIOpen's largest databases have some ten thousand
DATABASE_STEPS = 100_000_000
"""Steps of SQLite's virtual machine per database: a damaged one could run forever. A row takes
about thirty steps."""
DATABASE_OPERATIONS = 1 << 16
"""Operations of one program for that machine: each generated column may double them, in memory. A
query here has about thirty."""
RPM_HEADER_BYTES = 256 << 20  # one header; rpm has this bound, too
