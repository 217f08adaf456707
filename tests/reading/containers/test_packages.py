"""Packages and container images, by small writers of their layouts; real ones are in the corpus.

`.deb`: deb(5). `.conda`: conda's package format 2. Image layouts: OCI image-spec, image-layout.md
and layer.md; docker save writes its own.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from .opening import ASSEMBLY, CONTAINERS, HOST, OBJECT, members, opened, opened_path
from .test_archive import archive, member
from .test_hipk import HERE, MEND, MISSING, host
from .test_kpack import kpack
from .test_tar import tar
from .test_zip_archive import packed

FILES = (("./opt/k.co", OBJECT), ("./opt/README", b"text"), ("./opt/bin/host.o", HOST))
FOUND = "./opt/k.co"
ZSTD = (CONTAINERS / "tiny.tar.zst").read_bytes()
IN_ZSTD = [
    "tiny/tiny-fat-compressed.o/hipv4-amdgcn-amd-amdhsa--gfx1030",
    "tiny/tiny-fat-compressed.o/hipv4-amdgcn-amd-amdhsa--gfx90a",
    "tiny/tiny-v6-clang22-gfx1030.s",
    "tiny/tiny-v6-clang22-gfx90a.co",
]


def deb(name: str, data: bytes) -> bytes:
    control = gzip.compress(tar(("./control", b"Package: kernels\n")))
    return archive(
        member("debian-binary", b"2.0\n"), member("control.tar.gz", control), member(name, data)
    )


@pytest.mark.parametrize(
    ("end", "compress"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
)
def test_deb(end: str, compress: type[bytes]) -> None:
    blobs, messages = opened(deb(f"data.tar{end}", compress(tar(*FILES))))
    assert (members(blobs), messages) == ([f"data.tar{end}/{FOUND}"], [])
    assert bytes(blobs[0].data) == OBJECT


def test_deb_of_zstd() -> None:
    blobs, messages = opened(deb("data.tar.zst", ZSTD))
    assert (members(blobs), messages) == ([f"data.tar.zst/{name}" for name in IN_ZSTD], [])


def test_conda() -> None:
    package = packed(
        ("metadata.json", b'{"conda_pkg_format_version": 2}'),
        ("pkg-kernels-1.0-0.tar.zst", ZSTD),
        method=zipfile.ZIP_STORED,
    )
    blobs, messages = opened(package)
    assert members(blobs) == [f"pkg-kernels-1.0-0.tar.zst/{name}" for name in IN_ZSTD]
    assert messages == []


def test_conda_of_the_old_format() -> None:
    blobs, messages = opened(bz2.compress(tar(("info/index.json", b"{}"), *FILES)))
    assert (members(blobs), messages) == ([FOUND], [])


class Image:
    """The blobs of an image of two layers; the later one deletes a file of the first, and has
    another one of its name."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        first = self.add(gzip.compress(tar(*FILES, ("./opt/gone.s", ASSEMBLY))))
        second = self.add(tar(("./opt/k.co", OBJECT), ("./opt/.wh.gone.s", b"")))
        self.layers = (first, second)
        config = self.add(json.dumps({"architecture": "amd64"}).encode())
        manifest = {"config": {"digest": config}, "layers": [{"digest": d} for d in self.layers]}
        self.manifest = self.add(json.dumps(manifest).encode())

    def add(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self.blobs[digest] = data
        return digest

    def files(self) -> list[tuple[str, bytes]]:
        """(name, bytes) of the files of an OCI layout."""
        index = json.dumps({"manifests": [{"digest": f"sha256:{self.manifest}"}]}).encode()
        fixed = [("oci-layout", b'{"imageLayoutVersion": "1.0.0"}'), ("index.json", index)]
        return fixed + [(f"blobs/sha256/{name}", data) for name, data in self.blobs.items()]

    def found(self) -> list[str]:
        """Every layer's own files, whatever another deletes."""
        first, second = self.layers
        return [f"{first}/{FOUND}", f"{first}/./opt/gone.s", f"{second}/{FOUND}"]


def test_an_oci_layout_is_a_folder_of_layers(tmp_path: Path) -> None:
    image = Image()
    for name, data in image.files():
        path = tmp_path / "oci" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    blobs, messages = opened_path(tmp_path / "oci")
    assert messages == []
    found = [f"{Path(blob.path).name}/{blob.member}" for blob in blobs]
    assert sorted(found) == sorted(image.found())


def test_an_oci_archive_is_a_tar_of_it() -> None:
    image = Image()
    blobs, messages = opened(tar(*image.files()))
    assert (members(blobs), messages) == ([f"blobs/sha256/{n}" for n in image.found()], [])


def test_docker_save_names_each_layer() -> None:
    image = Image()
    layers = [(f"{name}/layer.tar", image.blobs[name]) for name in image.layers]
    manifest = json.dumps([{"Config": "c.json", "Layers": [name for name, _ in layers]}]).encode()
    blobs, messages = opened(tar(*layers, ("c.json", b"{}"), ("manifest.json", manifest)))
    assert messages == []
    assert members(blobs) == [name.replace("/", "/layer.tar/", 1) for name in image.found()]


@pytest.mark.parametrize("package", [lambda data: deb("data.tar", data), gzip.compress])
def test_halves_of_a_kpack_build_in_one_package(package: type[bytes]) -> None:
    entry = ("lib/x.so#0", "gfx90a", OBJECT)
    both = (("./lib/libx.so", host()), ("./.kpack/x_gfx90a.kpack", kpack([entry])))
    blobs, messages = opened(package(tar(*both)))
    assert (len(blobs), messages) == (1, [])
    blobs, messages = opened(package(tar(both[0])))
    assert (blobs, messages) == ([], [MISSING.format(HERE[0], "in this file") + MEND])
