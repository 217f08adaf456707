"""An HTTP server that gives parts of files, and says how many bytes it sent: server.py PORT."""

from __future__ import annotations

import os
import re
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    """Files of the current folder, whole or in part."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.translate_path(self.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked or not os.path.isfile(path):
            super().do_GET()
            return
        size = os.path.getsize(path)
        first, last = int(asked[1]), min(int(asked[2]), size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", f"{last - first + 1}")
        self.end_headers()
        with open(path, "rb") as file:
            file.seek(first)
            self.wfile.write(file.read(last - first + 1))
        print(last - first + 1, flush=True)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
