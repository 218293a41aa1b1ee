from fastapi import APIRouter, Request, Response

from app.administrators.actions import check_password
from app.db import ReadSession, SeparateTransactions, WriteSession
from app.errors import Refused
from app.models import Administrator
from app.params import AppSettings, ShortText
from app.security import ADMINISTRATOR_COOKIE, find_administrator, find_rater, let_in, let_out, remember_own
from app.web import address, redirect, render

router = APIRouter()


@router.get("/sign-in")
def sign_in_page(request: Request, session: ReadSession) -> Response:
    if find_administrator(request, session):
        return redirect(request, "/studies")
    return render(request, "administrators/sign-in.html", block="main", typed="", refusal=None)


@router.post("/sign-in")
def sign_in(
    request: Request, transactions: SeparateTransactions, settings: AppSettings, name: ShortText, password: ShortText
) -> Response:
    try:
        administrator_id = check_password(transactions, name, password)
    except Refused as refusal:
        return render(
            request, "administrators/sign-in.html", block="main", status_code=401, typed=name, refusal=refusal.message
        )
    response = redirect(request, "/studies")
    with transactions() as session:
        administrator = session.get_one(Administrator, administrator_id)
        remember_own(session, administrator, find_rater(request, session))
        let_in(session, response, administrator, secure=settings.secure_cookies, path=address(request, "/"))
    return response


@router.post("/sign-out")
def sign_out(request: Request, session: WriteSession) -> Response:
    response = redirect(request, "/sign-in")
    let_out(request, session, response, ADMINISTRATOR_COOKIE, path=address(request, "/"))
    return response
