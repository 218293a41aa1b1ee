"""How long verdicts took in each condition, against the soft clock."""

from collections.abc import Sequence

import altair as alt

from app.reports.figures import series
from app.reports.figures.drawing import Chart, Figure, Row, Size, figure
from app.reports.names import condition_name, in_order, percent
from app.reports.speech import say
from app.reports.statistics.times import Times
from app.words.language import N_

TITLE = N_("Seconds a verdict")
CLOCK = (60, 120)
"""When the soft clock turns and when it is full, in seconds, where a design says nothing else."""
TEXT_ROOM = {True: 120, False: 0}  # a slim drawing leaves the shares to the table


def times_figure(times: Sequence[Times], baseline: str, stamp: str = "", clock: tuple[int, int] = CLOCK) -> Figure:
    """A row a condition: median, middle half (thick) and middle four fifths (thin); dashed: the soft clock turned."""
    known = {row.condition: row for row in times if row.condition is not None and row.quantiles_seconds}
    conditions = in_order(known, baseline)
    rows = [_row(known[name]) for name in conditions]
    medians = [say(N_("%(name)s: median %(n)s")) % {"name": row["name"], "n": f"{row['median']:.0f}"} for row in rows]
    label = say(N_("Seconds a verdict took.")) + f" {'; '.join(medians)}."
    height = 40 * len(rows) + 78
    return figure("times", label, lambda size: _draw(rows, conditions, size, clock), (height, height), stamp)


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


def _after(seconds: int) -> str:
    if seconds % 60:
        return say(N_("%(n)s s")) % {"n": seconds}
    return say(N_("%(n)s min")) % {"n": seconds // 60}


def _draw(rows: Sequence[Row], conditions: list[str], size: Size, clock: tuple[int, int] = CLOCK) -> Chart:
    longest = max([25.0 + clock[1], *(row["high"] * 1.05 for row in rows)])
    room = TEXT_ROOM[size.wide]
    top = longest * (1 + room / (size.width - 90 - room))
    ticks = list(range(0, int(longest) + 1, 30 if longest < 200 else 60 * max(1, round(longest / 600))))
    scale, axis = alt.Scale(domain=[0, top], nice=False), alt.Axis(values=ticks, grid=False)
    names = [row["name"] for row in rows]
    y_axis = alt.Axis(labelPadding=8, labelColor="var(--ink)", labelFontWeight=600, domain=False, ticks=False)
    y = alt.Y("name:N", sort=names, title=None, axis=y_axis)
    hue, form = series.colour(conditions), series.shape(conditions)

    def x(field: str) -> alt.X:
        return alt.X(field, title=say(TITLE), scale=scale, axis=axis)

    base = alt.Chart(series.values(rows))
    turns = alt.Chart(series.values([{"at": at, "words": _after(at)} for at in clock]))
    layers = [
        turns.mark_rule(color="var(--edge)", strokeDash=[2, 3]).encode(x("at:Q")),
        turns.mark_text(align="left", baseline="top", dx=4, dy=2, fontSize=11, color="var(--mute)").encode(
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
