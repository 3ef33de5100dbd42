"""A server on loopback that plays the part of Colab's runtime: it says which notebook it runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

NOTEBOOK = "release/self-study/04-memory-layout.ipynb"


def opened_at(address: str) -> bytes:
    """What the runtime tells of a notebook that was opened at an address."""
    return of_path(f"fileId={quote(address)}")


def of_path(path: str) -> bytes:
    """What the runtime tells of a notebook whose session has this path."""
    session = {"id": "1", "kernel": {"id": "2"}, "name": "04-memory-layout.ipynb", "path": path}
    return json.dumps([session | {"notebook": {"path": path}}]).encode()


FROM_GITHUB = opened_at(f"https://github.com/owner/name/blob/main/{NOTEBOOK}")
FROM_DRIVE = of_path("fileId=1AbCdEfGhIjKlMnOpQrStUvWxYz012345")


@contextmanager
def runtime_that_tells(told: bytes | None, status: int = 200) -> Iterator[Mapping[str, str]]:
    """The variables of a Colab runtime that gives this answer to /api/sessions.

    Args:
        told: The body; None keeps whoever asks waiting until the end of the block.
        status: The status of the answer; 0 for one that is not even HTTP.
    """
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer as this runtime does."""
            if told is None:
                over.wait()
            elif not status:
                self.wfile.write(told)
            else:
                self.send_response(status if self.path == "/api/sessions" else 404)
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield {"COLAB_JUPYTER_IP": "127.0.0.1", "KMP_TARGET_PORT": str(server.server_port)}
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
