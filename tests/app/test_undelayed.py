"""What leaves the server does not wait in the system for what the browser says of it."""

import asyncio
import socket
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.undelayed import Undelayed
from tests.app.served import free_port


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
    protocol = Undelayed(config, ServerState(), {}, _loop=Mock(spec=asyncio.AbstractEventLoop))
    assert not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    protocol.connection_made(transport)  # type: ignore[arg-type]
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    connection.close()
