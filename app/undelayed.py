"""Answers leave at once, also where several workers share one socket."""

import socket
from asyncio import Transport

from uvicorn.protocols.http.h11_impl import H11Protocol


class Undelayed(H11Protocol):
    """asyncio sees to this for sockets that it opened itself, and not for one that workers were handed.

    An answer is sent in two parts. Without this the second waits for the browser's word on the first, which a browser
    that has just asked gives 40 milliseconds later.
    """

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as the base class has it
        connection = transport.get_extra_info("socket")
        if connection.family in (socket.AF_INET, socket.AF_INET6):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
