"""The flow of neurons and of raters as two columns of boxes, in the manner of CONSORT."""

from typing import TYPE_CHECKING

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.speech import say
from app.words.language import N_

if TYPE_CHECKING:
    from app.reports.flow import Flow

STEP, BOX = 64, 40
"""Pixels from one box to the next, and of a box."""


def flow_figure(flow: "Flow", stamp: str = "") -> Figure:
    """Neurons: drawn, replaced, shown, rated, analysed. Raters: invited, consented, trained, rated, analysed."""
    columns = (_neurons(flow), _raters(flow))
    names = (say(N_("Neurons")), say(N_("Raters")))
    rows = [
        {"column": column, "step": step, "n": f"{n:,}".replace(",", "\u202f"), "what": what, "last": step == len(boxes)}
        for column, boxes in enumerate(columns)
        for step, (n, what) in enumerate(boxes, start=1)
    ]
    heads = [{"column": column, "name": name} for column, name in enumerate(names)]
    said = "; ".join(
        f"{name}: " + ", ".join(f"{n} {what}" for n, what in boxes) for name, boxes in zip(names, columns, strict=True)
    )
    height = STEP * max(map(len, columns)) + 30
    return figure("flow", f"{said}.", lambda size: _draw(rows, heads, height, size), (height, height), stamp)


def _neurons(flow: "Flow") -> list[tuple[int, str]]:
    checks = [(flow.with_check, say(N_("with held-out text"))), (flow.checked, say(N_("checked on it")))]
    return [
        (flow.drawn, say(N_("drawn"))),
        (sum(flow.replaced.values()), say(N_("replaced by one rule"))),
        (flow.shown, say(N_("shown"))),
        (flow.with_verdict, say(N_("with a verdict"))),
        (flow.analysed, say(N_("analysed"))),
        *(checks if flow.checks else []),
    ]


def _raters(flow: "Flow") -> list[tuple[int, str]]:
    trained = [(flow.trained, say(N_("trained")))] if flow.trained else []
    left_out = sum(flow.left_out.values())
    return [
        (flow.invited, say(N_("invited"))),
        (flow.consented, say(N_("consented"))),
        *trained,
        (flow.rated, say(N_("rated"))),
        *([(left_out, say(N_("left out by the plan")))] if left_out else []),
        (flow.raters_analysed, say(N_("analysed"))),
    ]


def _draw(rows: list[Row], heads: list[Row], height: int, size: Size) -> Chart:
    """Coordinates are pixels, so that boxes, lines and words keep their distances in both drawings."""
    half = size.width / 2
    width = half - 16

    def left(row: Row) -> float:
        return float(row["column"] * (half + 8))

    boxes = [
        row
        | {"x": left(row), "x2": left(row) + width, "y": 24 + STEP * (row["step"] - 1), "mid": left(row) + width / 2}
        for row in rows
    ]
    boxes = [box | {"y2": box["y"] + BOX, "text_y": box["y"] + BOX / 2, "to": box["y"] + STEP} for box in boxes]
    across = alt.Scale(domain=[0, size.width], nice=False)
    down = alt.Scale(domain=[height, 0], nice=False)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=across, axis=None)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=down, axis=None)

    base = alt.Chart(series.values(boxes))
    onward = alt.Chart(series.values([box for box in boxes if not box["last"]]))
    ink = "var(--ink)"
    title = alt.Chart(series.values([head | {"x": left(head), "y": 8} for head in heads]))
    arrow = onward.mark_point(shape="triangle-down", filled=True, size=40, color="var(--edge)", yOffset=-4, opacity=1)
    return alt.layer(
        base.mark_rect(fillOpacity=0, stroke="var(--edge)", cornerRadius=4).encode(x("x"), y("y"), x2="x2", y2="y2"),
        onward.mark_rule(color="var(--edge)").encode(x("mid"), y("y2"), y2="to"),
        arrow.encode(x("mid"), y("to")),
        base.mark_text(align="left", dx=10, fontSize=14, fontWeight=600, color=ink).encode(
            x("x"), y("text_y"), text="n:N"
        ),
        base.mark_text(align="right", dx=-10, fontSize=12, color=ink).encode(x("x2"), y("text_y"), text="what:N"),
        title.mark_text(align="left", fontSize=12, fontWeight=600, color=ink).encode(x("x"), y("y"), text="name:N"),
    )
