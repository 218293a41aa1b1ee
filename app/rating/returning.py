"""The way back to the panel that sent a rater. It is the administrator's and lies on an allowed site: nothing that
comes with a request ever says where it leads. Needs no database.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

PLACE = "{code}"
"""Where the address has the completion code."""
PLAIN = re.compile(r"[!-~]{1,500}")


def filled(address: str, code: str) -> str:
    return address.replace(PLACE, quote(code, safe=""))


def allowed_host(address: str, hosts: Sequence[str]) -> str | None:
    """The site that the address lies on; None unless it is an address by HTTPS on one of `hosts` and nothing else."""
    if not PLAIN.fullmatch(address) or "\\" in address:
        return None
    try:
        parts = urlsplit(filled(address, "code"))
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname
    if parts.scheme != "https" or port is not None or host is None or host != parts.netloc.lower():
        return None
    return host if host in {allowed.lower() for allowed in hosts} else None
