import gc
from asyncio import Semaphore
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Match, Route
from starlette.types import Scope

from app.administrators.people_routes import router as people_router
from app.administrators.provider import insist_on_library
from app.administrators.provider_routes import router as provider_router
from app.administrators.routes import router as administrators_router
from app.audit.routes import router as audit_router
from app.errors import AppError, Busy, PasswordDue, SignedOut
from app.operations.access_log import note, note_failure, write_lines
from app.operations.bodies import BoundedBodies
from app.operations.metrics import new_metrics
from app.operations.observing import Observing
from app.operations.routes import router as operations_router
from app.phases.routes import router as phases_router
from app.raters.care_routes import router as care_router
from app.raters.own_routes import router as own_place_router
from app.raters.routes import router as raters_router
from app.raters.terms_routes import router as terms_router
from app.rating.routes import give
from app.rating.routes import router as rating_router
from app.reports.power_routes import router as power_router
from app.reports.routes import router as reports_router
from app.settings import Settings, get_settings
from app.store.db import READERS, WRITERS, is_busy, open_engine
from app.store.writer import Writer
from app.studies.new_routes import router as new_studies_router
from app.studies.plan_routes import router as plan_router
from app.studies.routes import router as studies_router
from app.studies.unblinding_routes import router as unblinding_router
from app.web.misread import NOT_A_FORM, TOO_MANY_FIELDS, said_of
from app.web.pages import render
from app.web.security import SECURITY_HEADERS, SameOriginWrites, SecurityHeaders
from app.web.static import router as static_router
from app.words.language import N_, language_of


def create_app(settings: Settings) -> FastAPI:
    insist_on_library(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.engine = open_engine(settings.database_url)
        app.state.writers, app.state.readers = Semaphore(WRITERS), Semaphore(READERS)
        app.state.writer = writer = Writer(app.state.engine)
        if settings.request_log:
            write_lines()
        yield
        writer.close()
        app.state.engine.dispose()

    # No schema and no docs: they would tell a rater what the study holds.
    # Nor does anybody else hear of requests, wherever the environment would have FastAPI send them.
    told = TelemetryConfig(tracing=False, metrics=False, logs=False, auto_configure=False)
    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None, telemetry=told)
    app.root_path = settings.root_path  # not of the server, so that a proxy may strip the prefix or leave it
    app.state.settings = settings
    app.state.metrics = new_metrics()
    app.add_middleware(BoundedBodies)
    app.add_middleware(SameOriginWrites)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(SecurityHeaders, hsts_seconds=settings.hsts_seconds)
    app.add_middleware(Observing, observers=(note, app.state.metrics.observe))
    app.add_exception_handler(AppError, show_app_error)
    app.add_exception_handler(OperationalError, show_busy)
    app.add_exception_handler(HTTPException, show_http_error)
    app.add_exception_handler(RequestValidationError, show_validation_error)
    app.add_exception_handler(Exception, show_failure)
    app.router.routes.append(Shortcut("/rate/verdict", give, methods=["POST"]))
    app.include_router(rating_router)  # first: raters ask for it most, and routers are tried in turn
    app.include_router(static_router)
    app.include_router(administrators_router)
    app.include_router(people_router)
    app.include_router(provider_router)
    app.include_router(new_studies_router)  # before the next, in which “new” would be a study's code
    app.include_router(studies_router)
    app.include_router(plan_router)
    app.include_router(unblinding_router)
    app.include_router(raters_router)
    app.include_router(terms_router)
    app.include_router(care_router)
    app.include_router(own_place_router)
    app.include_router(phases_router)
    app.include_router(reports_router)
    app.include_router(power_router)
    app.include_router(audit_router)
    app.include_router(operations_router)
    return app


class Shortcut(Route):
    """To a route of FastAPI's that asks for nothing but the request: found at once, and run without preparations."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, {**found, "route": self}  # its name in the log and the metrics


def show_app_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, AppError)  # noqa: S101  # registered for AppError only
    sign_in = error.sign_in_path if isinstance(error, SignedOut) else None
    return render(
        request,
        "error.html",
        block="main",
        status_code=error.status_code,
        message=language_of(request).shown(error.said),
        sign_in=sign_in,
        change_password=error.change_path if isinstance(error, PasswordDue) else None,
    )


def show_busy(request: Request, error: Exception) -> Response:
    """Nobody's fault here, and it passes; every other failure of the database is one of ours."""
    assert isinstance(error, OperationalError)  # noqa: S101  # registered for it only
    if not is_busy(error):
        raise error
    note_failure(request.state.request_name, error)
    busy = Busy(
        N_("The database is busy or cannot be reached. What you had stored is safe. Send it again in a moment.")
    )
    response = show_app_error(request, busy)
    response.headers["retry-after"] = str(busy.retry_after_seconds)
    return response


def show_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for HTTPException only
    messages = {
        400: TOO_MANY_FIELDS if str(error.detail).startswith("Too many fields") else NOT_A_FORM,
        404: "There is nothing at this address.",
        405: "This address does not take that kind of request.",
        413: "What was sent is larger than any form here can be. Nothing was stored. Shorten it and send it again.",
    }
    message = messages.get(error.status_code, str(error.detail))
    # What FastAPI cannot read as a form is bad input as any other, whichever page it was sent to.
    status = 422 if error.status_code == 400 else error.status_code
    return render(request, "error.html", block="main", status_code=status, message=message, sign_in=None)


def show_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # registered for it only
    first = error.errors()[0]
    # An address that cannot exist reads the same as one that does not.
    if first["loc"][0] == "path":
        return render(
            request,
            "error.html",
            block="main",
            status_code=404,
            message="There is nothing at this address.",
            sign_in=None,
        )
    message = said_of(first, language_of(request))
    return render(request, "error.html", block="main", status_code=422, message=message, sign_in=None)


def show_failure(request: Request, error: Exception) -> Response:
    """A fault of ours. The person gets a name for it, and who looks after the server finds it in the log."""
    name = request.state.request_name
    note_failure(name, error)
    response = render(
        request,
        "error.html",
        block="main",
        status_code=500,
        message=N_("Something broke on our side. What you had stored is safe. Go back, load the page again and go on."),
        sign_in=None,
        request_name=name,
    )
    # Starlette answers here from outside of every middleware.
    response.headers.update(SECURITY_HEADERS | {"cache-control": "no-store, no-transform", "x-request-id": name})
    return response


def app() -> FastAPI:
    """The factory uvicorn calls: `uvicorn --factory app.main:app`."""
    made = create_app(get_settings())
    gc.collect()
    gc.freeze()  # what is loaded by now stays: looking through it for garbage was a seventh of a verdict's time
    return made
