"""The report as a PDF, set by Typst from the same HTML as the page."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from app.errors import Conflict
from app.reports.html_tree import parse
from app.reports.page import ENGLISH, context
from app.reports.rated_items import RatedItem
from app.reports.report import Report
from app.reports.typeset import typeset
from app.web.pages import ROOT, environment
from app.words.language import N_, Language

MISSING = N_(
    "This server cannot make a PDF, because the package typst is not installed. "
    "Run, in Glance's folder: pip install -c constraints.txt -e '.[report]'. "
    "The report as one HTML file prints well too."
)


def can_make_pdf() -> bool:
    return find_spec("typst") is not None


def pdf(report: Report, speaking: Language = ENGLISH, appendix: Sequence[RatedItem] = ()) -> bytes:
    """The PDF. The same report gives the same bytes. Raises Conflict where Typst is not installed."""
    if not can_make_pdf():
        raise Conflict(MISSING)
    import typst

    at = report.study.unblinded_at
    with TemporaryDirectory(prefix="glance-report-") as folder:
        for name, content in _files(report, speaking, appendix).items():
            (Path(folder) / name).write_bytes(content)
        made: bytes = typst.compile(
            Path(folder) / "main.typ",
            format="pdf",
            sys_inputs={
                "title": report.study.name,
                "stamp": report.stamp,
                "language": speaking.code,
            },
            timestamp=int(at.timestamp()) if at else None,  # the PDF's date, and no part of a second
        )
    return made


def _files(report: Report, speaking: Language, appendix: Sequence[RatedItem]) -> dict[str, bytes]:
    """What Typst reads: the look, the text, and the figures in fixed colours."""
    from app.reports.figures import svg
    from app.reports.figures.drawing import FIXED

    html = environment.get_template("reports/article.html").render(**context(report, speaking, appendix), alone=True)
    look = (ROOT / "templates" / "reports" / "report.typ").read_text(encoding="utf-8")
    figures = report.figures_in(speaking)
    drawings = {
        f"{name}.svg": svg(figure).replace(FIXED["--paper"], "#ffffff").encode() for name, figure in figures.items()
    }
    return {"main.typ": f"{look}\n#{typeset(parse(html))}\n".encode(), **drawings}
