"""Figures of a report. Importing this loads altair and vl-convert: do it where a report is made, not at the top."""

from app.reports.figures.blinding import blinding_figure
from app.reports.figures.detectable import detectable_figure
from app.reports.figures.drawing import Figure, inline, png, svg, vega_lite
from app.reports.figures.flow import flow_figure
from app.reports.figures.forest import forest_figure
from app.reports.figures.fractions import fraction_figure
from app.reports.figures.power import power_figure
from app.reports.figures.strictness import strictness_figure
from app.reports.figures.times import times_figure

__all__ = [
    "Figure",
    "blinding_figure",
    "detectable_figure",
    "flow_figure",
    "forest_figure",
    "fraction_figure",
    "inline",
    "png",
    "power_figure",
    "strictness_figure",
    "svg",
    "times_figure",
    "vega_lite",
]
