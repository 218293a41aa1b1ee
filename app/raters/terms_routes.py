"""The page on which an administrator sets a study's terms for raters."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from app.errors import Invalid
from app.models import Administrator, Study
from app.raters.queries import study_by_code
from app.raters.terms import set_terms
from app.rating.terms import Terms
from app.roles import Role, require
from app.settings import Settings
from app.store.db import ReadSession, WriteSession
from app.web.pages import redirect, render
from app.web.params import AppSettings, Code, OptionalNumber, ShortText
from app.web.security import ReadingAdministrator, WritingAdministrator

router = APIRouter(prefix="/studies/{study_code}/terms")

Address = Annotated[str, Form(max_length=500)]


@router.get("")
def terms_page(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, settings: AppSettings, study_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    study = study_by_code(session, study_code)
    return _page(request, settings, administrator, study, Terms.of(study.terms))


@router.post("")
def change_terms(
    request: Request,
    session: WriteSession,
    administrator: WritingAdministrator,
    settings: AppSettings,
    study_code: Code,
    day_goal: OptionalNumber = "",
    most_a_day: OptionalNumber = "",
    most_raters: OptionalNumber = "",
    person_name: ShortText = "",
    study_name: ShortText = "",
    session_name: ShortText = "",
    completion_code: ShortText = "",
    own_codes: Annotated[bool, Form()] = False,
    return_address: Address = "",
) -> Response:
    require(administrator, Role.MANAGE)
    study = study_by_code(session, study_code)
    usual = Terms()
    wanted = Terms(
        day_goal=_number(day_goal), most_a_day=_number(most_a_day), most_raters=_number(most_raters),
        person_name=person_name or usual.person_name, study_name=study_name or usual.study_name,
        session_name=session_name or usual.session_name, completion_code=completion_code, own_codes=own_codes,
        return_address=return_address,
    )  # fmt: skip
    try:
        set_terms(session, study, wanted, settings.return_hosts, actor=administrator.name)
    except Invalid as invalid:
        return _page(request, settings, administrator, study, wanted, invalid.said)
    return redirect(request, f"/studies/{study_code}")


def _number(text: str) -> int | None:
    return int(text) if text else None


def _page(
    request: Request,
    settings: Settings,
    administrator: Administrator,
    study: Study,
    terms: Terms,
    notice: str | None = None,
) -> Response:
    return render(
        request, "raters/terms.html", block="main", status_code=422 if notice else 200,
        administrator=administrator, study=study, terms=terms, notice=notice, hosts=settings.return_hosts,
    )  # fmt: skip
