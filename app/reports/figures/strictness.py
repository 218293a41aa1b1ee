"""How often each rater says yes in each condition."""

from collections.abc import Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import MOST_NAMED, condition_name, in_order, percent, rater_name
from app.reports.speech import say
from app.reports.statistics.strictness import Rater
from app.reports.statistics.times import QUANTILES
from app.words.language import N_

TITLE = N_("Called interpretable")


def strictness_figure(
    raters: Sequence[Rater], baseline: str, names: Mapping[int, str] | None = None, stamp: str = ""
) -> Figure:
    """A row a rater, strictest first, a mark a condition; very many raters are a row a condition, without names.

    `names` maps rater numbers to what the report calls them.
    """
    if len(raters) > MOST_NAMED:
        return _together(raters, baseline, stamp)
    called = {rater.rater: (names or {}).get(rater.rater, rater_name(rater.rater)) for rater in raters}
    rows = [_row(rater, called[rater.rater], part.condition) for rater in raters for part in rater.by_condition]
    rows = [row for row in rows if row["n"]]
    conditions = in_order((row["condition"] for row in rows), baseline)
    label = say(N_("Fraction called interpretable by each rater in each condition.")) + " "
    label += "; ".join(
        say(N_("%(rater)s: %(share)s of %(n)s"))
        % {"rater": called[one.rater], "share": percent(one.fraction.value or 0), "n": one.fraction.n}
        for one in raters
    )
    height = max(16 * len(conditions) + 10, 34) * len(called) + 84
    order = list(called.values())
    return figure(
        "raters", f"{label}.", lambda size: rater_rows(rows, order, conditions, size), (height, height), stamp
    )


def _row(rater: Rater, name: str, condition: str) -> Row:
    fraction = next(part.fraction for part in rater.by_condition if part.condition == condition)
    return {
        "rater": name,
        "condition": condition,
        "n": fraction.n,
        "fraction": fraction.value,
        "low": fraction.low,
        "high": fraction.high,
    }


def _together(raters: Sequence[Rater], baseline: str, stamp: str) -> Figure:
    """Median of the raters' own fractions, middle half (thick) and middle four fifths (thin)."""
    shares: dict[str, list[float]] = {}
    for part in (part for rater in raters for part in rater.by_condition if part.fraction.value is not None):
        shares.setdefault(part.condition, []).append(float(part.fraction.value or 0.0))
    conditions = in_order(shares, baseline)
    rows = [_quantiles(name, shares[name]) for name in conditions]
    label = say(N_("Fraction called interpretable by each of %(n)s raters in each condition.")) % {"n": len(raters)}
    medians = [say(N_("%(name)s: median %(n)s")) % {"name": row["name"], "n": percent(row["median"])} for row in rows]
    height = 40 * len(rows) + 78
    draw = partial(_draw_together, rows, conditions)
    return figure("raters", f"{label} {'; '.join(medians)}.", draw, (height, height), stamp)


def _quantiles(condition: str, shares: list[float]) -> Row:
    low, lower, median, upper, high = map(float, np.quantile(shares, QUANTILES))
    return {
        "condition": condition, "name": condition_name(condition), "low": low, "lower": lower, "median": median,
        "upper": upper, "high": high,
    }  # fmt: skip


def _draw_together(rows: Sequence[Row], conditions: list[str], size: Size) -> Chart:
    axis = alt.Axis(labelExpr=series.SHARE, values=[0, 0.2, 0.4, 0.6, 0.8, 1] if size.wide else [0, 0.5, 1], grid=True)
    names = [row["name"] for row in rows]
    y_axis = alt.Axis(labelPadding=8, labelColor="var(--ink)", labelFontWeight=600, domain=False, ticks=False)
    y = alt.Y("name:N", sort=names, title=None, axis=y_axis)
    hue, form = series.colour(conditions), series.shape(conditions)

    def x(field: str) -> alt.X:
        return alt.X(field, title=say(TITLE), scale=alt.Scale(domain=[0, 1]), axis=axis)

    base = alt.Chart(series.values(rows))
    return alt.layer(
        base.mark_rule(strokeWidth=1.25).encode(x("low:Q"), y, hue, x2="high:Q"),
        base.mark_rule(strokeWidth=4).encode(x("lower:Q"), y, hue, x2="upper:Q"),
        series.point(base, 110).encode(x("median:Q"), y, hue, form),
    )


def rater_rows(rows: Sequence[Row], raters: list[str], conditions: list[str], size: Size) -> Chart:
    """A row a rater with a mark and an interval a condition: columns rater, condition, fraction, low and high."""
    axis = alt.Axis(labelExpr=series.SHARE, values=[0, 0.2, 0.4, 0.6, 0.8, 1] if size.wide else [0, 0.5, 1], grid=True)
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("fraction:Q", title=say(TITLE), scale=scale, axis=axis)
    low = alt.X("low:Q", title=say(TITLE), scale=scale, axis=axis)
    y_axis = alt.Axis(labelPadding=8, labelLimit=110, domain=False, ticks=False)
    y = alt.Y("rater:N", sort=raters, title=None, axis=y_axis, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.1))
    order = conditions[::-1]
    off = alt.YOffset("condition:N", sort=order, scale=alt.Scale(domain=order, paddingOuter=0.5, paddingInner=0.1))
    hue, form = series.colour(conditions), series.shape(conditions)
    base = alt.Chart(series.values(rows))
    key = alt.Chart(series.values(_key(rows, raters[0], size)))
    return alt.layer(
        base.mark_rule(strokeWidth=1.5).encode(low, y, off, hue, x2="high:Q"),
        series.point(base, 70).encode(x, y, off, hue, form),
        key.mark_text(align=alt.expr("datum.align"), dx=alt.expr("datum.dx"), fontSize=12, fontWeight=600).encode(
            alt.X("at:Q", title=say(TITLE), scale=scale, axis=axis), y, off, hue, text="name:N"
        ),
    )


def _key(rows: Sequence[Row], first: str, size: Size) -> list[Row]:
    """The names of the conditions, written beside the first rater's marks: right of them where there is room."""
    named = []
    for row in (row for row in rows if row["rater"] == first):
        name = condition_name(row["condition"])
        right = row["high"] + (len(name) * 7 + 12) / (size.width - 80) < 1
        place = (
            {"at": row["high"], "align": "left", "dx": 7} if right else {"at": row["low"], "align": "right", "dx": -7}
        )
        named.append(row | place | {"name": name})
    return named
