"""The report as HTML: what its templates are given, and the one file that needs no network."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from app.reports import names
from app.reports.methods import methods
from app.reports.other_tests import other_tests
from app.reports.rated_items import RatedItem
from app.reports.report import Report
from app.reports.undefined import Undefined, undefined
from app.reports.words import Words
from app.studies import words as plan_words
from app.web.pages import environment, trusted
from app.web.static import STATIC
from app.words.language import N_, Language, language

CONTENTS = (
    ("fraction", N_("Fraction")),
    ("difference", N_("Difference")),
    ("sensitivity", N_("Sensitivity")),
    ("agreement", N_("Agreement")),
    ("raters", N_("Strictness")),
    ("controls", N_("Controls")),
    ("time", N_("Time")),
    ("check", N_("Hypothesis check")),
    ("blinding", N_("Blinding")),
    ("machines", N_("Machine raters")),
    ("undefined", N_("What could not be computed")),
    ("flow", N_("Flow")),
    ("plan", N_("Plan")),
    ("methods", N_("Methods")),
    ("record", N_("Record")),
    ("sources", N_("Sources")),
    ("items", N_("Rated items")),
)
NEEDS_NUMBERS = {"fraction", "difference", "sensitivity", "agreement", "raters", "time", "blinding"}
ENGLISH = language("en")


def context(report: Report, speaking: Language = ENGLISH, appendix: Sequence[RatedItem] = ()) -> dict[str, Any]:
    """What templates/reports/article.html may use."""
    found, words = report.found, Words(speaking)
    lacking = undefined(found.analysis) if found else []
    return {
        "report": report,
        "study": report.study,
        "analysis": found.analysis if found else None,
        "mixed": report.mixed,
        "power": report.power,
        # SVG that vl-convert drew from our own numbers, every label in it escaped
        "drawn": {name: Markup(svg) for name, svg in report.drawn_in(speaking).items()},  # noqa: S704
        "methods": methods(report, words),
        "sections": [(id_, words._(name)) for id_, name in CONTENTS if id_ not in _absent(report, lacking, appendix)],
        "tests": other_tests(found.analysis) if found else [],
        "undefined": lacking,
        "names": names,
        "words": words,
        "plan_words": plan_words,
        "rater_names": {code: words.rater(number) for number, code in enumerate(report.raters)},
        "same_order": same_order(report),
        "appendix": appendix,
        "trusted": trusted,
        "language": speaking,
        "_": speaking.gettext,
        "gettext": speaking.gettext,
        "ngettext": speaking.ngettext,
    }


def _absent(report: Report, lacking: list[Undefined], appendix: Sequence[RatedItem]) -> set[str]:
    """Sections that this study has nothing for."""
    found = report.found
    there = {
        "controls": found is not None and bool(found.analysis.controls),
        "check": found is not None and bool(found.analysis.check),
        "machines": bool(report.machines),
        "undefined": bool(lacking),
        "items": bool(appendix),
    }
    return {name for name, is_there in there.items() if not is_there} | (set() if found else NEEDS_NUMBERS)


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


def standalone(report: Report, speaking: Language = ENGLISH, appendix: Sequence[RatedItem] = ()) -> bytes:
    """The report as one HTML file: style sheet inside, no script, no address of this server."""
    sheet = (STATIC / "glance.css").read_text(encoding="utf-8")
    template = environment.get_template("reports/file.html")
    given = context(report, speaking, appendix)
    html = template.render(**given, sheet=Markup(sheet), alone=True)  # noqa: S704  # our own style sheet
    return html.encode()
