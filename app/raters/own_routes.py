"""Rating as an administrator, from the page of a study."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response

from app.errors import Invalid
from app.raters.own import check_may_begin, take_place
from app.raters.queries import study_by_code
from app.rating.examples import EXAMPLES
from app.store.db import ReadSession, WriteSession
from app.web.pages import address, redirect, render
from app.web.params import AppSettings, Code
from app.web.security import ReadingAdministrator, WritingAdministrator, let_in

router = APIRouter(prefix="/studies/{study_code}/rate")


@router.get("")
def welcome(request: Request, session: ReadSession, administrator: ReadingAdministrator, study_code: Code) -> Response:
    """What any rater reads before taking part."""
    study = study_by_code(session, study_code)
    known = check_may_begin(session, study, administrator)
    return render(request, "raters/welcome.html", returning=known is not None, examples=EXAMPLES, design=study.design)


@router.post("")
def begin(
    request: Request,
    session: WriteSession,
    administrator: WritingAdministrator,
    settings: AppSettings,
    study_code: Code,
    consent: Annotated[Literal["yes"] | None, Form()] = None,
) -> Response:
    study = study_by_code(session, study_code)
    known = check_may_begin(session, study, administrator)
    if known is None and consent is None:
        raise Invalid("Please tick the box that says you have read this and want to take part. Go back to do it.")
    rater = take_place(session, study, administrator)
    response = redirect(request, "/rate")
    let_in(session, response, rater, secure=settings.secure_cookies, path=address(request, "/"))
    return response
