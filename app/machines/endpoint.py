"""One request to an endpoint of the chat-completions interface: no redirect, no retry, a deadline, a bounded reply."""

import json
import socket
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from app.errors import Invalid
from app.models import CallOutcome

PATH = "/chat/completions"
LONGEST_REPLY = 4 << 20
CHUNK = 1 << 16
WRONG = {400, 401, 403, 404, 405, 413, 422}
"""Statuses that another try does not change."""


class Reply(NamedTuple):
    """What came back."""

    outcome: CallOutcome
    """ANSWERED here means that there is JSON; whether it is an answer is not known yet."""
    status: int | None
    content: Any
    """The JSON, None where there is none."""
    detail: str
    """What was wrong, in a sentence."""
    retry_after_seconds: float | None = None
    """How long the server asks to wait."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, and with what key."""

    url: str
    key: str
    timeout_seconds: float

    @property
    def named(self) -> str:
        """The address as it may be written down: without a name, a password or a query."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def endpoint(url: str, key: str, timeout_seconds: float) -> Endpoint:
    """The endpoint at a base address such as http://127.0.0.1:8000/v1. Raises Invalid where it is none."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.username or parts.password or parts.fragment:
        raise Invalid(
            f"{url!r} is no address of an endpoint. Give one like http://127.0.0.1:8000/v1, without a password."
        )
    if not 0 < timeout_seconds <= 3600:
        raise Invalid(f"A timeout of {timeout_seconds} seconds cannot be. Give more than 0 and at most 3600.")
    if not key.isascii() or not key.isprintable():
        raise Invalid("The key in GLANCE_MACHINE_KEY holds characters that no header can carry. Copy it again.")
    path = parts.path if parts.path.endswith(PATH) else parts.path.rstrip("/") + PATH
    return Endpoint(urlunsplit(parts._replace(path=path)), key, timeout_seconds)


def ask(where: Endpoint, body: dict[str, Any]) -> Reply:
    """Send one request and wait for its reply, no longer than the timeout. Never raises for what a server does."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if where.key:
        headers["Authorization"] = f"Bearer {where.key}"
    request = urllib.request.Request(where.url, json.dumps(body).encode(), headers)  # noqa: S310  # http(s) only
    deadline = time.monotonic() + where.timeout_seconds
    try:
        with _opener.open(request, timeout=where.timeout_seconds) as answer:
            return _read(answer.status, _body(answer, deadline))
    except urllib.error.HTTPError as error:
        with error:
            return _refused(error)
    except (TimeoutError, _TooLate):
        return Reply(CallOutcome.TIMED_OUT, None, None, f"No whole reply came within {where.timeout_seconds:g} s.")
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            return Reply(CallOutcome.TIMED_OUT, None, None, f"No connection within {where.timeout_seconds:g} s.")
        return Reply(CallOutcome.DISCONNECTED, None, None, f"The server cannot be reached: {error.reason}.")
    except (OSError, HTTPException) as error:
        return Reply(CallOutcome.DISCONNECTED, None, None, f"The connection broke: {error or type(error).__name__}.")


class _TooLate(Exception):
    """The deadline passed while the reply was still coming."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _body(answer: Any, deadline: float) -> bytes:
    """The whole body; a server that sends a byte now and then does not hold us for ever."""
    content = b""
    while len(content) <= LONGEST_REPLY:
        _wait_no_longer(answer, deadline)
        part: bytes = answer.read1(CHUNK)
        if not part:
            if answer.length:
                raise HTTPException(f"the reply ended {answer.length} bytes early")
            return content
        content += part
    raise HTTPException(f"the reply is longer than {LONGEST_REPLY} bytes")


def _wait_no_longer(answer: Any, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _TooLate
    raw = getattr(getattr(answer.fp, "raw", None), "_sock", None)
    if isinstance(raw, socket.socket):
        raw.settimeout(left)


def _read(status: int, content: bytes) -> Reply:
    try:
        return Reply(CallOutcome.ANSWERED, status, json.loads(content), "")
    except (ValueError, RecursionError):
        return Reply(CallOutcome.MALFORMED, status, None, f"The reply is no JSON: {content[:100]!r}")


def _refused(error: urllib.error.HTTPError) -> Reply:
    try:
        said = error.read(300).decode("utf-8", "replace") if error.fp else ""
    except (OSError, HTTPException) as broken:  # the status came, and what the server says of it did not
        said = str(broken)
    outcome = CallOutcome.LIMITED if error.code == 429 else CallOutcome.FAILED
    return Reply(outcome, error.code, None, f"Status {error.code}: {said}"[:400], _retry_after(error.headers))


def _retry_after(headers: Message) -> float | None:
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
