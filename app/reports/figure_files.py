"""A figure of a report as a file of its own: SVG, PNG, or the Vega-Lite specification with its data."""

import json
from typing import Literal

from app.errors import NotFound
from app.reports.report import ENGLISH, Report
from app.words.language import N_, Language

FigureFormat = Literal["svg", "png", "json"]
FORMATS: tuple[FigureFormat, ...] = ("svg", "png", "json")


def figure_file(report: Report, name: str, form: FigureFormat, speaking: Language = ENGLISH) -> tuple[bytes, str]:
    """The figure's bytes and their media type. Raises NotFound where the report has no such figure."""
    from app.reports.figures import png, svg, vega_lite

    figure = report.figures_in(speaking).get(name)
    if figure is None:
        raise NotFound(N_("This report has no such figure."))
    if form == "png":
        return png(figure), "image/png"
    if form == "svg":
        return svg(figure).encode(), "image/svg+xml"
    text = json.dumps(vega_lite(figure), ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode(), "application/json"
