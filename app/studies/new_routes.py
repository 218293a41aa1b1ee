"""The pages of a study that is not there yet: its form, its file, a preview, and how far its drawing is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Query, Request, Response, UploadFile

from app.errors import AppError, Conflict, Invalid
from app.models import Administrator, DraftState
from app.rating.beside import HTMX_CONFIG
from app.roles import Role, require
from app.settings import Settings
from app.store.db import ReadSession, SeparateTransactions
from app.studies import drafts, words
from app.studies.asked import FIRST, PLANNED, TEMPLATES, USUAL_PLAN, Asked
from app.studies.creating import check_name
from app.studies.earlier import stopped
from app.studies.forms import NewStudy, NewStudyForm
from app.studies.importing import listed
from app.studies.like import asked_of
from app.studies.previewing import Preview, preview
from app.studies.queries import find_study
from app.studies.study_file import LARGEST_FILE, read, write
from app.web.pages import redirect, render, trusted
from app.web.params import AppSettings, Code
from app.web.security import ReadingAdministrator
from app.words.language import N_

router = APIRouter()
CodeQuery = Annotated[str | None, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
TEMPLATE_NAMES = tuple(TEMPLATES)


@router.get("/studies/new")
def new_study(
    request: Request,
    administrator: ReadingAdministrator,
    session: ReadSession,
    settings: AppSettings,
    template: CodeQuery = None,
    study: CodeQuery = None,
    draft: CodeQuery = None,
) -> Response:
    """The form: empty, of a template, like another study's, or as it was when a draft was refused."""
    require(administrator, Role.MANAGE)
    if study:
        return _filled(request, administrator, settings, _like(session, settings, study))
    if draft:
        return _filled(request, administrator, settings, read(drafts.find_draft(session, draft).asked))
    if template in TEMPLATES:
        return _filled(request, administrator, settings, TEMPLATES[template])
    return _form(request, administrator, settings, NewStudy())


@router.post("/studies/new")
def create(
    request: Request,
    administrator: ReadingAdministrator,
    transactions: SeparateTransactions,
    settings: AppSettings,
    form: NewStudyForm,
    background: BackgroundTasks,
) -> Response:
    """Begin the drawing and lead to the page that shows how far it is."""
    require(administrator, Role.MANAGE)
    try:
        asked, folders = form.asked(), form.folders(settings)
        runs = preview(asked.design, folders, asked.plan).runs  # finds in a moment what would be refused minutes later
        with transactions() as session:
            check_name(session, asked.name)
            code = drafts.start(session, administrator.name, asked, runs).code
    except (Invalid, Conflict) as refusal:
        return _form(request, administrator, settings, form, refusal)
    background.add_task(drafts.draw_for_page, transactions, settings, code, folders)
    return redirect(request, f"/studies/drafts/{code}")


@router.post("/studies/new/preview")
def show_preview(
    request: Request,
    administrator: ReadingAdministrator,
    transactions: SeparateTransactions,
    settings: AppSettings,
    form: NewStudyForm,
) -> Response:
    require(administrator, Role.MANAGE)
    try:
        asked = form.asked()
        seen = preview(asked.design, form.folders(settings), asked.plan)
        with transactions() as session:
            drafts.start(session, administrator.name, asked, seen.runs, DraftState.PREVIEWED)
    except Invalid as refusal:
        return _form(request, administrator, settings, form, refusal)
    return _form(request, administrator, settings, form, seen=seen)


@router.post("/studies/new/file")
def upload(request: Request, administrator: ReadingAdministrator, settings: AppSettings, file: UploadFile) -> Response:
    """The form as a study.toml fills it."""
    require(administrator, Role.MANAGE)
    name = file.filename or "study.toml"
    try:
        content = file.file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise Invalid(
                N_("%(name)s is longer than %(most)s bytes, which no study.toml is. Choose another file."),
                name=name, most=LARGEST_FILE,
            )  # fmt: skip
        return _filled(request, administrator, settings, read(content.decode(), name))
    except UnicodeDecodeError:
        refusal: AppError = Invalid(N_("%(name)s is not a text in UTF-8. Choose a study.toml."), name=name)
    except Invalid as wrong:
        refusal = wrong
    return _form(request, administrator, settings, NewStudy(), refusal)


@router.post("/studies/new/study.toml")
def download(
    request: Request, administrator: ReadingAdministrator, settings: AppSettings, form: NewStudyForm
) -> Response:
    """What the form says, as a file."""
    require(administrator, Role.MANAGE)
    try:
        return _file(write(form.asked()))
    except Invalid as refusal:
        return _form(request, administrator, settings, form, refusal)


@router.get("/studies/{code}/study.toml")
def file_of_study(
    session: ReadSession, _administrator: ReadingAdministrator, settings: AppSettings, code: Code
) -> Response:
    """What the study asked for."""
    return _file(write(asked_of(session, settings, find_study(session, code))))


@router.get("/studies/drafts")
def all_drafts(request: Request, session: ReadSession, administrator: ReadingAdministrator) -> Response:
    return render(
        request, "studies/drafts.html", block="main",
        administrator=administrator, drafts=drafts.list_drafts(session), stopped=stopped, read=read,
        why_refused=drafts.why_refused,
    )  # fmt: skip


@router.get("/studies/drafts/{code}")
def draft_page(request: Request, session: ReadSession, administrator: ReadingAdministrator, code: Code) -> Response:
    """How far a draw is; the study itself once it is sealed."""
    draft = drafts.find_draft(session, code)
    if study_code := drafts.study_code_of(session, draft):
        return redirect(request, f"/studies/{study_code}")
    return render(
        request, "studies/draft.html", block="main",
        administrator=administrator, draft=draft, stopped=stopped(draft),
        asked=read(draft.asked), why_refused=drafts.why_refused,
        htmx_config=HTMX_CONFIG,
    )  # fmt: skip


def _like(session: ReadSession, settings: Settings, code: str) -> Asked:
    """Another like it gets a name of its own and, when it is drawn, another secret."""
    return replace(asked_of(session, settings, find_study(session, code)), name="")


def _filled(request: Request, administrator: Administrator, settings: Settings, asked: Asked) -> Response:
    """The form that asks for this; runs that are not here are named, so that others can be chosen."""
    known = {name for name, _ in listed(settings.runs_dir)}
    form = NewStudy.of(asked, known)
    missing = len(asked.runs) - len(form.run)
    return _form(request, administrator, settings, form, missing=list(asked.runs) if missing else [])


def _file(text: str) -> Response:
    headers = {"content-disposition": 'attachment; filename="study.toml"'}
    return Response(text, media_type="application/toml; charset=utf-8", headers=headers)


def _form(
    request: Request,
    administrator: Administrator,
    settings: Settings,
    form: NewStudy,
    refusal: AppError | None = None,
    *,
    seen: Preview | None = None,
    missing: Sequence[str] = (),
) -> Response:
    runs = listed(settings.runs_dir)
    return render(
        request, "studies/new.html", block="main", status_code=refusal.status_code if refusal else 200,
        administrator=administrator, form=form, runs=runs, runs_dir=settings.runs_dir,
        conditions=["", *sorted({info.condition for _, info in runs} | ({form.baseline} - {""}))], words=words,
        planned_fields=[name for name in PLANNED if name != "question"], usual_plan=USUAL_PLAN,
        refusal=refusal.said if refusal else None, templates=TEMPLATE_NAMES, missing=missing,
        usual=FIRST.design, planned=seen.planned if seen else None,
        items=[trusted(one) for one in seen.fragments] if seen else [],
    )  # fmt: skip
