"""A chat-completions endpoint on loopback that does what a test tells it, answer after answer."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Do = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Script:
    """What the endpoint does next, and what it was asked."""

    url: str = ""
    steps: list[Do] = field(default_factory=list)
    """One a request; when they are used up, `always`."""
    always: Do = field(default_factory=lambda: says("NOT_INTERPRETABLE"))
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The headers and the body of every request."""


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.asked.append({"path": self.path, "headers": dict(self.headers), "body": body})
            (script.steps.pop(0) if script.steps else script.always)(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        script.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply(status: int, body: bytes, **headers: str) -> Do:
    def do(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return do


def message(content: Any, usage: Any = None, finish: str = "stop", **more: Any) -> Do:
    choice = {"message": {"role": "assistant", "content": content, **more}, "finish_reason": finish}
    used = {"prompt_tokens": 1000, "completion_tokens": 20} if usage is None else usage
    return reply(200, json.dumps({"choices": [choice], "usage": used}).encode())


def says(verdict: str, hypothesis: str = "", **more: Any) -> Do:
    return message(json.dumps({"verdict": verdict, "hypothesis": hypothesis}), **more)


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def refuses_and_breaks_off(handler: BaseHTTPRequestHandler) -> None:
    """An error whose explanation ends in the middle of a chunk."""
    handler.send_response(503)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"ff\r\nbusy")
    handler.close_connection = True


def sleeps(seconds: float) -> Do:
    def do(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        hangs_up(handler)

    return do


def drips(seconds: float) -> Do:
    """A byte now and then, so that no single wait is long."""

    def do(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        ends = time.monotonic() + seconds
        try:
            while time.monotonic() < ends:
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass
        handler.close_connection = True

    return do
