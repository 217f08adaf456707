"""Broken inputs of one format, all in this process: `python -m tests.robustness.trials FORMAT`."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from ..conftest import FIXTURES
from ..fuzz.mutations import cuts, flips
from ..fuzz.promise import answer
from ..fuzz.readers import KERNELS, OBJECT
from ..fuzz.specimens import CONTAINERS, assembly, code_object

SPECIMENS: dict[str, list[bytes]] = {
    "code object": [OBJECT, code_object(KERNELS, sections=False)],
    "assembly": [assembly(KERNELS)],
    "bundle": [CONTAINERS["bundle"](OBJECT)],
    "CCOB": [CONTAINERS[name](OBJECT) for name in ("ccob-v1", "ccob-v2", "ccob-v3")],
    "OffloadBinary": [CONTAINERS[f"offload-binary-v{version}"](OBJECT) for version in (1, 2)],
    "archive": [CONTAINERS["archive"](OBJECT)],
    "PE, COFF": [CONTAINERS["pe"](OBJECT), CONTAINERS["coff"](OBJECT)],
    "host ELF": [],
    "gzip, zstd, xz, bzip2": [CONTAINERS[name](OBJECT) for name in ("gzip", "xz", "bzip2")],
    "tar, zip": [CONTAINERS["tar"](OBJECT), CONTAINERS["zip"](OBJECT)],
}
FILES = {
    "code object": ["code_object/*", "broken/*.co", "broken/*.o"],
    "assembly": ["assembly/*", "broken/*.s"],
    "bundle": ["container/*tiny.hipfb", "container/mixed*", "container/occupancy*.hipfb"],
    "CCOB": ["container/ccob*", "container/tiny-compressed*", "broken/*compressed*"],
    "OffloadBinary": ["container/packaged*"],
    "archive": ["container/*.a"],
    "PE, COFF": ["container/*.dll", "container/*.obj"],
    "host ELF": ["container/*.o", "container/*.so", "container/occupancy"],
    "gzip, zstd, xz, bzip2": ["container/*.gz", "container/*.zst", "container/*.xz"],
    "tar, zip": ["container/*.tar", "container/*.whl"],
}
FORMATS = tuple(SPECIMENS)


def trials(format: str) -> Iterator[bytes]:
    """All bits of the first bytes of each specimen turned, and real files cut off."""
    for whole in SPECIMENS[format]:
        yield from flips(whole)
    if format == "code object":
        note = OBJECT.index(b"AMDGPU\0") - 12
        descriptors = OBJECT.index(KERNELS[0].lds_bytes.to_bytes(4, "little") + bytes(40), note)
        sections = int.from_bytes(OBJECT[40:48], "little")
        for start in (note, descriptors, sections):
            yield from flips(OBJECT, start)
    for path in sorted(path for pattern in FILES[format] for path in FIXTURES.glob(pattern)):
        yield from cuts(path.read_bytes())


def main() -> None:
    """Say on the last line how many were tried and how many crashed, and the longest's seconds."""
    tried = crashes = 0
    longest = 0.0
    for data in trials(sys.argv[1]):
        tried += 1
        start = time.process_time()
        try:
            answer(data, show=tried % 16 == 0)
        except Exception:
            crashes += 1
            kept = Path(f"crash-{tried}")
            kept.write_bytes(data)
            print(kept, traceback.format_exc())
        longest = max(longest, time.process_time() - start)
    print(tried, crashes, f"{longest:.3f}")


if __name__ == "__main__":
    main()
