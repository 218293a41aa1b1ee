"""The report as HTML: what its templates are given, and the one file that needs no network."""

from typing import Any

from markupsafe import Markup

from app.reports import names, words
from app.reports.methods import methods
from app.reports.other_tests import other_tests
from app.reports.report import Report
from app.static import STATIC
from app.web import environment

CONTENTS = (
    ("fraction", "Fraction"),
    ("difference", "Difference"),
    ("sensitivity", "Sensitivity"),
    ("agreement", "Agreement"),
    ("raters", "Strictness"),
    ("controls", "Controls"),
    ("time", "Time"),
    ("blinding", "Blinding"),
    ("flow", "Flow"),
    ("methods", "Methods"),
    ("record", "Record"),
    ("sources", "Sources"),
)
NEEDS_NUMBERS = {"fraction", "difference", "sensitivity", "agreement", "raters", "controls", "time", "blinding"}


def context(report: Report) -> dict[str, Any]:
    """What templates/reports/article.html may use."""
    found = report.found
    return {
        "report": report,
        "study": report.study,
        "analysis": found.analysis if found else None,
        # SVG that vl-convert drew from our own numbers, every label in it escaped
        "drawn": {name: Markup(svg) for name, svg in found.drawn.items()} if found else {},  # noqa: S704
        "methods": methods(report),
        "sections": [(id_, name) for id_, name in CONTENTS if id_ not in _absent(report)],
        "tests": other_tests(found.analysis) if found else [],
        "names": names,
        "words": words,
        "same_order": same_order(report),
    }


def _absent(report: Report) -> set[str]:
    """Sections that this study has nothing for."""
    if report.found is None:
        return NEEDS_NUMBERS
    return set() if report.found.analysis.controls else {"controls"}


def same_order(report: Report) -> tuple[int, int]:
    """For how many raters the main difference has its sign, of how many who saw both conditions."""
    if report.found is None or not report.leads:
        return 0, 0
    lead = report.leads[0]
    sign = lead.fraction - lead.baseline_fraction
    own = [
        part.fraction.value
        for rater in report.found.analysis.strictness
        for part in rater.differences
        if part.condition == lead.condition and part.fraction.value is not None
    ]
    return sum(value * sign > 0 for value in own), len(own)


def standalone(report: Report) -> bytes:
    """The report as one HTML file: style sheet inside, no script, no address of this server."""
    sheet = (STATIC / "glance.css").read_text(encoding="utf-8")
    template = environment.get_template("reports/file.html")
    html = template.render(**context(report), sheet=Markup(sheet), alone=True)  # noqa: S704  # our own style sheet
    return html.encode()
