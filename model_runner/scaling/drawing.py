"""How the runner's figures look, and a chart as SVG and PNG."""

import json
from typing import Any

import altair as alt
import vl_convert

from model_runner.scaling.names import arm_name

WIDTH, HEIGHT = 640, 360
PAPER, LINE, EDGE, MUTE, INK = "#fdfdfc", "#e4e2dd", "#8c8881", "#66625c", "#1a1918"
COLOURS = ("#a3541a", "#1f4e9e", "#56635a", INK, MUTE)
SHAPES = ("square", "circle", "triangle-up", "diamond", "cross")
FONT = "Liberation Sans, Arial, sans-serif"
Row = dict[str, Any]
Chart = alt.LayerChart | alt.FacetChart


def data(rows: list[Row]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=rows)


def colour(arms: list[str]) -> alt.Color:
    """Colour by arm, with a legend that names them."""
    names = [arm_name(arm) for arm in arms]
    legend = alt.Legend(title=None, orient="top", symbolStrokeWidth=2)
    return alt.Color("name:N", scale=alt.Scale(domain=names, range=_looks(COLOURS, names)), legend=legend)


def shape(arms: list[str]) -> alt.Shape:
    """Shape by arm, so that colour is never the only sign."""
    names = [arm_name(arm) for arm in arms]
    return alt.Shape("name:N", scale=alt.Scale(domain=names, range=_looks(SHAPES, names)))


def specification(chart: Chart, label: str) -> Row:
    """The chart as Vega-Lite, with what a reader who cannot see it is told."""
    axis = alt.AxisConfig(
        domainColor=EDGE,
        tickColor=EDGE,
        gridColor=LINE,
        labelColor=MUTE,
        titleColor=INK,
        titleFontWeight="normal",
        labelFontSize=12,
        titleFontSize=12,
        titlePadding=10,
    )
    done = chart.properties(width=WIDTH, height=HEIGHT, background=PAPER, padding=12, description=label)
    done = done.configure(
        font=FONT, view=alt.ViewConfig(stroke=None), axis=axis, legend=alt.LegendConfig(labelFontSize=12)
    )
    found: Row = done.to_dict()
    return found


def svg(chart: Row) -> bytes:
    """A picture that keeps sharp."""
    return str(vl_convert.vegalite_to_svg(json.dumps(chart))).encode()


def png(chart: Row) -> bytes:
    """A picture of twice as many pixels as the SVG is wide."""
    return bytes(vl_convert.vegalite_to_png(json.dumps(chart), scale=2))


def _looks(looks: tuple[str, ...], names: list[str]) -> list[str]:
    return [looks[index % len(looks)] for index in range(len(names))]
