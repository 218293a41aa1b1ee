from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response

from app import clock
from app.errors import Conflict, Invalid, NotFound, Refused
from app.models import Invitation, Rater, StudyState
from app.raters import actions
from app.raters.gone import check_may_come
from app.raters.invitations import refusal
from app.raters.link_page import show_link
from app.raters.panel import Arrival, arrival_of
from app.raters.queries import (
    design_of,
    invitation_by_token,
    link_is,
    rater_of,
    study_by_code,
    study_of,
    study_state_of,
    terms_of,
)
from app.raters.room import Full, check_any_room
from app.raters.withdrawal import withdraw_consent
from app.rating.examples import EXAMPLES
from app.roles import Role, require
from app.store.db import ReadSession, WriteSession
from app.web.pages import address, redirect, render
from app.web.params import AppSettings, Code, OptionalNumber, ShortText
from app.web.security import (
    RATER_COOKIE,
    ReadingAdministrator,
    ReadingRater,
    WritingAdministrator,
    WritingRater,
    find_administrator,
    find_rater,
    let_in,
    let_out,
    remember_own,
)

router = APIRouter()


@router.get("/join/{token}")
def welcome(request: Request, session: ReadSession, token: Code) -> Response:
    """What a rater reads before taking part. Says nothing about the study: an invitation is a place where it leaks."""
    invitation = invitation_by_token(session, token)
    if invitation is None:
        raise NotFound(actions.UNKNOWN_LINK)
    if sentence := refusal(link_is(session, invitation, clock.now())):
        raise Refused(sentence)
    arrival = _arrival(request, session, invitation)
    returning = _known(request, session, invitation, arrival) is not None
    if not returning and study_state_of(session, invitation) is not StudyState.OPEN:
        raise Conflict(actions.CLOSED)
    try:
        if not returning:
            check_any_room(session, invitation)
    except Full as full:
        return _full(request, full)
    return render(
        request, "raters/welcome.html",
        returning=returning, examples=EXAMPLES, design=design_of(session, invitation), panel=arrival is not None,
    )  # fmt: skip


@router.post("/join/{token}")
def join(
    request: Request, session: WriteSession, token: Code, consent: Annotated[Literal["yes"] | None, Form()] = None
) -> Response:
    invitation = invitation_by_token(session, token)
    arrival = _arrival(request, session, invitation) if invitation is not None else None
    known = _known(request, session, invitation, arrival) if invitation is not None else None
    if known is not None and known is find_rater(request, session):
        return redirect(request, "/rate")
    returning = known is not None
    if not returning and consent is None:
        raise Invalid("Please tick the box that says you have read this and want to take part. Go back to do it.")
    try:
        rater = actions.join(session, token, arrival)
    except Full as full:
        return _full(request, full)
    remember_own(session, find_administrator(request, session), rater)
    response = redirect(request, "/rate")
    let_in(session, response, rater, secure=request.app.state.settings.secure_cookies, path=address(request, "/"))
    return response


def _arrival(request: Request, session: ReadSession, invitation: Invitation) -> Arrival | None:
    if not invitation.reusable:
        return None
    arrival = arrival_of(request.query_params.multi_items(), terms_of(session, invitation))
    if arrival is not None:
        check_may_come(session, request.app.state.settings.key_file, invitation, arrival)
    return arrival


def _known(request: Request, session: ReadSession, invitation: Invitation, arrival: Arrival | None) -> Rater | None:
    """Whom the link or a panel brings back, or else who is let in by it in this browser.

    On a shared browser a panel may send somebody else than last time.
    """
    known = rater_of(session, invitation, arrival)
    here = find_rater(request, session)
    same_link = here is not None and here.invitation_id == invitation.id
    return here if known is None and arrival is None and same_link else known


def _full(request: Request, full: Full) -> Response:
    return render(request, "raters/full.html", block="main", status_code=full.status_code, message=full.message)


@router.post("/studies/{study_code}/raters")
def invite(
    request: Request,
    session: WriteSession,
    administrator: WritingAdministrator,
    study_code: Code,
    name: ShortText,
    reusable: Annotated[bool, Form()] = False,
    days: Annotated[Literal["", "7", "30", "90"], Form()] = "",
    most: OptionalNumber = "",
) -> Response:
    """Make a link and show its address, this once."""
    require(administrator, Role.MANAGE)
    study = study_by_code(session, study_code)
    expires_at = clock.now() + timedelta(days=int(days)) if days else None
    token = actions.invite(
        session, study, name, actor=administrator.name, reusable=reusable, expires_at=expires_at,
        most_raters=int(most) if most else None,
    )  # fmt: skip
    return show_link(request, study, name, token, reusable=reusable, expires_at=expires_at)


@router.post("/studies/{study_code}/links/{link_code}/revoke")
def revoke(
    request: Request, session: WriteSession, administrator: WritingAdministrator, study_code: Code, link_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    actions.revoke(session, study_by_code(session, study_code), link_code, actor=administrator.name)
    return redirect(request, f"/studies/{study_code}")


@router.post("/studies/{study_code}/raters/{rater_code}/deactivate")
def deactivate(
    request: Request, session: WriteSession, administrator: WritingAdministrator, study_code: Code, rater_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    actions.deactivate(session, study_by_code(session, study_code), rater_code, actor=administrator.name)
    return redirect(request, f"/studies/{study_code}")


@router.get("/withdraw")
def withdraw_page(request: Request, rater: ReadingRater) -> Response:
    """What goes and what stays, before a rater withdraws their consent."""
    return render(request, "raters/withdraw.html", who=rater.name, back="/rate", act="/withdraw", own=True)


@router.post("/withdraw")
def withdraw(request: Request, session: WriteSession, settings: AppSettings, rater: WritingRater) -> Response:
    withdraw_consent(
        session, study_of(session, rater), rater.code, actor=f"rater {rater.code}", key_file=settings.key_file
    )
    response = render(request, "raters/withdrawn.html")
    let_out(request, session, response, RATER_COOKIE, path=address(request, "/"))
    return response


@router.get("/studies/{study_code}/raters/{rater_code}/withdraw")
def withdraw_for_page(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, study_code: Code, rater_code: Code
) -> Response:
    require(administrator, Role.MANAGE)
    rater = actions.rater_by_code(session, study_by_code(session, study_code), rater_code)
    act, back = f"/studies/{study_code}/raters/{rater_code}/withdraw", f"/studies/{study_code}"
    return render(request, "raters/withdraw.html", who=rater.name, back=back, act=act, own=False)


@router.post("/studies/{study_code}/raters/{rater_code}/withdraw")
def withdraw_for(
    request: Request,
    session: WriteSession,
    administrator: WritingAdministrator,
    settings: AppSettings,
    study_code: Code,
    rater_code: Code,
) -> Response:
    require(administrator, Role.MANAGE)
    study, actor = study_by_code(session, study_code), administrator.name
    withdraw_consent(session, study, rater_code, actor=actor, key_file=settings.key_file)
    return redirect(request, f"/studies/{study_code}")


@router.post("/studies/{study_code}/sittings/{sitting_code}/{what}")
def end_or_reopen(
    request: Request,
    session: WriteSession,
    administrator: WritingAdministrator,
    study_code: Code,
    sitting_code: Code,
    what: Literal["end", "reopen"],
) -> Response:
    require(administrator, Role.MANAGE)
    act = actions.end_sitting if what == "end" else actions.reopen_sitting
    act(session, study_by_code(session, study_code), sitting_code, actor=administrator.name)
    return redirect(request, f"/studies/{study_code}")
