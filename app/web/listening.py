"""Whether a port can be listened on, asked before anybody is told that it is."""

import errno
import os
import socket

from app.errors import Conflict

NOT_HERE = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""One of a name's addresses that this machine lacks, as ::1 where IPv6 is off: another of them may do."""
REMEDIES = {
    errno.EADDRINUSE: "Stop what listens there, or give another --port",
    errno.EACCES: "Give a --port from 1024 on",
    errno.EADDRNOTAVAIL: "Give an address of this machine with --host",
}


def insist_on_port(host: str, port: int) -> None:
    """Bind the port and let it go again. Raises Conflict, with what to do, where the server could not."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):  # UnicodeError: a name that no domain can have
        raise Conflict(f"The host “{host}” has no address. Give an address of this machine with --host.") from None
    missing = [refusal for family, _, _, _, address in found if (refusal := _try(family, address)) is not None]
    wrong = [refusal for refusal in missing if refusal.errno not in NOT_HERE]
    if wrong or len(missing) == len(found):
        _refuse(host, port, (wrong or missing)[0])


def _try(family: int, address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]) -> OSError | None:
    try:
        socket.create_server(address[:2], family=family).close()
    except OSError as error:
        return error
    return None


def _refuse(host: str, port: int, error: OSError) -> None:
    number = error.errno or 0
    remedy = REMEDIES.get(number, "Give another --host or --port")
    raise Conflict(f"Nothing can be served on port {port} of {host}: {os.strerror(number)}. {remedy}.")
