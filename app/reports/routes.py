"""The report and everything that can be downloaded. Administrators only; arms only after unblinding."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from app.models import Administrator, Study
from app.rating.beside import HTMX_CONFIG
from app.reports import names
from app.reports.exports import as_json as json_bytes
from app.reports.exports import attachment, export, file_name, files, overview, zipped
from app.reports.figure_files import FigureFormat, figure_file
from app.reports.formats import MEDIA_TYPES, Format
from app.reports.neuronpedia import neuronpedia_files
from app.reports.page import context, standalone
from app.reports.pdf import pdf
from app.reports.queries import unblinded_study
from app.reports.rated_items import all_items, count_pages, rated_items
from app.reports.report import as_json, gather, make_report
from app.reports.seal_file import seal_file
from app.reports.table import Name
from app.reports.taken import TAKEN
from app.reports.words import Words
from app.reports.working import STEPS, Work, begin
from app.store.db import ReadSession
from app.studies.queries import find_study
from app.web.pages import redirect, render, trusted
from app.web.params import AppSettings, Code
from app.web.security import ReadingAdministrator
from app.words.language import language_of

router = APIRouter(prefix="/studies/{code}")
Page = Annotated[int, Query(ge=1, le=1_000_000)]
FigureName = Literal["fraction", "difference", "detectable", "flow", "blinding", "raters", "times", "machines"]


@router.get("/report")
def show_report(
    request: Request,
    code: Code,
    session: ReadSession,
    settings: AppSettings,
    administrator: ReadingAdministrator,
    waiting: bool = False,
) -> Response:
    """The report; where it takes long, a page that asks again, `waiting`, until it can lead there."""
    study, speaking = unblinded_study(session, code), language_of(request)
    gathered = gather(session, study)
    work = begin(gathered.inputs, speaking) if gathered.inputs else None
    if work and not work.is_done_within(settings.report_patience_seconds):
        return _working(request, study, administrator, work)
    if waiting:
        return redirect(request, f"/studies/{code}/report")
    return render(
        request, "reports/report.html", block="main",
        administrator=administrator, alone=False, **context(make_report(session, study, gathered), speaking),
    )  # fmt: skip


def _working(request: Request, study: Study, administrator: Administrator, work: Work) -> Response:
    """Accepted, and not there yet: programs read that from the status, people from the page."""
    page = render(
        request, "reports/working.html", block="main", status_code=202,
        administrator=administrator, study=study, steps=STEPS, step=work.step, htmx_config=HTMX_CONFIG,
    )  # fmt: skip
    page.headers["retry-after"] = "1"
    return page


@router.get("/report.json", dependencies=TAKEN)
def report_json(code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = unblinded_study(session, code)
    content = json_bytes(as_json(make_report(session, study)))
    return Response(content, media_type="application/json", headers=attachment(file_name(study, "report.json")))


@router.get("/report.html", dependencies=TAKEN)
def report_file(request: Request, code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = unblinded_study(session, code)
    content = standalone(make_report(session, study), language_of(request), all_items(session, study))
    return Response(content, media_type="text/html", headers=attachment(file_name(study, "report.html")))


@router.get("/report.pdf", dependencies=TAKEN)
def report_pdf(request: Request, code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = unblinded_study(session, code)
    content = pdf(make_report(session, study), language_of(request), all_items(session, study))
    return Response(content, media_type="application/pdf", headers=attachment(file_name(study, "report.pdf")))


@router.get("/report/figures/{name}.{form}", dependencies=TAKEN)
def report_figure(
    request: Request, code: Code, name: FigureName, form: FigureFormat, session: ReadSession, _: ReadingAdministrator
) -> Response:
    study = unblinded_study(session, code)
    content, media_type = figure_file(make_report(session, study), name, form, language_of(request))
    return Response(content, media_type=media_type, headers=attachment(file_name(study, f"{name}.{form}")))


@router.get("/report/items")
def show_items(
    request: Request, code: Code, session: ReadSession, administrator: ReadingAdministrator, page: Page = 1
) -> Response:
    study = unblinded_study(session, code)
    items = rated_items(session, study, page)
    return render(
        request, "reports/items.html", block="main", administrator=administrator, study=study, items=items, number=page,
        pages=count_pages(session, study), trusted=trusted, names=names, words=Words(language_of(request)),
    )  # fmt: skip


@router.get("/exports")
def show_exports(request: Request, code: Code, session: ReadSession, administrator: ReadingAdministrator) -> Response:
    study = find_study(session, code)
    tables = overview(session, study)
    return render(
        request, "reports/exports.html", block="main", administrator=administrator, study=study, tables=tables
    )


@router.get("/exports/seal.json", dependencies=TAKEN)
def download_seal(code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = find_study(session, code)
    content = json_bytes(seal_file(session, study))
    return Response(content, media_type="application/json", headers=attachment(file_name(study, "seal.json")))


@router.get("/exports/everything.zip", dependencies=TAKEN)
def download_everything(code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = find_study(session, code)
    content = zipped(files(session, study), file_name(study, "export"))
    return Response(content, media_type="application/zip", headers=attachment(file_name(study, "export.zip")))


@router.get("/exports/neuronpedia.zip", dependencies=TAKEN)
def download_neuronpedia(code: Code, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = unblinded_study(session, code)
    content = zipped(neuronpedia_files(session, study), file_name(study, "neuronpedia"))
    headers = attachment(file_name(study, "neuronpedia.zip"))
    return Response(content, media_type="application/zip", headers=headers)


@router.get("/exports/{name}.{form}", dependencies=TAKEN)
def download(code: Code, name: Name, form: Format, session: ReadSession, _: ReadingAdministrator) -> Response:
    study = find_study(session, code)
    found = export(session, study, name, form)
    headers = attachment(file_name(study, f"{name}.{form}"))
    if found.warning:
        headers["x-warning"] = found.warning
    return Response(found.content, media_type=MEDIA_TYPES[form], headers=headers)
