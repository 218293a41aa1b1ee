"""Servers in processes of their own, as they run outside of tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def server(
    database_url: str, folder: Path, *, workers: int = 1, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`glance serve` on a free port of loopback: its address and its process."""
    port = free_port()
    own = {"GLANCE_DATABASE_URL": database_url, "GLANCE_KEY_FILE": str(folder / "key")}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port), "--workers", str(workers)]
    process = subprocess.Popen(command, env=os.environ | own | environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health", process)
        yield address, process
    finally:
        # Several workers are children of this one: asked first, so that it takes them along.
        process.terminate() if workers > 1 else process.kill()
        process.wait()


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"nothing came up at {address}")
