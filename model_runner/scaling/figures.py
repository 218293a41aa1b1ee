"""The two plots of the paper's figure 1: loss against size, and the size multiplier over training."""

import altair as alt
import numpy as np

from model_runner.scaling.comparison import Comparison
from model_runner.scaling.drawing import EDGE, PAPER, Row, colour, data, shape, specification
from model_runner.scaling.models import Model
from model_runner.scaling.names import arm_name, in_order, size_name

ON_THE_LINE = 60
"""Points of the law's curve."""
CUT = 1.5


def loss_figure(models: list[Model], comparison: Comparison) -> Row:
    """Held-out loss against size on a logarithmic axis, the baseline's law as a line, 95 % intervals as bars."""
    arms = in_order({model.arm for model in models}, comparison.baseline)
    rows = [
        {
            "name": arm_name(model.arm),
            "size": model.size,
            "loss": model.evaluation.loss,
            "low": model.evaluation.loss - 1.96 * model.evaluation.loss_standard_error,
            "high": model.evaluation.loss + 1.96 * model.evaluation.loss_standard_error,
        }
        for model in models
    ]
    base = alt.Chart(data(rows))
    line = alt.Chart(data(_law_rows(models, comparison))).mark_line(strokeWidth=1.75)
    x = alt.X(
        "size:Q",
        title="Non-embedding parameters",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=_sizes(models),
    )
    y = alt.Y("loss:Q", title="Held-out loss, nats a token", scale=alt.Scale(zero=False))
    hue = colour(arms)
    chart = alt.layer(
        line.encode(x, y, hue),
        base.mark_rule(strokeWidth=1).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), hue),
        base.mark_point(filled=True, size=90, opacity=1, stroke=PAPER, strokeWidth=1.5).encode(x, y, hue, shape(arms)),
    )
    return specification(chart, _loss_label(models, comparison))


def multiplier_figure(comparison: Comparison) -> Row:
    """The pooled size multiplier of each arm over training with its 95 % interval; 1 is the baseline.

    Bars end at CUT times the largest and the smallest multiplier, or a wide one at the start would leave no room.
    """
    arms = in_order({*comparison.arms, comparison.baseline}, comparison.baseline)
    rows = [row for row in training_rows(comparison) if row["size"] == "pooled" and row["multiplier"] is not None]
    named = [_within(row, rows) | {"name": arm_name(row["arm"])} for row in rows]
    base = alt.Chart(data(named))
    one = alt.Chart(data([{"one": 1.0}])).mark_rule(color=EDGE, strokeDash=[4, 3])
    x = alt.X("tokens:Q", title="Training tokens", axis=alt.Axis(format="~s", grid=False, tickCount=6))
    y_scale = alt.Scale(type="log", zero=False, nice=False, padding=12)
    y = alt.Y("multiplier:Q", title="Effective size multiplier", scale=y_scale)
    hue = colour(arms)
    chart = alt.layer(
        one.encode(alt.Y("one:Q")),
        base.mark_rule(strokeWidth=1, opacity=0.7).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), hue),
        base.mark_line(strokeWidth=1.75).encode(x, y, hue),
        base.mark_point(filled=True, size=70, opacity=1, stroke=PAPER, strokeWidth=1.5).encode(x, y, hue, shape(arms)),
    )
    said = "; ".join(f"{row['name']} at {row['tokens']:,} tokens: {row['multiplier']:.3g}" for row in named)
    return specification(chart, f"Effective size multiplier over training, pooled over sizes. {said}.")


def training_rows(comparison: Comparison) -> list[Row]:
    """A row for each arm, moment and size, and one for each arm and moment pooled over sizes."""
    rows = []
    for moment in comparison.moments:
        every = [(str(model.size), model.interval) for model in moment.multipliers.models]
        for size, interval in [*every, ("pooled", moment.multipliers.pooled)]:
            row = {"arm": moment.arm, "tokens": moment.tokens, "size": size, "multiplier": interval.value}
            rows.append(row | {"low": interval.low, "high": interval.high})
    return rows


def _within(row: Row, rows: list[Row]) -> Row:
    """The row with its interval cut for drawing; an end that is unbounded is cut as well."""
    values = [one["multiplier"] for one in rows]
    low, high = min(values) / CUT, max(values) * CUT
    ends = {"low": low if row["low"] is None else row["low"], "high": high if row["high"] is None else row["high"]}
    return row | {"low": max(ends["low"], low), "high": min(ends["high"], high)}


def _law_rows(models: list[Model], comparison: Comparison) -> list[Row]:
    """The law between the smallest and the largest model that there is, of whichever arm."""
    ends = min(model.size for model in models), max(model.size for model in models)
    sizes = np.geomspace(*ends, ON_THE_LINE)
    losses = comparison.law.losses(sizes)[0]
    name = arm_name(comparison.baseline)
    return [
        {"name": name, "size": size, "loss": loss} for size, loss in zip(sizes.tolist(), losses.tolist(), strict=True)
    ]


def _sizes(models: list[Model]) -> alt.Axis:
    """A tick at every size, named as the sentences do."""
    sizes = sorted({model.size for model in models})
    cases = "".join(f"datum.value == {size} ? '{size_name(size)}' : " for size in sizes)
    return alt.Axis(values=sizes, labelExpr=f"{cases}''", grid=False, labelOverlap="greedy")


def _loss_label(models: list[Model], comparison: Comparison) -> str:
    said = "; ".join(f"{arm_name(model.arm)} at {model.size:,}: {model.evaluation.loss:.4f}" for model in models)
    return f"Held-out loss against size, with the law of {arm_name(comparison.baseline)}. {said}."
