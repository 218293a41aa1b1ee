"""From a chart to files: inline SVG in the page's colours, and SVG, PNG and Vega-Lite JSON in fixed ones."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple, cast

import altair as alt
import vl_convert

WIDE, SLIM = 640, 340
FIXED = {
    "--paper": "#fdfdfc",
    "--line": "#e4e2dd",
    "--edge": "#8c8881",
    "--mute": "#66625c",
    "--ink": "#1a1918",
    "--c1": "#1f4e9e",
    "--c2": "#a3541a",
    "--c3": "#56635a",
}
"""The light colours of the style sheet, for files that stand alone."""
STAMP_ROOM = 22
"""Pixels for the stamp above the plot of a study that is no study of people, or a pilot."""
VARIABLE = re.compile(r"var\((--[a-z0-9]+)\)")
FONT = "Liberation Sans, Arial, sans-serif"
Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure in two drawings. Colours in the specifications are custom properties of the page's sheet."""

    name: str
    """Short, unique in a page, without spaces: prefix of ids and name of files."""
    label: str
    """What a reader who cannot see it is told, main numbers included."""
    wide: Row
    """Vega-Lite specification, 640 px."""
    slim: Row
    """Vega-Lite specification, 340 px."""


class Size(NamedTuple):
    """Size of a drawing in pixels."""

    width: int
    height: int

    @property
    def wide(self) -> bool:
        """True for the drawing of a wide page."""
        return self.width == WIDE


Chart = alt.LayerChart | alt.FacetChart
Draw = Callable[[Size], Chart]


def figure(name: str, label: str, draw: Draw, heights: tuple[int, int], stamp: str) -> Figure:
    """Two drawings of a figure, `heights` in pixels for the wide and the slim one. `stamp`: SIMULATED, PILOT, both or
    nothing.
    """
    sizes = Size(WIDE, heights[0]), Size(SLIM, heights[1])
    wide, slim = (_specification(draw(size), size, stamp) for size in sizes)
    return Figure(name, f"{stamp}. {label}" if stamp else label, wide, slim)


def _specification(chart: Chart, size: Size, stamp: str) -> Row:
    """The chart with the sheet's axes, stamped above the plot, where no mark can hide it."""
    title = alt.TitleParams(stamp, anchor="end", fontSize=11, fontWeight=600, color="var(--mute)", offset=6)
    axis: Row = {
        "domainColor": "var(--edge)",
        "tickColor": "var(--edge)",
        "gridColor": "var(--line)",
        "labelColor": "var(--mute)",
        "titleColor": "var(--ink)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 10,
    }
    done = chart.properties(
        width=size.width,
        height=size.height + (STAMP_ROOM if stamp else 0),
        background="transparent",
        padding=2,
        autosize=alt.AutoSizeParams(type="fit", contains="padding"),
    )
    if stamp:
        done = done.properties(title=title)
    done = done.configure(font=FONT, view=alt.ViewConfig(stroke=None), axis=alt.AxisConfig(**axis))
    return cast(Row, done.to_dict())


def inline(drawing: Figure) -> str:
    """Both drawings as inline SVG; the page's sheet shows the one that fits (classes full and slim)."""
    wide, slim = _inline(drawing, drawing.wide, "w"), _inline(drawing, drawing.slim, "s")
    return f'<div class="full">{wide}</div><div class="slim">{slim}</div>'


def _inline(drawing: Figure, specification: Row, suffix: str) -> str:
    """SVG that takes font and colours from the page, without ids that another figure of the page could have."""
    text = _svg(json.dumps(specification))
    head, body = text.split(">", 1)
    box = re.search(r'viewBox="([^"]+)"', head)
    if box is None:
        raise ValueError(f"The drawing of {drawing.name} came back without a viewBox: {head[:80]}")
    body = re.sub(r'(id="|url\(#)', rf"\1{drawing.name}-{suffix}-", body)
    body = re.sub(r' (?:aria-[a-z]+|role|font-family|pointer-events|class)="[^"]*"', "", body)
    return f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(drawing.label)}">{body}'


@lru_cache(maxsize=128)
def _svg(specification: str) -> str:
    """The same specification gives the same drawing, and a page asks for it each time it is read."""
    return str(vl_convert.vegalite_to_svg(specification))


def vega_lite(drawing: Figure) -> Row:
    """The wide drawing's Vega-Lite specification in fixed colours."""
    fixed = VARIABLE.sub(lambda found: FIXED[found[1]], json.dumps(drawing.wide))
    specification: Row = json.loads(fixed)
    return specification | {"background": FIXED["--paper"], "description": drawing.label}


def svg(drawing: Figure) -> str:
    """The wide drawing as a file that stands alone."""
    return str(vl_convert.vegalite_to_svg(json.dumps(vega_lite(drawing))))


def png(drawing: Figure, scale: float = 2) -> bytes:
    """The wide drawing as a picture of `scale` times 640 pixels."""
    return bytes(vl_convert.vegalite_to_png(json.dumps(vega_lite(drawing)), scale=scale))
