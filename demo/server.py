"""The application in a process of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

START_SECONDS = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@contextmanager
def serving(port: int, environment: dict[str, str]) -> Iterator[str]:
    """Serve until the block ends. Yields the address."""
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
    server = subprocess.Popen(command, env={**os.environ, **environment})  # noqa: S603  # our own command
    try:
        base = f"http://127.0.0.1:{port}/"
        _wait(base, server)
        yield base
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait(base: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"The server stopped at once with exit code {server.returncode}.")
        try:
            urllib.request.urlopen(base, timeout=2).close()  # noqa: S310  # our own server
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise SystemExit(f"The server did not answer at {base} within {START_SECONDS:.0f} s.")
