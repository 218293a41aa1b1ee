"""Success of blinding: Bang's index of each condition; 0 is blind guessing."""

import json

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import MINUS, condition_name, in_order
from app.reports.speech import say
from app.reports.statistics.blinding import Bang, Blinding
from app.words.language import N_

TITLE = N_("Bang’s index")


def blinding_figure(blinding: Blinding, baseline: str, stamp: str = "") -> Figure:
    """A row a condition with the interval over raters (thin) and of independent guesses (thick)."""
    known = {row.condition: row for row in blinding.conditions if row.index.defined}
    conditions = in_order(known, baseline)
    rows = [_row(known[name]) for name in conditions]
    label = say(N_("Bang’s index of blinding, 0 for blind guessing.")) + " "
    label += "; ".join(f"{row['name']}: {row['text']}" for row in rows)
    height = 36 * len(rows) + 66
    return figure("blinding", f"{label}.", lambda size: _draw(rows, conditions, size), (height, height), stamp)


def _row(bang: Bang) -> Row:
    value = bang.index.value or 0.0
    inner, outer = bang.index, bang.over_raters
    return {
        "condition": bang.condition,
        "name": condition_name(bang.condition),
        "value": value,
        "text": f"{value:+.2f}".replace("-", MINUS),
        "low": value if inner.low is None else inner.low,
        "high": value if inner.high is None else inner.high,
        "low_raters": value if outer.low is None else outer.low,
        "high_raters": value if outer.high is None else outer.high,
    }


def _draw(rows: list[Row], conditions: list[str], size: Size) -> Chart:
    number = f"replace(format(datum.value, '.1f'), '-', '{MINUS}')"
    blind, right = json.dumps(say(N_("blind"))), json.dumps(say(N_("all right")))
    expression = f"datum.value == 0 ? {blind} : datum.value == 1 ? {right} : {number}"
    axis = alt.Axis(values=[-1, -0.5, 0, 0.5, 1], labelExpr=expression, grid=False)
    scale = alt.Scale(domain=[-1, 1.3 if size.wide else 1.45], nice=False)
    y_axis = alt.Axis(labelPadding=8, labelColor="var(--ink)", labelFontWeight=600, domain=False, ticks=False)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=y_axis)
    hue, form = series.colour(conditions), series.shape(conditions)

    def x(field: str) -> alt.X:
        return alt.X(field, title=say(TITLE), scale=scale, axis=axis)

    base = alt.Chart(series.values(rows))
    zero = alt.Chart(series.values([{"zero": 0}])).mark_rule(color="var(--edge)", strokeWidth=1)
    return alt.layer(
        zero.encode(x("zero:Q")),
        base.mark_rule(strokeWidth=1.25).encode(x("low_raters:Q"), y, hue, x2="high_raters:Q"),
        base.mark_rule(strokeWidth=4).encode(x("low:Q"), y, hue, x2="high:Q"),
        series.point(base, 110).encode(x("value:Q"), y, hue, form),
        base.mark_text(align="right", fontSize=12, color="var(--ink)").encode(y=y, x=alt.value("width"), text="text:N"),
    )
