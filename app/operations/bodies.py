"""No request may send more than any form of ours could hold."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 512 * 1024
"""The longest hypothesis in its longest spelling is a fifth of this; a study's file is less."""


class BoundedBodies:
    """Refuse a larger body as soon as it is known to be one: by what it says of itself, or once so much has come."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        come = 0

        async def bounded() -> Message:
            nonlocal come
            _insist(int(declared) if declared.isdecimal() else 0)
            message = await receive()
            come += len(message.get("body", b""))
            _insist(come)
            return message

        # Raised where the body is read, so that the application answers with a page of its own.
        await self.app(scope, bounded, send)


def _insist(size: int) -> None:
    if size > MOST_BYTES:
        raise HTTPException(413, "too large")
