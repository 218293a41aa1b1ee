"""Every answer, observed once from outside: for the log, for the metrics, and under a name that a rater can quote."""

import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_ROUTE = "none"
"""Addresses that lead nowhere share one name: whoever invents them must not fill the metrics."""


class Answered(NamedTuple):
    """One request and its answer, without whose it was and what was on the page."""

    request: str
    """A random name, sent back in the header x-request-id."""
    method: str
    route: str
    """As the program spells it, /rate/given/{assignment}: never the codes and links that real addresses hold."""
    status: int
    seconds: float


class Observing:
    """Tell the observers of every answer, also of one that failed."""

    def __init__(self, app: ASGIApp, observers: tuple[Callable[[Answered], None], ...]) -> None:
        self.app = app
        self.observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name, started, status = secrets.token_hex(8), time.perf_counter(), 500
        scope.setdefault("state", {})["request_name"] = name

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        finally:
            answered = Answered(name, scope["method"], route_of(scope), status, time.perf_counter() - started)
            for observe in self.observers:
                observe(answered)


def route_of(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", NO_ROUTE)
