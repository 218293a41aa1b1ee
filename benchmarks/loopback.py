"""Servers on loopback, and a small HTTP client that costs less than what it measures."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

START_SECONDS = 60
GLANCE = "--http app.web.connection:Connection --factory app.main:app"
"""As `glance serve` does."""


class Answer(NamedTuple):
    status: int
    body: bytes
    seconds: float


class Browser:
    """One connection that is kept open."""

    def __init__(self, port: int, cookie: str = "") -> None:
        self.port = port
        self.let_in(cookie)

    def let_in(self, cookie: str) -> None:
        self.headers = f"Host: 127.0.0.1\r\nHX-Request: true\r\nCookie: {cookie}\r\n"
        self.whole_page = f"Host: 127.0.0.1\r\nCookie: {cookie}\r\n"

    async def __aenter__(self) -> "Browser":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        await self.writer.wait_closed()

    async def get(self, path: str) -> Answer:
        """A whole page, as a browser that was just opened asks for it."""
        return await self._send(f"GET {path} HTTP/1.1\r\n{self.whole_page}\r\n".encode())

    async def post(self, path: str, form: dict[str, str]) -> Answer:
        return await self.send(path, urlencode(form).encode(), "application/x-www-form-urlencoded")

    async def send(self, path: str, body: bytes, kind: str) -> Answer:
        head = f"POST {path} HTTP/1.1\r\n{self.headers}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return await self._send(head.encode() + body)

    async def _send(self, request: bytes) -> Answer:
        started = time.perf_counter()
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        body = await self.reader.readexactly(length)
        return Answer(int(head.split(b" ", 2)[1]), body, time.perf_counter() - started)


@contextmanager
def serving(
    factory: str,
    environment: Mapping[str, str],
    *,
    python: str = sys.executable,
    workers: int = 1,
    folder: Path | None = None,
) -> Iterator[tuple[int, int]]:
    """Serve an application with uvicorn on loopback; gives the port and the process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [python, "-m", "uvicorn", *factory.split(), "--host", "127.0.0.1", "--port", str(port)]
    command += ["--log-level", "error", "--workers", str(workers)]
    process = subprocess.Popen(command, env=os.environ | dict(environment), cwd=folder)  # noqa: S603
    try:
        _wait_for(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the server on port {port} did not come up in {START_SECONDS} s")
