"""A browser's connection: what leaves the server does not wait in the system, and what comes has an end."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.store.migrate import upgrade
from app.web.connection import MOST_BYTES, Connection
from tests.app.served import free_port, server


@pytest.fixture
def connection() -> socket.socket:
    """Taken from a socket as workers are handed it: without the number of its protocol, which asyncio looks at."""
    with socket.socket(socket.AF_INET) as listening, socket.socket(socket.AF_INET) as browser:
        listening.bind(("127.0.0.1", free_port()))
        listening.listen()
        browser.connect(listening.getsockname())
        accepted, _ = listening.accept()
        assert accepted.proto == 0
        return accepted


def test_a_connection_of_a_worker_sends_at_once(connection: socket.socket) -> None:
    config = uvicorn.Config(Mock())  # the application has no part in this
    transport = SimpleNamespace(get_extra_info=lambda name: connection if name == "socket" else None)
    protocol = Connection(config, ServerState(), {}, _loop=Mock(spec=asyncio.AbstractEventLoop))
    assert not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    protocol.connection_made(transport)  # type: ignore[arg-type]
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    connection.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("connection")
    upgrade(f"sqlite:///{folder}/study.db")
    with server(f"sqlite:///{folder}/study.db", folder) as (address, _):
        yield int(address.rsplit(":", 1)[1])


CHUNKED = b"POST /rate/verdict HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "a header": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nx: ",
    "headers": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "an address": b"GET /health?",
    "what follows a body in chunks": CHUNKED + b"0\r\nx: ",
    "a chunk's own words": CHUNKED + b"1;x=",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_nobody_is_listened_to_without_end(port: int, what: str) -> None:
    piece = b"a: b\r\n" * 1_000 if what == "headers" else b"a" * 6_000
    with socket.create_connection(("127.0.0.1", port), 30) as browser, suppress(ConnectionError):
        browser.sendall(ENDLESS[what])
        for _ in range(20 * MOST_BYTES // len(piece)):
            browser.sendall(piece)
            time.sleep(0.001)
        pytest.fail("the server went on listening")


def test_a_long_head_is_read_also_in_pieces_and_again_and_again(port: int) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nx: " + b"a" * (MOST_BYTES - 1_000) + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), 30) as browser:
        for _ in range(3):
            browser.sendall(head[:100])
            time.sleep(0.01)
            browser.sendall(head[100:])
            answer = b""
            while not answer.endswith(b"alive\n"):
                answer += browser.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200")
