import hmac

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from app.errors import NotFound
from app.operations import queries
from app.operations.metrics import text_of
from app.store.db import ReadSession
from app.web.params import AppSettings

router = APIRouter()


@router.get("/health")
async def health() -> Response:
    """The process answers. Whether it can work is /ready."""
    return PlainTextResponse("alive\n")


@router.get("/ready")
def ready(request: Request) -> Response:
    why = queries.unready(request.app.state.engine)
    return PlainTextResponse(f"{why}\n", 503) if why else PlainTextResponse("ready\n")


@router.get("/metrics")
def metrics(request: Request, session: ReadSession, settings: AppSettings) -> Response:
    """For Prometheus, which shows the token as a bearer's; without one in the settings there is nothing here."""
    said = request.headers.get("authorization", "")
    if not settings.metrics_token or not hmac.compare_digest(
        said.encode(), f"Bearer {settings.metrics_token}".encode()
    ):
        raise NotFound
    return Response(text_of(request.app.state.metrics, queries.stored(session)), media_type="text/plain; version=0.0.4")
