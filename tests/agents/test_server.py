"""`kernelinfo mcp` by the SDK's own client, and by clients that break the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from ..benchmarks.measure import instructions
from ..conftest import FIXTURES, require
from ..messages import do_lines_match, says
from ..test_golden import run

require("mcp")
pytestmark = pytest.mark.nightly

OCCUPANCY = FIXTURES / "assembly" / "occupancy-hip-amdgcn-amd-amdhsa-gfx90a.s"
ROCRAND = Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1")
ROCSPARSE = Path("/usr/lib/x86_64-linux-gnu/librocsparse.so.0")
SERVER = (sys.executable, "-m", "kernelinfo", "mcp")

ANSWER_BYTES = 20_000
"""Bytes that the manual promises of an answer."""
Session = Callable[[Any], Coroutine[Any, Any, None]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    shutil.copy(OCCUPANCY, folder / "k.s")
    shutil.copy(OCCUPANCY, tmp_path / "outside.s")
    with zipfile.ZipFile(folder / "demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(FIXTURES / "container" / "libtwo.so", "demo/libtwo.so")
    return folder


def with_client(root: Path, session: Session, *options: str, folder: Path | None = None) -> None:
    """Run a session of the SDK's client with a server of its own."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = [*SERVER[1:], "--root", str(root), *options]
    server = StdioServerParameters(command=SERVER[0], args=arguments, cwd=folder)

    async def connected() -> None:
        async with Client(stdio_client(server)) as client:
            await session(client)

    asyncio.run(connected())


async def called(client: Any, name: str, **arguments: Any) -> Any:
    found = await client.call_tool(name, arguments)
    wire = {"text": found.content[0].text, "structuredContent": found.structured_content}
    assert len(json.dumps(wire, ensure_ascii=False).encode()) <= 1.1 * ANSWER_BYTES
    return found


def test_every_tool_answers_and_is_read_only(root: Path) -> None:
    if ROCRAND.exists():
        shutil.copy(ROCRAND, root / "librocrand.so.1")

    async def session(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8
        assert all(tool.annotations.read_only_hint for tool in tools)
        report = await called(client, "report", path="k.s")
        assert report.structured_content["summary"]["kernels"] == 4
        wheel = await called(client, "report", path="demo-1.0-py3-none-any.whl")
        assert wheel.structured_content["summary"]["kernels"] == 8
        explained = await called(client, "explain", path="k.s", kernel="vgprbound")
        assert "≤ 96 VGPRs (uses 122, −26) → 5 waves/SIMD" in explained.content[0].text
        pressure = await called(client, "pressure", path="k.s", kernel="vgprbound")
        assert pressure.structured_content["kernels"][0]["peak"]["line"] == 511
        diff = await called(client, "diff", old="k.s", new="k.s")
        assert diff.structured_content["summary"]["affected"] == 0
        calc = await called(client, "calc", target="MI300X", vgprs=96)
        assert calc.structured_content["waves_per_simd"] == 5
        assert (await called(client, "limits", target="gfx942")).structured_content["steps"]
        assert (await called(client, "arch", target="gfx942")).structured_content["target"]
        assert (await called(client, "rules", rule="KI106")).structured_content["documentation"]
        if ROCRAND.exists():
            text, _, _ = run(str(ROCRAND), "--target", "gfx90a", "--format", "jsonl")
            library = await called(client, "report", path="librocrand.so.1", target="gfx90a")
            shown = library.structured_content
            left = shown["left_out"]["kernels"]
            assert len(shown["kernels"]) + left == len(text.splitlines())

    with_client(root, session)


def test_mistakes_and_paths_outside_are_refused_and_the_server_lives(root: Path) -> None:
    os.mkfifo(root / "fifo.s")
    (root / "link.s").symlink_to(root.parent / "outside.s")

    async def session(client: Any) -> None:
        for arguments in (
            {"path": "../outside.s"},
            {"path": "/etc/passwd"},
            {"path": "link.s"},
            {"path": "fifo.s"},
            {"path": 7},
            {},
            {"path": "k.s", "unknown": 1},
        ):
            found = await called(client, "report", **arguments)
            assert found.is_error, arguments
        with pytest.raises(Exception, match="no such tool"):
            await client.call_tool("compile", {})
        assert not (await called(client, "report", path="k.s")).is_error

    with_client(root, session)


def test_two_requests_at_once_are_both_answered(root: Path) -> None:
    async def session(client: Any) -> None:
        found = await asyncio.gather(
            called(client, "explain", path="k.s", kernel="vgprbound"),
            called(client, "explain", path="k.s", kernel="ldsbound"),
            called(client, "calc", target="gfx942"),
        )
        names = [one.structured_content["kernels"][0]["symbol"] for one in found[:2]]
        assert names == ["_Z9vgprboundiPd", "_Z8ldsboundiPd"]

    with_client(root, session)


def test_an_answer_that_takes_too_long_is_ended(root: Path) -> None:
    many = root / "many.s"
    with many.open("w") as file:
        for _ in range(400):
            file.write(OCCUPANCY.read_text())

    async def session(client: Any) -> None:
        found = await called(client, "pressure", path="many.s")
        assert found.is_error
        assert says(found.content[0].text, "tool-timeout 4 s")
        assert not (await called(client, "calc", target="gfx942")).is_error

    with_client(root, session, "--timeout", "4")


def test_modules_of_the_current_folder_do_not_run(root: Path) -> None:
    """A worker starts by `python -m`, which would look there first."""
    for name in ("anyio", "pickle", "subprocess"):
        (root / f"{name}.py").write_text(f"open({str(root / 'ran')!r}, 'w')\n")

    async def session(client: Any) -> None:
        assert not (await called(client, "report", path="k.s")).is_error

    command = shutil.which("kernelinfo", path=str(Path(sys.executable).parent))
    assert command is not None
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=command, args=["mcp"], cwd=root)

    async def connected() -> None:
        async with Client(stdio_client(server)) as client:
            await session(client)

    asyncio.run(connected())
    assert not (root / "ran").exists()


