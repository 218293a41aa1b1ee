"""The administrators over HTTP, for those of them who manage."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from app import roles
from app.administrators import managing, queries
from app.administrators.actions import SHORTEST_PASSWORD
from app.models import Administrator
from app.roles import Role, require, roles_of
from app.store.db import ReadSession, WriteSession
from app.web.pages import redirect, render
from app.web.params import AppSettings, FormText, ShortText
from app.web.security import ReadingAdministrator, WritingAdministrator

router = APIRouter(prefix="/administrators")
Number = Annotated[int, Path(alias="administrator_id", ge=1, le=2**31 - 1)]
Roles = Annotated[list[Role], Form(default_factory=list, max_length=len(Role))]


@router.get("")
def all_of_them(request: Request, session: ReadSession, administrator: ReadingAdministrator) -> Response:
    require(administrator, Role.MANAGE)
    return render(
        request, "administrators/list.html", block="main",
        administrator=administrator, listed=queries.list_administrators(session), roles=roles,
    )  # fmt: skip


@router.post("")
def add(
    request: Request, session: WriteSession, administrator: WritingAdministrator, name: ShortText, role: Roles
) -> Response:
    """Make an account and show its first password, this once."""
    require(administrator, Role.MANAGE)
    made, password = managing.add(session, administrator, name, frozenset(role))
    return _shown_once(request, administrator, made, password)


@router.get("/{administrator_id}")
def one(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, settings: AppSettings, number: Number
) -> Response:
    require(administrator, Role.MANAGE)
    person = managing.find(session, number)
    return render(
        request, "administrators/person.html", block="main",
        administrator=administrator, person=person, roles=roles, provider=settings.sign_in_name,
    )  # fmt: skip


@router.post("/{administrator_id}/roles")
def change_roles(
    request: Request, session: WriteSession, administrator: WritingAdministrator, number: Number, role: Roles
) -> Response:
    require(administrator, Role.MANAGE)
    managing.set_roles(session, administrator, number, frozenset(role))
    return redirect(request, _home(administrator))


@router.post("/{administrator_id}/password")
def give_password(
    request: Request, session: WriteSession, administrator: WritingAdministrator, number: Number
) -> Response:
    require(administrator, Role.MANAGE)
    person, password = managing.give_password(session, administrator, number)
    return _shown_once(request, administrator, person, password)


@router.post("/{administrator_id}/email")
def set_email(
    request: Request, session: WriteSession, administrator: WritingAdministrator, number: Number, email: FormText = ""
) -> Response:
    require(administrator, Role.MANAGE)
    managing.set_email(session, administrator, number, email)
    return redirect(request, "/administrators")


@router.post("/{administrator_id}/deactivate")
def deactivate(
    request: Request, session: WriteSession, administrator: WritingAdministrator, number: Number
) -> Response:
    require(administrator, Role.MANAGE)
    managing.deactivate(session, administrator, number)
    return redirect(request, "/sign-in" if number == administrator.id else "/administrators")


@router.post("/{administrator_id}/reactivate")
def reactivate(
    request: Request, session: WriteSession, administrator: WritingAdministrator, number: Number
) -> Response:
    require(administrator, Role.MANAGE)
    managing.reactivate(session, administrator, number)
    return redirect(request, "/administrators")


def _home(administrator: Administrator) -> str:
    """Who gave the role up cannot look at the list any more."""
    return "/administrators" if Role.MANAGE in roles_of(administrator) else "/studies"


def _shown_once(request: Request, administrator: Administrator, person: Administrator, password: str) -> Response:
    return render(
        request, "administrators/first-password.html", block="main",
        administrator=administrator, person=person, password=password, shortest=SHORTEST_PASSWORD,
    )  # fmt: skip
