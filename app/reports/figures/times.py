"""How long verdicts took in each condition, against the soft clock."""

from collections.abc import Sequence

import altair as alt

from app.language import N_
from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import condition_name, in_order, percent
from app.reports.speech import say
from app.reports.statistics.times import Times

TITLE = N_("Seconds a verdict")
CLOCK = ((60, N_("1 min")), (120, N_("2 min")))
TEXT_ROOM = {True: 120, False: 0}  # a slim drawing leaves the shares to the table


def times_figure(times: Sequence[Times], baseline: str, stamp: str = "") -> Figure:
    """A row a condition: median, middle half (thick) and middle four fifths (thin); dashed: the soft clock turned."""
    known = {row.condition: row for row in times if row.condition is not None and row.quantiles_seconds}
    conditions = in_order(known, baseline)
    rows = [_row(known[name]) for name in conditions]
    medians = [say(N_("%(name)s: median %(n)s")) % {"name": row["name"], "n": f"{row['median']:.0f}"} for row in rows]
    label = say(N_("Seconds a verdict took.")) + f" {'; '.join(medians)}."
    height = 40 * len(rows) + 78
    return figure("times", label, lambda size: _draw(rows, conditions, size), (height, height), stamp)


def _row(times: Times) -> Row:
    low, lower, median, upper, high = times.quantiles_seconds
    over = times.over_one_minute.value or 0.0
    return {
        "condition": times.condition,
        "name": condition_name(times.condition or ""),
        "low": low,
        "lower": lower,
        "median": median,
        "upper": upper,
        "high": high,
        "text": say(N_("%(share)s over 1 minute")) % {"share": percent(over)},
    }


def _draw(rows: Sequence[Row], conditions: list[str], size: Size) -> Chart:
    longest = max([145.0, *(row["high"] * 1.05 for row in rows)])
    room = TEXT_ROOM[size.wide]
    top = longest * (1 + room / (size.width - 90 - room))
    ticks = list(range(0, int(longest) + 1, 30 if longest < 200 else 60))
    scale, axis = alt.Scale(domain=[0, top], nice=False), alt.Axis(values=ticks, grid=False)
    names = [row["name"] for row in rows]
    y_axis = alt.Axis(labelPadding=8, labelColor="var(--ink)", labelFontWeight=600, domain=False, ticks=False)
    y = alt.Y("name:N", sort=names, title=None, axis=y_axis)
    hue, form = series.colour(conditions), series.shape(conditions)

    def x(field: str) -> alt.X:
        return alt.X(field, title=say(TITLE), scale=scale, axis=axis)

    base = alt.Chart(series.values(rows))
    clock = alt.Chart(series.values([{"at": at, "words": say(words)} for at, words in CLOCK]))
    layers = [
        clock.mark_rule(color="var(--edge)", strokeDash=[2, 3]).encode(x("at:Q")),
        clock.mark_text(align="left", baseline="top", dx=4, dy=2, fontSize=11, color="var(--mute)").encode(
            x("at:Q"), y=alt.value(0), text="words:N"
        ),
        base.mark_rule(strokeWidth=1.25).encode(x("low:Q"), y, hue, x2="high:Q"),
        base.mark_rule(strokeWidth=4).encode(x("lower:Q"), y, hue, x2="upper:Q"),
        series.point(base, 110).encode(x("median:Q"), y, hue, form),
    ]
    if size.wide:
        text = base.mark_text(align="right", fontSize=12, color="var(--ink)")
        layers.append(text.encode(y=y, x=alt.value("width"), text="text:N"))
    return alt.layer(*layers)
