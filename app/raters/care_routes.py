"""What an administrator does for a rater who is stuck or shut out."""

from fastapi import APIRouter, Request, Response

from app.raters.actions import rater_by_code
from app.raters.leases import free_by_hand
from app.raters.link_page import show_link
from app.raters.queries import study_by_code
from app.raters.reactivation import reactivate
from app.roles import Role, require
from app.store.db import WriteSession
from app.web.pages import redirect
from app.web.params import Code
from app.web.security import WritingAdministrator

router = APIRouter(prefix="/studies/{study_code}/raters/{rater_code}")


@router.post("/reactivate")
def let_in_again(
    request: Request, session: WriteSession, administrator: WritingAdministrator, study_code: Code, rater_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    study = study_by_code(session, study_code)
    token = reactivate(session, study, rater_code, actor=administrator.name)
    if token is None:
        return redirect(request, f"/studies/{study_code}")
    return show_link(request, study, rater_by_code(session, study, rater_code).name, token)


@router.post("/free")
def free(
    request: Request, session: WriteSession, administrator: WritingAdministrator, study_code: Code, rater_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    free_by_hand(session, study_by_code(session, study_code), rater_code, actor=administrator.name)
    return redirect(request, f"/studies/{study_code}")
