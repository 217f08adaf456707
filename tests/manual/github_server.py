"""A server on this machine that stands for GitHub: artifacts, commits and comments."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN, OWN, FORK = "token-of-the-job", 1, 2


class GitHub:
    """A repository: what the API of GitHub says of it, and what it is told."""

    def __init__(self) -> None:
        self.history: list[str] = []
        """Commits of the main branch, the oldest first."""
        self.merge_base = ""
        self.artifacts: list[dict[str, Any]] = []
        self.comments: list[dict[str, Any]] = []
        self.may_comment = True
        self.tokens: list[str | None] = []
        """The tokens that the store of artifacts was sent."""
        self.url = ""

    def upload(
        self, name: str, commit: str, data: bytes, branch: str = "main", head: int = OWN
    ) -> None:
        """An artifact of a run."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("b.json", data)
        run: dict[str, Any] = {"repository_id": OWN, "head_repository_id": head}
        run |= {"head_branch": branch, "head_sha": commit}
        about = {"id": len(self.artifacts), "name": name, "expired": False, "workflow_run": run}
        self.artifacts.insert(0, about | {"zip": packed.getvalue()})

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        """The JSON of an answer, an address to go to, or a number that refuses."""
        match method, re.sub(r"/repos/user/kernels/", "", path).split("/"):
            case "GET", ["compare", _]:
                return {"merge_base_commit": {"sha": self.merge_base}}
            case "GET", ["commits"]:
                end = self.history.index(query["sha"]) + 1
                newest_first = self.history[:end][::-1][: int(query["per_page"])]
                return [{"sha": commit} for commit in newest_first]
            case "GET", ["actions", "artifacts"]:
                named = [one for one in self.artifacts if one["name"] == query["name"]]
                return {"artifacts": [{**one, "zip": None} for one in named]}
            case "GET", ["actions", "artifacts", number, "zip"]:
                return f"/store/{number}"
            case "GET", ["issues", "7", "comments"]:
                begin = (int(query["page"]) - 1) * int(query["per_page"])
                return self.comments[begin : begin + int(query["per_page"])]
            case "POST", ["issues", "7", "comments"] if self.may_comment:
                self.write("Bot", body["body"])
                return {}
            case "PATCH", ["issues", "comments", number] if self.may_comment:
                self.comments[int(number)]["body"] = body["body"]
                return {}
            case "POST" | "PATCH", _:
                return 403
        return 404

    def write(self, kind: str, body: str) -> None:
        comment = {"id": len(self.comments), "user": {"type": kind}, "body": body}
        self.comments.append(comment)


@contextmanager
def serve() -> Iterator[GitHub]:
    github = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            token = self.headers["Authorization"]
            if parts.path.startswith("/store/"):
                github.tokens.append(token)
                number = int(parts.path.rpartition("/")[2])
                found = next(one for one in github.artifacts if one["id"] == number)
                self.reply(200, found["zip"])
                return
            size = int(self.headers["Content-Length"] or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            query = {name: value for name, (value,) in parse_qs(parts.query).items()}
            answer: Any = 401
            if token == f"Bearer {TOKEN}":
                answer = github.answer(self.command, parts.path, query, body)
            if isinstance(answer, int):
                self.reply(answer, b"{}")
            elif isinstance(answer, str):
                self.reply(302, b"", Location=github.url + answer)
            else:
                self.reply(200, json.dumps(answer).encode())

        do_POST = do_PATCH = do_GET

        def reply(self, code: int, content: bytes, **headers: str) -> None:
            self.send_response(code)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
