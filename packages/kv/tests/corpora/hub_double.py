"""A test double of a hub: the four addresses that we use of its API, on loopback, with faults on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubDouble:
    """`files` by path; those of `large` are named by sha256 (LFS), the others by git's blob digest."""

    files: dict[str, bytes] = field(default_factory=dict)
    configs: list[dict[str, Any]] = field(default_factory=list)
    large: bool = True
    page: int = 1000
    token: str | None = None
    # What goes wrong: an HTTP status for every answer, a redirect's target, or a change to a file's bytes.
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    fail_first: int = 0
    redirect: str | None = None
    cut: int | None = None
    declared: dict[str, int] = field(default_factory=dict)
    swap: dict[str, bytes] = field(default_factory=dict)
    seen: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        if self.status and (not self.fail_first or len(self.seen) <= self.fail_first):
            return self.status, self.headers, b"{}"
        if path.startswith("/api/datasets/some/texts/revision/"):
            if path.rsplit("/", 1)[1] not in ("main", "v2", "refs%2Fconvert%2Fparquet", COMMIT):
                return 404, {}, b"{}"
            return 200, {}, json.dumps({"sha": COMMIT, "cardData": {"configs": self.configs}}).encode()
        tree = f"/api/datasets/some/texts/tree/{COMMIT}"
        if path.startswith(tree):
            return self.listing(
                path, unquote(path[len(tree) :].strip("/")), int(query.get("cursor", ["0"])[0])
            )
        resolve = f"/datasets/some/texts/resolve/{COMMIT}/"
        if path.startswith(resolve):
            if self.redirect:
                return 302, {"Location": self.redirect}, b""
            return self.content(unquote(path[len(resolve) :]))
        return self.content(unquote(path[len("/cdn/") :])) if path.startswith("/cdn/") else (404, {}, b"{}")

    def listing(self, path: str, folder: str, start: int) -> tuple[int, dict[str, str], bytes]:
        rows = []
        for name, data in sorted(self.files.items()):
            if folder and not name.startswith(folder + "/"):
                continue
            size = self.declared.get(name, len(data))
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            row: dict[str, Any] = {"type": "file", "path": name, "size": size, "oid": blob}
            if self.large:
                row["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": size, "pointerSize": 130}
            rows.append(row)
        rows.append({"type": "directory", "path": "somewhere", "size": 0, "oid": "0" * 40})
        found = rows[start : start + self.page]
        more = {"Link": f'<{self.url}{path}?recursive=true&cursor={start + self.page}>; rel="next"'}
        return 200, more if start + self.page < len(rows) else {}, json.dumps(found).encode()

    def content(self, name: str) -> tuple[int, dict[str, str], bytes]:
        if name not in self.files:
            return 404, {}, b"{}"
        data = self.swap.get(name, self.files[name])
        if self.cut is None:
            return 200, {}, data
        return 200, {"Content-Length": str(len(data))}, data[: self.cut]


@contextmanager
def serving(hub: HubDouble) -> Iterator[HubDouble]:
    """Serves `hub` until the block ends; its address is in `hub.url`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.seen.append((self.path, self.headers.get("Authorization")))
            parts = urlsplit(self.path)
            if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
                status, headers, body = 401, {}, b"{}"
            else:
                status, headers, body = hub.answer(parts.path, parse_qs(parts.query))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
