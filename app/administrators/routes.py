"""Signing in and out, and one's own password."""

from fastapi import APIRouter, Request, Response

from app.administrators.actions import SHORTEST_PASSWORD, sign_in
from app.administrators.passwords import change_own
from app.administrators.queries import is_anybody
from app.audit_log import record
from app.errors import AppError, Refused
from app.models import Administrator
from app.settings import Settings
from app.store.db import OpenTransaction, ReadSession, SeparateTransactions, WriteSession
from app.web.pages import address, redirect, render
from app.web.params import AppSettings, ShortText
from app.web.security import (
    ADMINISTRATOR_COOKIE,
    find_administrator,
    find_rater,
    let_in,
    let_out,
    remember_own,
    signed_in,
)

router = APIRouter()


@router.get("/sign-in")
def sign_in_page(request: Request, session: ReadSession, settings: AppSettings) -> Response:
    if find_administrator(request, session):
        return redirect(request, "/studies")
    return sign_in_form(request, settings, nobody=not is_anybody(session))


def sign_in_form(
    request: Request,
    settings: Settings,
    *,
    typed: str = "",
    refusal: AppError | None = None,
    status_code: int = 0,
    nobody: bool = False,
) -> Response:
    status_code = status_code or (refusal.status_code if refusal else 200)
    return render(
        request, "administrators/sign-in.html", block="main", status_code=status_code,
        typed=typed, refusal=refusal.said if refusal else None, provider=settings.sign_in_name, nobody=nobody,
    )  # fmt: skip


@router.post("/sign-in")
def sign_in_here(
    request: Request, transactions: SeparateTransactions, settings: AppSettings, name: ShortText, password: ShortText
) -> Response:
    try:
        administrator_id = sign_in(transactions, name, password)
    except Refused as refusal:
        return sign_in_form(request, settings, typed=name, refusal=refusal, status_code=401)
    return come_in(request, transactions, settings, administrator_id)


def come_in(request: Request, transactions: OpenTransaction, settings: Settings, administrator_id: int) -> Response:
    """Let this browser in, to the studies or first to a password of one's own."""
    with transactions() as session:
        administrator = session.get_one(Administrator, administrator_id)
        response = redirect(request, "/password" if administrator.must_change_password else "/studies")
        remember_own(session, administrator, find_rater(request, session))
        let_in(session, response, administrator, secure=settings.secure_cookies, path=address(request, "/"))
    return response


@router.post("/sign-out")
def sign_out(request: Request, session: WriteSession) -> Response:
    if found := find_administrator(request, session):
        record(session, found.name, "signed out")
    response = redirect(request, "/sign-in")
    let_out(request, session, response, ADMINISTRATOR_COOKIE, path=address(request, "/"))
    return response


@router.get("/password")
def password_page(request: Request, session: ReadSession) -> Response:
    return _password_page(request, signed_in(request, session))


@router.post("/password")
def change_password(
    request: Request,
    transactions: SeparateTransactions,
    settings: AppSettings,
    password: ShortText,
    new: ShortText,
    again: ShortText,
) -> Response:
    with transactions() as session:
        administrator = signed_in(request, session)
    try:
        change_own(transactions, administrator, password, new, again)
    except AppError as refusal:
        return _password_page(request, administrator, refusal)
    return come_in(request, transactions, settings, administrator.id)


def _password_page(request: Request, administrator: Administrator, refusal: AppError | None = None) -> Response:
    return render(
        request, "administrators/password.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, shortest=SHORTEST_PASSWORD, refusal=refusal.said if refusal else None,
    )  # fmt: skip
