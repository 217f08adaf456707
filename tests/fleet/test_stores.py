"""Files on servers and in object stores, and workers elsewhere, give the same rows."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from ..conftest import FIXTURES, require
from ..messages import codes, do_lines_match
from .scans import (
    OBJECTS,
    comparable,
    kernelinfo,
    many_objects,
    one_compilation,
    process,
    reported,
    rows,
    scan,
)
from .servers import free_port, wait_for

pytest.importorskip("duckdb", reason="the extra kernelinfo[fleet] is not installed")

SERVER = Path(__file__).parent / "server.py"
S3 = {
    "AWS_ACCESS_KEY_ID": "id",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects, containers (a thin archive among them), one compilation and a large archive."""
    folder = tmp_path_factory.mktemp("builds")
    shutil.copytree(OBJECTS, folder / "objects")
    shutil.copytree(FIXTURES / "container", folder / "containers")
    one_compilation(folder / "temporary")
    members = [path.read_bytes() for path in sorted(OBJECTS.glob("variety*.co"))]
    (folder / "large.a").write_bytes(_archive(members * 40))
    return folder


def _archive(members: list[bytes]) -> bytes:
    """An archive of `ar`."""
    found = b"!<arch>\n"
    for number, member in enumerate(members):
        header = f"{f'{number}.co/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(member):<10}`\n"
        found += header.encode() + member + b"\n" * (len(member) % 2)
    return found


def bytes_sent(server: subprocess.Popen[str]) -> int:
    """Bytes that server.py sent in parts, read after it ended."""
    server.kill()
    lines = server.communicate()[0].splitlines()
    return sum(int(line) for line in lines if line.isdigit())


@pytest.mark.parametrize("ranges", [True, False], ids=("ranges", "whole"))
def test_of_an_http_server(builds: Path, ranges: bool, tmp_path: Path) -> None:
    port = free_port()
    serve = (SERVER, port) if ranges else ("-m", "http.server", port, "--bind", "127.0.0.1")
    with process(*serve, folder=builds) as server:
        wait_for(port)
        scan(f"http://user:word@127.0.0.1:{port}/", to=tmp_path)
        sent = bytes_sent(server)
    assert comparable(rows(tmp_path)) == reported(builds)
    assert {row["Url"].partition("/objects")[0] for row in rows(tmp_path)} >= {
        f"http://127.0.0.1:{port}"
    }
    assert (sent > 0) == ranges


def test_a_library_costs_the_bytes_that_are_looked_at(tmp_path: Path) -> None:
    library = Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1")
    require("librocrand")
    port = free_port()
    with process(SERVER, port, folder=library.parent) as server:
        wait_for(port)
        scan(f"http://127.0.0.1:{port}/{library.name}", to=tmp_path)
        sent = bytes_sent(server)
    assert comparable(rows(tmp_path)) == reported(library)
    assert sent < library.stat().st_size / 2


@pytest.fixture
def s3() -> Iterator[dict[str, str]]:
    """An object store on this machine, by the variables that its users set."""
    require("s3fs", "moto")
    port = free_port()
    with process("-m", "moto.server", "-H", "127.0.0.1", "-p", port, quiet=True):
        wait_for(port)
        yield {**S3, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}


