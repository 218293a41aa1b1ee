"""A report as the files of a folder: what `glance report STUDY --out FOLDER` writes."""

from collections.abc import Iterator, Sequence

from app.reports.exports import File
from app.reports.exports import as_json as json_bytes
from app.reports.figure_files import FORMATS, figure_file
from app.reports.page import ENGLISH, standalone
from app.reports.pdf import can_make_pdf, pdf
from app.reports.rated_items import RatedItem
from app.reports.report import Report, as_json
from app.words.language import Language


def report_files(report: Report, appendix: Sequence[RatedItem] = (), speaking: Language = ENGLISH) -> Iterator[File]:
    """The report for people and for programs, and its figures in every format."""
    yield File("report.html", standalone(report, speaking, appendix))
    if can_make_pdf():
        yield File("report.pdf", pdf(report, speaking, appendix))
    yield File("report.json", json_bytes(as_json(report)))
    for name in report.figures:
        for form in FORMATS:
            yield File(f"{name}.{form}", figure_file(report, name, form, speaking)[0])
