"""Unblinding over HTTP: the whole study, by one person or two, and a single item in an emergency."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from app.errors import AppError, NotFound
from app.models import Administrator, StudyState
from app.raters.queries import rater_names
from app.roles import Role, require
from app.settings import Settings
from app.store.db import OpenTransaction, ReadSession, SeparateReads, SeparateTransactions, WriteSession
from app.studies import actions, early, queries, two_persons
from app.studies.opening import open_study
from app.studies.unblinding import bars, checks
from app.web.pages import redirect, render
from app.web.params import AppSettings, Code, FormText, ShortText
from app.web.security import ReadingAdministrator, WritingAdministrator

router = APIRouter()
StudyName = Annotated[str, Form(max_length=200)]


@router.get("/studies/{code}/unblind")
def unblind_page(
    request: Request, administrator: ReadingAdministrator, reads: SeparateReads, settings: AppSettings, code: Code
) -> Response:
    require(administrator, Role.UNBLIND)
    with reads() as session:
        if queries.find_study(session, code).state is StudyState.UNBLINDED:
            return redirect(request, f"/studies/{code}")
    return _unblind_page(request, administrator, reads, settings, code)


@router.post("/studies/{code}/unblind")
def unblind(
    request: Request,
    administrator: ReadingAdministrator,
    transactions: SeparateTransactions,
    reads: SeparateReads,
    settings: AppSettings,
    code: Code,
    name: StudyName,
    password: ShortText,
    reason: FormText = "",
) -> Response:
    try:
        state = actions.unblind(
            transactions, reads, settings, code, administrator.name, password=password, typed_name=name, reason=reason
        )
    except AppError as refusal:
        return _unblind_page(request, administrator, reads, settings, code, refusal, reason)
    return redirect(request, f"/studies/{code}" if state is StudyState.UNBLINDED else f"/studies/{code}/unblind")


@router.post("/studies/{code}/unblind/take-back")
def take_back(request: Request, session: WriteSession, administrator: WritingAdministrator, code: Code) -> Response:
    require(administrator, Role.UNBLIND)
    two_persons.take_back(session, code, administrator)
    return redirect(request, f"/studies/{code}")


def _unblind_page(
    request: Request,
    administrator: Administrator,
    reads: OpenTransaction,
    settings: Settings,
    code: str,
    refusal: AppError | None = None,
    reason: str = "",
) -> Response:
    """The page with what is true at this moment, and with the reason typed so far.

    It opens every item to look, and writes nothing: raters of this study and of others go on meanwhile.
    """
    with reads() as session:
        study = queries.find_study(session, code)
        found = checks(session, study, open_study(session, settings, study))
        asked = two_persons.pending(session, study)
    return render(
        request, "studies/unblind.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, study=study, checks=found, barred=bool(bars(found)), reason=reason,
        two=two_persons.needs_two(study), asked=asked, until=asked.at + two_persons.TO_CONFIRM if asked else None,
        refusal=refusal.said if refusal else None,
    )  # fmt: skip


@router.get("/studies/{code}/open-item")
def open_item_page(request: Request, administrator: ReadingAdministrator, reads: SeparateReads, code: Code) -> Response:
    require(administrator, Role.UNBLIND)
    return _open_item_page(request, administrator, reads, code, {})


@router.post("/studies/{code}/open-item")
def open_item(
    request: Request,
    administrator: ReadingAdministrator,
    transactions: SeparateTransactions,
    reads: SeparateReads,
    settings: AppSettings,
    code: Code,
    password: ShortText,
    reason: FormText = "",
    item: ShortText = "",
    rater: ShortText = "",
) -> Response:
    try:
        opened = early.open_early(
            transactions, settings, code, administrator.name, password=password, item=item, rater=rater, reason=reason
        )
    except AppError as refusal:
        typed = {"reason": reason, "item": item, "rater": rater, "refusal": refusal}
        return _open_item_page(request, administrator, reads, code, typed)
    return redirect(request, f"/studies/{code}/opened/{opened}")


def _open_item_page(
    request: Request, administrator: Administrator, reads: OpenTransaction, code: str, typed: dict[str, Any]
) -> Response:
    refusal = typed.get("refusal")
    with reads() as session:
        study = queries.find_study(session, code)
        raters = rater_names(session, study)
        opened = early.opened_early(session, study)
    return render(
        request, "studies/open-item.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, study=study, raters=raters, opened=opened,
        reason=typed.get("reason", ""), item=typed.get("item", ""), rater=typed.get("rater", ""),
        refusal=refusal.said if refusal else None,
    )  # fmt: skip


@router.get("/studies/{code}/opened/{item}.json")
def opened_item_file(
    session: ReadSession, administrator: ReadingAdministrator, code: Code, item: Code
) -> dict[str, Any]:
    """What `glance verify` checks alone."""
    study = queries.find_study(session, code)
    opened = _own_opening(study.state, early.opened_early(session, study), administrator, item)
    return early.opened_file(session, study, opened)


@router.get("/studies/{code}/opened/{item}")
def opened_item(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, code: Code, item: Code
) -> Response:
    study = queries.find_study(session, code)
    opened = _own_opening(study.state, early.opened_early(session, study), administrator, item)
    return render(
        request, "studies/opened-item.html", block="main",
        administrator=administrator, study=study, opened=opened, file=early.opened_file(session, study, opened),
    )  # fmt: skip


def _own_opening(
    state: StudyState, opened: list[early.Opened], administrator: Administrator, item: str
) -> early.Opened:
    """Until the study is unblinded only who opened an item sees what it is: the others may rate."""
    for one in opened:
        if one.code == item and (state is StudyState.UNBLINDED or one.opening.actor == administrator.name):
            return one
    raise NotFound