def test_of_an_object_store_into_an_object_store(
    builds: Path, s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.mkdir("nightly")
    store.mkdir("dataset")
    store.put(f"{builds}/", "nightly/7.1/", recursive=True)
    assert "read, 0 done" in scan("s3://nightly/7.1", to="s3://dataset/fleet")
    assert "0 files read" in scan("s3://nightly/7.1", to="s3://dataset/fleet")
    scan("s3://nightly/7.1", to="s3://dataset/fleet", build="c")
    store.invalidate_cache()
    store.get("dataset/fleet/", f"{tmp_path}/fleet/", recursive=True)
    assert comparable(rows(tmp_path / "fleet")) == reported(builds)
    assert all(row["Url"].startswith("s3://nightly/7.1/") for row in rows(tmp_path / "fleet"))
    out, err, code = kernelinfo("trend", "s3://dataset/fleet")
    assert (err, code) == ("", 0)
    assert "2 builds, b → c · none affected" in out


def test_markers_of_folders_are_no_files(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consoles of S3 make a folder as an empty object whose name ends in a slash."""
    require("moto")
    boto3 = import_module("boto3")
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=s3["AWS_ENDPOINT_URL"])
    client.create_bucket(Bucket="nightly")
    for key in ("7.1/", "7.1/lib/", "7.1/empty/"):
        client.put_object(Bucket="nightly", Key=key, Body=b"")
    content = (OBJECTS / "handwritten.co").read_bytes()
    client.put_object(Bucket="nightly", Key="7.1/lib/handwritten.co", Body=content)
    for url in ("s3://nightly/7.1", "s3://nightly/7.1/", "s3://nightly/7.1/**"):
        assert scan(url, to=tmp_path).startswith(("1 file read, 0 done", "0 files read, 1 done"))
        assert {row["Url"] for row in rows(tmp_path)} == {"s3://nightly/7.1/lib/handwritten.co"}
        shutil.rmtree(tmp_path / "inputs")
    client.put_object(Bucket="nightly", Key="7.1/full/", Body=content)
    _, err, code = kernelinfo("scan", "s3://nightly/7.1", "--to", tmp_path, "--build", "b")
    assert code == 2
    assert do_lines_match(err, "name-of-folder s3://nightly/7.1/full/")


def test_one_scan_at_a_time_writes_a_build_of_an_object_store(
    s3: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    from .test_builds import holder

    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    store = s3fs.S3FileSystem(skip_instance_cache=True)
    store.mkdir("dataset")
    lock = "dataset/fleet/inputs/Build=b/lock"
    store.pipe_file(lock, holder().encode())
    command = ("scan", OBJECTS / "handwritten.co", "--to", "s3://dataset/fleet", "--build", "b")
    out, err, code = kernelinfo(*command)
    assert (out, code) == ("", 2)
    assert do_lines_match(err, "build-locked scan-holding far … 1 … then")
    store.pipe_file(lock, holder(until=0).encode())
    assert kernelinfo(*command)[1:] == ("", 0)
    store.invalidate_cache()
    assert not store.exists(lock)
    assert kernelinfo("scan", "--to", "s3://dataset/fleet", "--remove", "b")[1:] == ("", 0)
    store.invalidate_cache()
    assert store.find("dataset") == []


def test_a_bucket_that_is_not_there_is_one_line(s3: dict[str, str]) -> None:
    for place in ((OBJECTS, "s3://nowhere/fleet"), ("s3://nowhere/7.1", "fleet")):
        command = ("scan", place[0], "--to", place[1], "--build", "b")
        out, err, code = kernelinfo(*command, **s3)
        assert (out, code, err.count("\n")) == ("", 2, 1), err
        assert "s3://nowhere" in err


def certificate(folder: Path) -> dict[str, str]:
    """The variables by which dask's processes and clients find a new certificate."""
    require("openssl")
    key, cert = folder / "key.pem", folder / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    roles = {
        f"{tls}{role}__{kind}": str(file)
        for role in ("CLIENT", "SCHEDULER", "WORKER")
        for kind, file in (("KEY", key), ("CERT", cert))
    }
    return {f"{tls}CA_FILE": str(cert), "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "1", **roles}


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_by_two_workers_of_a_scheduler_in_another_process(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("distributed")
    for name, value in certificate(tmp_path).items() if protocol == "tls" else ():
        monkeypatch.setenv(name, value)
    folder = many_objects(tmp_path / "objects", 300)
    port = free_port()
    address = f"{protocol}://127.0.0.1:{port}"
    scheduler = ("-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard")
    worker = ("-m", "distributed.cli.dask_worker", address, "--nthreads", 1, "--no-dashboard")
    with process(*scheduler), process(*worker), process(*worker):
        wait_for(port)
        scan(folder, "--scheduler", address, to=tmp_path / "fleet")
    scan(folder, to=tmp_path / "pool")
    assert comparable(rows(tmp_path / "fleet")) == comparable(rows(tmp_path / "pool"))
    assert comparable(rows(tmp_path / "fleet")) == reported(folder)


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    require("distributed")
    arguments = ("--to", tmp_path, "--build", "b", "--scheduler", f"tcp://127.0.0.1:{free_port()}")
    out, err, code = kernelinfo("scan", OBJECTS, *arguments)
    assert (out, code, codes(err)) == ("", 2, ["scheduler-unreachable"])
