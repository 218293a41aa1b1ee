from fastapi import APIRouter, Request, Response

from app.db import ReadSession, WriteSession
from app.errors import AppError, Conflict, Invalid
from app.models import Administrator
from app.params import AppSettings, Code
from app.raters.queries import rater_rows, sitting_rows
from app.security import ReadingAdministrator, WritingAdministrator, find_administrator, find_rater
from app.settings import Settings
from app.studies import actions, queries
from app.studies.creating import create_study, new_secret
from app.studies.early import opened_early
from app.studies.forms import NewStudy, NewStudyForm
from app.studies.freezing import freeze
from app.studies.importing import listed
from app.studies.plans import amendments
from app.studies.rights import require_manager
from app.web import redirect, render

router = APIRouter()


@router.get("/")
def landing(request: Request, session: ReadSession) -> Response:
    if find_administrator(request, session):
        return redirect(request, "/studies")
    if find_rater(request, session):
        return redirect(request, "/rate")
    return render(request, "studies/landing.html", block="main")


@router.get("/studies")
def studies(request: Request, session: ReadSession, administrator: ReadingAdministrator) -> Response:
    return render(
        request, "studies/list.html", block="main",
        administrator=administrator, studies=queries.list_studies(session),
    )  # fmt: skip


@router.get("/studies/new")
def new_study(request: Request, administrator: ReadingAdministrator, settings: AppSettings) -> Response:
    require_manager(administrator)
    return _form(request, administrator, settings, NewStudy())


@router.post("/studies/new")
def create(
    request: Request,
    administrator: ReadingAdministrator,
    session: WriteSession,  # begins with its first statement, so that nobody waits while runs are read
    settings: AppSettings,
    form: NewStudyForm,
) -> Response:
    require_manager(administrator)
    try:
        frozen = freeze(form.design(), form.folders(settings), new_secret())
        study = create_study(session, settings, name=form.name, frozen=frozen, actor=administrator.name)
    except (Invalid, Conflict) as refusal:
        return _form(request, administrator, settings, form, refusal)
    return redirect(request, f"/studies/{study.code}")


def _form(
    request: Request, administrator: Administrator, settings: Settings, form: NewStudy, refusal: AppError | None = None
) -> Response:
    return render(
        request, "studies/new.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, form=form, runs=listed(settings.runs_dir), runs_dir=settings.runs_dir,
        refusal=refusal.message if refusal else None,
    )  # fmt: skip


@router.get("/studies/{code}")
def study_page(
    request: Request, session: ReadSession, administrator: ReadingAdministrator, settings: AppSettings, code: Code
) -> Response:
    study = queries.find_study(session, code)
    return render(
        request, "studies/study.html", block="main",
        administrator=administrator, study=study, progress=queries.progress(session, settings, study),
        raters=rater_rows(session, study, administrator), sittings=sitting_rows(session, settings, study),
        amendments=amendments(session, study), opened_early=len(opened_early(session, study)),
    )  # fmt: skip


@router.post("/studies/{code}/close")
def close(request: Request, session: WriteSession, administrator: WritingAdministrator, code: Code) -> Response:
    actions.close_study(session, code, administrator)
    return redirect(request, f"/studies/{code}")


@router.post("/studies/{code}/reopen")
def reopen(request: Request, session: WriteSession, administrator: WritingAdministrator, code: Code) -> Response:
    actions.reopen_study(session, code, administrator)
    return redirect(request, f"/studies/{code}")
