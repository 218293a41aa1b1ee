from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.raters.leases import held_by_raters
from app.raters.left_over import left_over
from app.raters.own import own_place
from app.raters.paging import count_pages, of_page
from app.raters.queries import rater_rows, sitting_rows
from app.store.db import ReadSession, WriteSession
from app.studies import actions, queries
from app.studies.early import opened_early
from app.studies.importing import listed
from app.studies.plans import amendments
from app.web.pages import redirect, render
from app.web.params import AppSettings, Code
from app.web.security import ReadingAdministrator, WritingAdministrator, find_administrator, find_rater

router = APIRouter()
RatersPage = Annotated[int, Query(ge=1, le=1_000_000)]


@router.get("/")
def landing(request: Request, session: ReadSession) -> Response:
    if find_administrator(request, session):
        return redirect(request, "/studies")
    if find_rater(request, session):
        return redirect(request, "/rate")
    return render(request, "studies/landing.html", block="main")


@router.get("/studies")
def studies(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, settings: AppSettings
) -> Response:
    studies = queries.list_studies(session)
    return render(
        request, "studies/list.html", block="main",
        administrator=administrator, studies=studies, runs_dir=settings.runs_dir,
        runs=0 if studies else len(listed(settings.runs_dir)),  # asked only by whoever begins
    )  # fmt: skip


@router.get("/studies/{code}")
def study_page(
    request: Request,
    session: ReadSession,
    administrator: ReadingAdministrator,
    settings: AppSettings,
    code: Code,
    page: RatersPage = 1,
) -> Response:
    study = queries.find_study(session, code)
    progress, raters = queries.progress(session, settings, study), rater_rows(session, study, administrator)
    return render(
        request, "studies/study.html", block="main",
        administrator=administrator, study=study, progress=progress, raters=of_page(raters, page),
        number=page, pages=count_pages(raters),
        left_over=left_over(raters, missing=progress.wanted - progress.done),
        sittings=sitting_rows(session, settings, study), idle_minutes=settings.idle_minutes,
        amendments=amendments(session, study), opened_early=len(opened_early(session, study)),
        place=own_place(session, study, administrator), held=held_by_raters(session, study),
    )  # fmt: skip


@router.post("/studies/{code}/close")
def close(request: Request, session: WriteSession, administrator: WritingAdministrator, code: Code) -> Response:
    actions.close_study(session, code, administrator)
    return redirect(request, f"/studies/{code}")


@router.post("/studies/{code}/reopen")
def reopen(request: Request, session: WriteSession, administrator: WritingAdministrator, code: Code) -> Response:
    actions.reopen_study(session, code, administrator)
    return redirect(request, f"/studies/{code}")
