"""The paper's figure 4: fraction against size, a line a condition; with a single size, a dot a condition."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from math import log10

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import MOST_NAMED, condition_name, in_order, percent, size_name
from app.reports.speech import say
from app.reports.statistics.fractions import ArmFraction
from app.words.language import N_

LABEL_ROOM = 106  # pixels for the names to the right of the last points
GAP = 0.055  # two labels this far apart on the axis of fractions do not touch


def fraction_figure(arms: Sequence[ArmFraction], baseline: str, stamp: str = "") -> Figure:
    """Interpretable fraction of every arm with its interval; small points are single raters, unless they are many."""
    shown = [_readable(arm) for arm in arms if arm.fraction.defined]
    sizes = sorted({arm.arm.size for arm in shown})
    conditions = in_order((arm.arm.condition for arm in shown), baseline)
    label = say(N_("Fraction of neurons called interpretable.")) + f" {_sentence(shown, len(sizes) > 1)}"
    if len(sizes) == 1:
        height = 44 * len(shown) + 56
        return figure("fraction", label, lambda size: _dots(shown, conditions, size), (height, height), stamp)
    return figure("fraction", label, lambda size: _lines(shown, conditions, sizes, size), (350, 320), stamp)


def _readable(arm: ArmFraction) -> ArmFraction:
    """A cloud of a thousand points hides the fraction and says nothing; the figure of the raters has them together."""
    return arm if len(arm.by_rater) <= MOST_NAMED else replace(arm, by_rater=())


def _sentence(arms: Sequence[ArmFraction], sized: bool) -> str:
    parts = []
    for arm in arms:
        name = condition_name(arm.arm.condition)
        if sized:
            name = say(N_("%(condition)s at %(size)s")) % {"condition": name, "size": size_name(arm.arm.size)}
        parts.append(f"{name}: {percent(arm.fraction.value or 0)}")
    return "; ".join(parts) + "."


def _row(arm: ArmFraction) -> Row:
    fraction = arm.fraction
    value = fraction.value or 0.0
    return {
        "condition": arm.arm.condition,
        "name": condition_name(arm.arm.condition),
        "size": arm.arm.size,
        "fraction": value,
        "low": value if fraction.low is None else fraction.low,
        "high": value if fraction.high is None else fraction.high,
    }


def _lines(arms: Sequence[ArmFraction], conditions: list[str], sizes: list[int], size: Size) -> Chart:
    room = size.width - 44 - LABEL_ROOM  # pixels between the first and the last size, about
    step = max(log10(sizes[-1] / sizes[0]), 0.05) / room  # decades a pixel
    middle = (len(conditions) - 1) / 2
    shift = {name: (index - middle) * 7 * step for index, name in enumerate(conditions)}

    def x_of(row: Row, pixels: float = 0) -> Row:
        return row | {"x": row["size"] * 10 ** (shift[row["condition"]] + pixels * step)}

    rows = [x_of(_row(arm)) for arm in arms]
    raters = [
        x_of(_row(arm) | {"fraction": share.fraction}, -9 if shift[arm.arm.condition] < 0 else 9)
        for arm in arms
        for share in arm.by_rater
    ]
    domain = [sizes[0] * 10 ** (-24 * step), sizes[-1] * 10 ** (LABEL_ROOM * step)]
    x = alt.X(
        "x:Q",
        title=say(N_("Non-embedding parameters")),
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(values=sizes, labelExpr=_size_labels(sizes), grid=False, labelOverlap="greedy"),
    )
    y = _fraction_axis(alt.Y)
    hue, form = series.colour(conditions), series.shape(conditions)
    base = alt.Chart(series.values(rows))
    ends, early = _line_labels(rows, raters, conditions, sizes[-1])
    beside = alt.Chart(series.values([row | {"x": sizes[-1] * 10 ** ((7 * middle + 17) * step)} for row in ends]))
    outside = alt.Chart(series.values(early))
    lines = alt.Chart(series.values(_means(rows)))
    return alt.layer(
        alt.Chart(series.values(raters)).mark_point(filled=True, size=13, opacity=0.45).encode(x, y, hue),
        base.mark_rule(strokeWidth=1.25).encode(x, alt.Y("low:Q", title=None), alt.Y2("high:Q"), hue),
        lines.mark_line(strokeWidth=1.75).encode(x, y, hue),
        series.point(base).encode(x, y, hue, form),
        beside.mark_text(align="left", fontSize=series.LABEL_SIZE, fontWeight=600).encode(x, y, hue, text="name:N"),
        outside.mark_text(fontSize=series.LABEL_SIZE, fontWeight=600).encode(x, y, hue, text="name:N"),
    )


def _size_labels(sizes: list[int]) -> str:
    """A Vega expression that names every tick as the tables do."""
    cases = "".join(f"datum.value == {size} ? '{size_name(size)}' : " for size in sizes)
    return f"{cases}''"


def _fraction_axis(channel: type[alt.X] | type[alt.Y]) -> alt.X | alt.Y:
    axis = alt.Axis(labelExpr=series.SHARE, tickCount=5, domain=False, ticks=False)
    return channel("fraction:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis)


def _means(rows: Sequence[Row]) -> list[Row]:
    """A point of the line for each condition and size: replicate models are averaged."""

    def place(row: Row) -> tuple[str, int]:
        return row["condition"], row["size"]

    groups = [list(group) for _, group in groupby(sorted(rows, key=place), place)]
    return [group[0] | {"fraction": sum(row["fraction"] for row in group) / len(group)} for group in groups]


def _line_labels(
    rows: Sequence[Row], raters: Sequence[Row], conditions: list[str], largest: int
) -> tuple[list[Row], list[Row]]:
    """Names beside the last points, moved apart; and names of lines that end earlier, clear of all marks there."""
    last = list({row["condition"]: row for row in sorted(_means(rows), key=lambda row: row["size"])}.values())
    ends = [row for row in last if row["size"] == largest]
    places = series.apart([row["fraction"] for row in ends], GAP)
    beside = [row | {"fraction": place} for row, place in zip(ends, places, strict=True)]
    early = [row for row in last if row["size"] < largest]
    marks = [*rows, *raters]
    return beside, [_outside(row, marks, series.SIGNS[conditions.index(row["condition"]) % 5]) for row in early]


def _outside(row: Row, marks: Sequence[Row], sign: str) -> Row:
    """The name below every mark of its size, or above them, led by its shape because it is far from its own."""
    there = [mark for mark in marks if mark["size"] == row["size"]]
    below: float = min(min(mark["low"], mark["fraction"]) for mark in there) - GAP
    above: float = max(max(mark["high"], mark["fraction"]) for mark in there) + GAP
    place = below if below > GAP / 2 else above
    return row | {"fraction": place, "name": f"{sign} {row['name']}"}


def _dots(arms: Sequence[ArmFraction], conditions: list[str], size: Size) -> Chart:
    """One size: a row an arm, named on the axis, its numbers written beside it."""
    ordered = sorted(arms, key=lambda arm: conditions.index(arm.arm.condition))
    names = _dot_names(ordered)
    rows = [
        _row(arm) | {"row": name, "text": _numbers(arm, size.wide)} for arm, name in zip(ordered, names, strict=True)
    ]
    raters = [
        {"condition": arm.arm.condition, "row": name, "fraction": share.fraction}
        for arm, name in zip(ordered, names, strict=True)
        for share in arm.by_rater
    ]
    top = 1.34 if size.wide else 1.3
    axis = alt.Axis(labelExpr=series.SHARE, values=[0, 0.25, 0.5, 0.75, 1] if size.wide else [0, 0.5, 1])
    x = alt.X(
        "fraction:Q", title=say(N_("Called interpretable")), scale=alt.Scale(domain=[0, top], nice=False), axis=axis
    )
    y_axis = alt.Axis(
        labelPadding=8, labelColor="var(--ink)", labelFontWeight=600, labelLimit=120, domain=False, ticks=False
    )
    y = alt.Y("row:N", sort=names, title=None, axis=y_axis)
    hue, form = series.colour(conditions), series.shape(conditions)
    base = alt.Chart(series.values(rows))
    return alt.layer(
        base.mark_rule(strokeWidth=1.75).encode(
            alt.X("low:Q", title=say(N_("Called interpretable"))), y, hue, x2="high:Q"
        ),
        alt.Chart(series.values(raters)).mark_point(filled=True, size=16, opacity=0.5, yOffset=11).encode(x, y, hue),
        series.point(base, 110).encode(x, y, hue, form),
        base.mark_text(align="right", fontSize=12, color="var(--ink)").encode(y=y, x=alt.value("width"), text="text:N"),
    )


def _dot_names(arms: Sequence[ArmFraction]) -> list[str]:
    """The condition; with replicate models, the seed too."""
    conditions = [arm.arm.condition for arm in arms]
    return [
        condition_name(name)
        if conditions.count(name) == 1
        else f"{condition_name(name)}{say(N_(', '))}{say(N_('seed %(n)s')) % {'n': arm.arm.seed}}"
        for name, arm in zip(conditions, arms, strict=True)
    ]


def _numbers(arm: ArmFraction, wide: bool) -> str:
    fraction = arm.fraction
    value = percent(fraction.value or 0)
    if not wide or fraction.low is None or fraction.high is None:
        return value
    bounds = {"low": f"{100 * fraction.low:.0f}", "high": f"{100 * fraction.high:.0f}"}
    return value + say(N_(" (%(low)s to %(high)s)")) % bounds
