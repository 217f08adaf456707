"""A server that gives what an honest one does not, by the name of the file: hostile_server.py PORT.

`honest.co` beside it is a code object; every other name is a trap.
"""

from __future__ import annotations

import gzip
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

OBJECT = Path(sys.argv[2]).read_bytes() if len(sys.argv) > 2 else b""
BOMB = gzip.compress(bytes(300 << 20))
NAMES = (
    *("honest.co", "gone.co", "local.co", "longer.co", "shorter.co", "tag.co", "endless.co"),
    *("slow.co", "bomb.co", "./a::b.co", "a", "a/b.co", "l" * 300 + ".co", "endless/", "self/"),
    *("mute.co", "control%01\x1b[31m.co"),
)


class Handler(BaseHTTPRequestHandler):
    """Each name has a way of its own to answer."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        with suppress(OSError):  # the client has had enough
            self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        name = self.path.lstrip("/")
        if name == "":
            links = "".join(f'<a href="{name}">x</a>' for name in NAMES)
            self.send(links.encode(), body=body, type="text/html")
        elif name.startswith("self/"):
            links = '<a href="./">.</a><a href="deeper/">x</a><a href="/self/">x</a>'
            self.send(links.encode(), body=body, type="text/html")
        elif name == "gone.co":
            self.send(b"no", status=404, body=body)
        elif name == "local.co":
            self.send(b"", status=302, body=body, Location="file:///etc/passwd")
        elif name == "longer.co":  # the answer to HEAD has less than that to GET
            self.send(OBJECT if body else OBJECT[:100], body=body)
        elif name == "shorter.co":
            self.send(OBJECT, body=body, length=len(OBJECT) + (0 if not body else 1000))
        elif name == "tag.co":
            self.send(OBJECT, body=body, ETag='"' + "x" * 30_000 + '"')
        elif name == "bomb.co":
            self.send(BOMB, body=body, encoding="gzip")
        elif name == "mute.co":
            time.sleep(1000)
        elif name in ("endless.co", "endless/", "slow.co"):
            self.without_length(b"\x7fELF" * 250_000 if name != "slow.co" else b"x", body=body)
        else:
            self.send(OBJECT, body=body)

    def send(
        self,
        content: bytes,
        status: int = 200,
        *,
        body: bool,
        type: str = "application/octet-stream",
        length: int | None = None,
        encoding: str = "identity",
        **headers: str,
    ) -> None:
        self.send_response(status)
        size = len(content) if length is None else length
        headers |= {"Content-Type": type, "Content-Length": str(size), "Content-Encoding": encoding}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)
            self.close_connection = size != len(content)

    def without_length(self, piece: bytes, *, body: bool) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while body:
            self.wfile.write(piece)
            self.wfile.flush()
            if len(piece) == 1:
                time.sleep(1)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
