"""Forest plot of differences: thick line for these raters, thin line for raters like these."""

from collections.abc import Sequence
from math import ceil, floor

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import MINUS, condition_name, in_order, points, size_name
from app.reports.speech import say
from app.reports.statistics.differences import Difference
from app.words.language import N_

STEP = 0.2  # between ticks: 20 points
TEXT_ROOM, VALUE_ROOM = 112, 34  # pixels for "+22 (10 to 32)" and for "+22" at the right edge


def forest_figure(differences: Sequence[Difference], stamp: str = "") -> Figure:
    """Every difference with both intervals; "All sizes" is the average over sizes."""
    order = in_order((row.condition for row in differences), "")
    known = [row for row in differences if row.neurons.defined]
    shown = sorted(known, key=lambda row: order.index(row.condition))  # sizes stay in their order
    several = len({row.condition for row in shown}) > 1
    rows = [_row(row, several) for row in shown]
    label = f"{_title(shown)}. " + "; ".join(f"{row['row']}: {row['text']}" for row in rows) + "."
    height = 30 * len(rows) + 62
    return figure("difference", label, lambda size: _draw(rows, _title(shown), size), (height, height), stamp)


def _title(shown: Sequence[Difference]) -> str:
    one = {condition_name(row.condition) for row in shown}
    if not shown:
        return ""
    baseline = condition_name(shown[0].baseline)
    if len(one) == 1:
        return say(N_("%(one)s minus %(other)s, percentage points")) % {"one": one.pop(), "other": baseline}
    return say(N_("Difference from %(baseline)s, percentage points")) % {"baseline": baseline}


def _row(difference: Difference, several: bool) -> Row:
    value = difference.neurons.value or 0.0
    name = size_name(difference.size) if difference.size is not None else say(N_("All sizes"))
    inner, outer = difference.neurons, difference.raters
    bounds = outer if outer.low is not None else inner
    text = points(value)
    if bounds.low is not None and bounds.high is not None:
        low, high = (points(bound).removeprefix("+") for bound in (bounds.low, bounds.high))
        text += say(N_(" (%(low)s to %(high)s)")) % {"low": low, "high": high}
    return {
        "row": f"{condition_name(difference.condition)}, {name[0].lower() + name[1:]}" if several else name,
        "all": difference.size is None,
        "value": value,
        "text": text,
        "short": points(value),
        "low": value if inner.low is None else inner.low,
        "high": value if inner.high is None else inner.high,
        "low_raters": value if outer.low is None else outer.low,
        "high_raters": value if outer.high is None else outer.high,
    }


def _domain(rows: Sequence[Row]) -> tuple[float, float]:
    """Whole steps that hold every interval and 0."""
    low = min(0.0, *(min(row["low"], row["low_raters"]) for row in rows))
    high = max(0.0, *(max(row["high"], row["high_raters"]) for row in rows))
    return min(floor(low / STEP) * STEP, -STEP), max(ceil(high / STEP) * STEP, STEP)


def _draw(rows: Sequence[Row], title: str, size: Size) -> Chart:
    low, high = _domain(rows)
    left = 7 * max(len(row["row"]) for row in rows) + 16  # pixels of the names
    text_room, text = (TEXT_ROOM, "text:N") if size.wide or left < 80 else (VALUE_ROOM, "short:N")
    room = size.width - left - text_room
    top = high + (high - low) * text_room / max(room, 60)
    every = STEP if size.wide or high - low < 5 * STEP else 2 * STEP
    ticks = [round(k * every, 2) for k in range(ceil(low / every - 1e-9), floor(high / every + 1e-9) + 1)]
    expression = f"datum.value == 0 ? '0' : replace(format(100 * datum.value, '+.0f'), '-', '{MINUS}')"
    axis = alt.Axis(values=ticks, labelExpr=expression, grid=False)
    x_scale = alt.Scale(domain=[low, top], nice=False)
    y = alt.Y(
        "row:N",
        sort=[row["row"] for row in rows],
        title=None,
        axis=alt.Axis(labelPadding=8, labelLimit=200, domain=False, ticks=False),
    )
    ink = "var(--ink)"

    def x(field: str) -> alt.X:
        return alt.X(field, title=title, scale=x_scale, axis=axis)

    base = alt.Chart(series.values(rows))
    kind = alt.condition("datum.all", alt.value("diamond"), alt.value("circle"))
    zero = alt.Chart(series.values([{"zero": 0}])).mark_rule(color="var(--edge)", strokeWidth=1)
    return alt.layer(
        zero.encode(x("zero:Q")),
        base.mark_rule(color=ink, strokeWidth=1.25).encode(x("low_raters:Q"), y, x2="high_raters:Q"),
        base.mark_rule(color=ink, strokeWidth=4).encode(x("low:Q"), y, x2="high:Q"),
        series.point(base, 110).encode(x("value:Q"), y, shape=kind, color=alt.value(ink)),
        base.mark_text(align="right", color=ink, fontSize=12).encode(y=y, x=alt.value("width"), text=text),
    )
