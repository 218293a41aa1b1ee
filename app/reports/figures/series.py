"""One look for each condition: a colour, a shape, and a name on the mark itself instead of a legend."""

from collections.abc import Sequence

import altair as alt

from app.reports.figures.drawing import Row

COLOURS = ("var(--c2)", "var(--c1)", "var(--c3)", "var(--ink)", "var(--mute)")
SHAPES = ("square", "circle", "triangle-up", "diamond", "cross")
SIGNS = ("\u25a0", "\u25cf", "\u25b2", "\u25c6", "\u271a")
"""The same shapes as letters, for a name that stands apart from its mark."""
SHARE = "round(100 * datum.value) + '\u00a0%'"
LABEL_SIZE = 12.5


def values(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))


def colour(conditions: Sequence[str]) -> alt.Color:
    """Colour by condition, the baseline first."""
    return alt.Color("condition:N", scale=_scale(conditions, COLOURS), legend=None)


def shape(conditions: Sequence[str]) -> alt.Shape:
    """Shape by condition, so that colour is never the only sign."""
    return alt.Shape("condition:N", scale=_scale(conditions, SHAPES), legend=None)


def _scale(conditions: Sequence[str], range_: Sequence[str]) -> alt.Scale:
    looks = [range_[index % len(range_)] for index in range(len(conditions))]
    return alt.Scale(domain=list(conditions), range=looks)


def point(chart: alt.Chart, size: int = 90) -> alt.Chart:
    """A mark with a rim of paper, readable on top of lines."""
    rimmed: alt.Chart = chart.mark_point(filled=True, size=size, opacity=1, stroke="var(--paper)", strokeWidth=1.5)
    return rimmed


def apart(places: Sequence[float], gap: float) -> list[float]:
    """The places moved as little as needed to lie `gap` apart, in their order: labels must not cover each other."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    groups: list[tuple[float, list[int]]] = []  # (centre, members): touching groups merge and share their centre
    for index in order:
        groups.append((places[index], [index]))
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], gap):
            (one, first), (two, second) = groups[-2:]
            centre = (one * len(first) + two * len(second)) / (len(first) + len(second))
            groups[-2:] = [(centre, first + second)]
    moved = list(places)
    for centre, members in groups:
        for rank, index in enumerate(members):
            moved[index] = centre + gap * (rank - (len(members) - 1) / 2)
    return moved


def _overlap(below: tuple[float, list[int]], above: tuple[float, list[int]], gap: float) -> bool:
    reach = gap * (len(below[1]) + len(above[1])) / 2
    return above[0] - below[0] < reach
