"""The model service: text in, tokens and activations out, over HTTP on the loopback interface.

Starlette alone, which FastAPI is built on: three routes need no more.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from model_runner.errors import RunnerError
from model_runner.serve.answer import Served, answer, describe, load_served
from model_runner.serve.asked import MOST_BYTES, Refusal, read_asked
from model_runner.serve.line import Line

HOST = "127.0.0.1"
HOSTS = (HOST, "localhost")
"""Names that a request may be addressed to: a page elsewhere cannot reach the service by a name of its own."""


@dataclass
class Service:
    """The models, as far as they are loaded, and the line before them."""

    folders: Mapping[str, Path]
    tokenizer: Path | None
    line: Line
    models: dict[str, Served] = field(default_factory=dict)
    failure: BaseException | None = None
    """Why a model could not be loaded."""

    @property
    def ready(self) -> bool:
        return len(self.models) == len(self.folders)


def create_service(
    folders: list[Path], tokenizer: Path | None = None, waiting: int = 16, patience_seconds: float = 30.0
) -> Service:
    """A service of these checkpoints, not loaded yet. Raises RunnerError for two folders of one name."""
    named = {folder.resolve().name: folder for folder in folders}
    if len(named) < len(folders):
        raise RunnerError("Two checkpoint folders have one name, by which they are asked for. Rename one.")
    return Service(named, tokenizer, Line(waiting, patience_seconds))


def create_app(service: Service, stop: Callable[[], None]) -> Starlette:
    """The application; `stop` is called when a model cannot be loaded."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        loading = asyncio.create_task(_load(service))
        loading.add_done_callback(partial(_loaded, service, stop))
        yield
        loading.cancel()
        await asyncio.to_thread(service.line.close)

    async def models(_: Request) -> Response:
        return JSONResponse([describe(served) for served in service.models.values()])

    async def ready(_: Request) -> Response:
        loaded = f"{len(service.models)} of {len(service.folders)} models are loaded."
        return JSONResponse({"ready": service.ready, "detail": loaded}, 200 if service.ready else 503)

    async def activations(request: Request) -> Response:
        if not service.ready:
            raise Refusal(503, "The models are still being loaded. Ask /ready, and try again.")
        asked = read_asked(await _body(request), service.models)
        model = service.models[asked.model]
        return JSONResponse(await service.line.work(partial(answer, model, asked.text, asked.neurons)))

    routes = [
        Route("/health", _health),
        Route("/ready", ready),
        Route("/models", models),
        Route("/activations", activations, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)],
        exception_handlers={Refusal: _refused, RunnerError: _unanswerable},
    )


async def _load(service: Service) -> None:
    """Load one model after the other, in the thread that will run them."""
    for name, folder in service.folders.items():
        service.models[name] = await service.line.load(partial(load_served, folder, service.tokenizer))


def _loaded(service: Service, stop: Callable[[], None], loading: "asyncio.Task[None]") -> None:
    """Whatever went wrong, too little memory for one, a service that will never be ready ends and says it."""
    if not loading.cancelled() and (failure := loading.exception()):
        service.failure = failure
        stop()


async def _body(request: Request) -> bytes:
    """The body, of which no more is read than may be sent."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # A form of some page in a browser cannot send this type to another origin without asking first.
        raise Refusal(415, f"The body must be of type application/json, not {kind[:80] or 'unsaid'}.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise Refusal(413, f"The body is longer than {MOST_BYTES:,} bytes. Shorten the text.")
    return body


async def _health(_: Request) -> Response:
    return JSONResponse({"healthy": True})


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)  # noqa: S101 - what the handler is registered for
    headers = {"Retry-After": "1"} if error.status in (429, 503) else None
    return JSONResponse({"detail": error.sentence}, error.status, headers)


async def _unanswerable(_: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 422)


def create_server(service: Service, port: int) -> uvicorn.Server:
    """A server on the loopback interface, to be run; port 0 takes a free one."""
    config = uvicorn.Config("", host=HOST, port=port, log_level="warning", access_log=False, server_header=False)
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    config.app = create_app(service, stop)
    return server
