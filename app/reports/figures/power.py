"""Power against neurons an arm: simulated points, the formula as a dashed line."""

from collections.abc import Sequence

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import percent
from app.reports.speech import say
from app.reports.statistics.power import Power
from app.words.language import N_

TITLE = N_("Neurons an arm")
GOALS = (0.8, 0.9)
LABEL_ROOM = {True: 0.3, False: 0.9}
"""Room for the names of the lines, as a share of the axis that is used, in a wide and in a slim drawing."""


def power_figure(powers: Sequence[Power]) -> Figure:
    """A line for each number of raters and of verdicts a neuron: share of simulated studies in which the test rejects.

    Simulation is what a plan is made of, so nothing is stamped: no verdict of anybody is shown.
    """
    rows = [_row(power) for power in powers]
    lines = list(dict.fromkeys(row["condition"] for row in rows))
    truth = powers[0].truth
    fractions = {"one": percent(truth.baseline), "other": percent(truth.other)}
    label = say(N_("Power to tell %(one)s from %(other)s, by neurons an arm:")) % fractions
    label += " " + "; ".join(f"{row['neurons']}, {row['condition']}: {percent(row['power'])}" for row in rows)
    return figure("power", f"{label}.", lambda size: _draw(rows, lines, size), (320, 300), "")


def _row(power: Power) -> Row:
    design = power.design
    line = (
        N_("%(raters)s raters, 1 verdict") if design.verdicts == 1 else N_("%(raters)s raters, %(verdicts)s verdicts")
    )
    return {
        "condition": say(line) % {"raters": design.raters, "verdicts": design.verdicts},
        "neurons": design.neurons,
        "power": power.permutation.value or 0.0,
        "low": power.permutation.low or 0.0,
        "high": power.permutation.high or 0.0,
        "formula": power.formula,
    }


def _draw(rows: Sequence[Row], lines: list[str], size: Size) -> Chart:
    least, most = min(row["neurons"] for row in rows), max(row["neurons"] for row in rows)
    top = most + max(most - least, 10) * LABEL_ROOM[size.wide]
    ticks = sorted({row["neurons"] for row in rows})
    axis = alt.Axis(values=ticks, grid=False, labelOverlap="greedy")
    x = alt.X("neurons:Q", title=say(TITLE), scale=alt.Scale(domain=[least * 0.9, top], nice=False), axis=axis)
    y_axis = alt.Axis(labelExpr=series.SHARE, values=[0, 0.2, 0.4, 0.6, 0.8, 0.9, 1], domain=False, ticks=False)
    y_scale = alt.Scale(domain=[0, 1])

    def y(field: str) -> alt.Y:
        return alt.Y(field, title=None, scale=y_scale, axis=y_axis)

    hue, form = series.colour(lines), series.shape(lines)
    base = alt.Chart(series.values(rows))
    goals = alt.Chart(series.values([{"goal": goal} for goal in GOALS]))
    return alt.layer(
        goals.mark_rule(color="var(--edge)", strokeDash=[2, 3]).encode(y("goal:Q")),
        base.mark_line(strokeWidth=1.25, strokeDash=[5, 4], opacity=0.8).encode(x, y("formula:Q"), hue),
        base.mark_rule(strokeWidth=1.25).encode(x, y("low:Q"), alt.Y2("high:Q"), hue),
        base.mark_line(strokeWidth=1.75).encode(x, y("power:Q"), hue),
        series.point(base).encode(x, y("power:Q"), hue, form),
        alt.Chart(series.values(_labels(rows, lines)))
        .mark_text(align="left", dx=13, fontSize=12, fontWeight=600)
        .encode(x, y("power:Q"), hue, text="condition:N"),
    )


def _labels(rows: Sequence[Row], lines: list[str]) -> list[Row]:
    """The name of each line beside its last point, moved apart."""
    last = [max((row for row in rows if row["condition"] == line), key=lambda row: row["neurons"]) for line in lines]
    places = series.apart([row["power"] for row in last], 0.06)
    return [row | {"power": place} for row, place in zip(last, places, strict=True)]
