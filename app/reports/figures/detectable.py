"""Power of the design that was carried out, against the true difference."""

from typing import TYPE_CHECKING

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import percent
from app.reports.speech import say
from app.words.language import N_

if TYPE_CHECKING:
    from app.reports.detectable import Detectable

GOALS = (0.8, 0.9)


def detectable_figure(power: "Detectable") -> Figure:
    """A line, and where it crosses 80 and 90 %. Nothing is stamped: no verdict of anybody is shown."""
    rows = [{"difference": difference, "power": share} for difference, share in power.curve]
    marks: list[Row] = [
        {"difference": difference, "power": goal, "text": f"{100 * difference:.0f}"}
        for difference, goal in zip((power.eighty, power.ninety), GOALS, strict=True)
        if difference is not None
    ]
    found = "; ".join(f"{mark['text']}: {percent(mark['power'])}" for mark in marks)
    label = say(N_("Power of the design against the true difference in points.")) + f" {found}"
    title = say(N_("True difference, percentage points"))
    return figure("detectable", label, lambda size: _draw(rows, marks, title, size), (230, 230), "")


def _draw(rows: list[Row], marks: list[Row], title: str, size: Size) -> Chart:
    top = max(row["difference"] for row in rows)
    step = 0.1 if size.wide else 0.2
    ticks = [round(step * k, 2) for k in range(int(top / step) + 1)]
    x = alt.X(
        "difference:Q", title=title, scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(values=ticks, labelExpr="round(100 * datum.value)", grid=False),
    )  # fmt: skip
    y_axis = alt.Axis(labelExpr=series.SHARE, values=[0, 0.2, 0.4, 0.6, 0.8, 0.9, 1], domain=False, ticks=False)

    def y(field: str) -> alt.Y:
        return alt.Y(field, title=None, scale=alt.Scale(domain=[0, 1]), axis=y_axis)

    ink = "var(--ink)"
    goals = alt.Chart(series.values([{"goal": goal} for goal in GOALS]))
    marked = alt.Chart(series.values(marks))
    return alt.layer(
        goals.mark_rule(color="var(--edge)", strokeDash=[2, 3]).encode(y("goal:Q")),
        alt.Chart(series.values(rows)).mark_line(strokeWidth=1.75, color=ink).encode(x, y("power:Q")),
        series.point(marked, 90).encode(x, y("power:Q"), color=alt.value(ink)),
        marked.mark_text(align="left", dx=8, dy=12, fontSize=12, color=ink).encode(x, y("power:Q"), text="text:N"),
    )
