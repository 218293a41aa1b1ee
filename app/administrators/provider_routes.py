"""Signing in at a provider, where one is set: away and back. Both ends lead to addresses of ours alone."""

from typing import Annotated

from fastapi import APIRouter, Cookie, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.administrators import provider
from app.administrators.recognising import recognise
from app.administrators.routes import come_in, sign_in_form
from app.errors import AppError, NotFound
from app.settings import Settings
from app.store.db import SeparateTransactions
from app.web.pages import VARY, address
from app.web.params import AppSettings, NoNul

router = APIRouter(prefix="/sign-in/provider")
COOKIE = "glance_sign_in"
BACK = "/sign-in/provider/return"
MINUTES = 10
Given = Annotated[str, Query(max_length=4000), NoNul]


@router.get("")
def away(request: Request, settings: AppSettings) -> Response:
    _insist(settings)
    try:
        to, kept = provider.leave_for(settings, _return_address(request))
    except AppError as refusal:
        return sign_in_form(request, settings, refusal=refusal)
    response = RedirectResponse(to, 303, VARY)
    response.set_cookie(
        COOKIE, kept, max_age=MINUTES * 60, path=address(request, BACK), httponly=True, samesite="lax",
        secure=settings.secure_cookies,
    )  # fmt: skip
    return response


@router.get("/return")
def back(
    request: Request,
    settings: AppSettings,
    transactions: SeparateTransactions,
    state: Given = "",
    code: Given = "",
    kept: Annotated[str, Cookie(alias=COOKIE)] = "",
) -> Response:
    _insist(settings)
    try:
        person = provider.finish(settings, _return_address(request), kept, state, code)
        response = come_in(request, transactions, settings, recognise(transactions, person))
    except AppError as refusal:
        response = sign_in_form(request, settings, refusal=refusal)
    response.delete_cookie(COOKIE, path=address(request, BACK), httponly=True, samesite="lax")
    return response


def _insist(settings: Settings) -> None:
    if not settings.oidc_issuer:
        raise NotFound


def _return_address(request: Request) -> str:
    """As the provider must know it. The host was checked against GLANCE_ALLOWED_HOSTS."""
    return f"{request.url.scheme}://{request.url.netloc}{address(request, BACK)}"
