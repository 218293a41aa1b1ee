"""A browser's connection: answers leave at once, and no request is read without end."""

import socket
from asyncio import Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_BYTES = 64 * 1024
"""Of a request's head, or of what may follow its body. Browsers send a few hundred."""


class Connection(HttpToolsProtocol):
    """uvicorn's faster one, with what it lacks."""

    _unread = 0
    """Bytes that have come since the parser last made something of them. The body is counted elsewhere."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as the base class has it
        """Answers are sent in two parts, and without this the second waits for the browser's word on the first.

        A browser that has just asked gives it 40 milliseconds later. asyncio sees to this for sockets that it opened
        itself, and not for one that workers were handed.
        """
        connection = transport.get_extra_info("socket")
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MOST_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of this request is too long.")

    def on_headers_complete(self) -> None:
        self._unread = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()