@pytest.mark.needs("librocsparse")
def test_a_library_of_88137_kernels_is_cut_to_the_bound() -> None:
    async def session(client: Any) -> None:
        found = await called(client, "report", path=ROCSPARSE.name)
        shown = found.structured_content
        assert shown["summary"]["kernels"] == 88_137
        assert len(shown["kernels"]) + shown["left_out"]["kernels"] == 88_137

    with_client(ROCSPARSE.parent, session, "--timeout", "500")


@pytest.fixture
def server(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [*SERVER, "--root", str(root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process
        process.kill()


def request(number: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


BEGIN = request(
    0,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
) + (b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')


def answer_to(server: subprocess.Popen[bytes], number: int) -> dict[str, Any]:
    """The answer to a request; other messages are passed over."""
    assert server.stdout is not None
    while True:
        message: dict[str, Any] = json.loads(server.stdout.readline())
        if message.get("id") == number:
            return message


def test_garbage_is_passed_over(server: subprocess.Popen[bytes]) -> None:
    """A line of 40 MB takes hardly more memory than one of 10."""
    assert server.stdin is not None
    server.stdin.write(BEGIN)
    server.stdin.write(b"\x00\xff garbage\n{}\n[]\n[[[[\nnull\n" + b"[" * 100_000 + b"\n")
    peaks = []
    for number, megabytes in ((1, 10), (2, 40)):
        for _ in range(megabytes):
            server.stdin.write(b"x" * 1_000_000)
        server.stdin.write(b"\n" + request(number, "tools/call", name="rules", arguments={}))
        server.stdin.flush()
        assert answer_to(server, number)["result"]["structuredContent"]["rules"]
        with open(f"/proc/{server.pid}/status") as status:
            peaks += [int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")]
    assert peaks[1] - peaks[0] < 10_000_000


def test_a_client_that_dies_ends_the_server(server: subprocess.Popen[bytes], root: Path) -> None:
    """Its pipes close while an answer is made."""
    with (root / "many.s").open("w") as file:
        for _ in range(400):
            file.write(OCCUPANCY.read_text())
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stderr is not None
    server.stdin.write(BEGIN + request(1, "tools/call", name="pressure", arguments={"path": "."}))
    server.stdin.flush()
    answer_to(server, 0)
    time.sleep(1)
    server.stdin.close()
    server.stdout.close()
    assert server.wait(timeout=20) == 0
    assert b"Traceback" not in server.stderr.read()


@pytest.mark.needs("valgrind")
def test_it_starts_almost_as_fast_as_the_sdk() -> None:
    sdk = instructions([sys.executable, "-c", "import mcp.server.stdio"])
    serve = (
        "import sys; sys.argv[1:] = ['mcp']; sys.stdin = open('/dev/null')\n"
        "from kernelinfo.__main__ import main; main()"
    )
    ours = instructions([sys.executable, "-c", serve])
    assert ours <= 1.3 * sdk


def test_nothing_else_imports_the_sdk() -> None:
    code = (
        "import sys, kernelinfo, kernelinfo.pytest_plugin; dir(kernelinfo)\n"
        "from kernelinfo.cli.line import command_line\n"
        "from kernelinfo.cli import COMMANDS\n"
        "command_line(COMMANDS)\n"
        "print({'mcp', 'anyio', 'pydantic', 'kernelinfo.agents'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_root_that_is_no_folder_is_refused(root: Path) -> None:
    out, err, code = run("mcp", "--root", "k.s", folder=root)
    assert (out, code) == ("", 2)
    assert do_lines_match(err, "root-no-folder k.s")
