"""What is drawn of multipliers whose intervals are wide or have no end."""

import json

import numpy as np

from model_runner.scaling.comparison import Comparison, Moment
from model_runner.scaling.figures import multiplier_figure, training_rows
from model_runner.scaling.law import Law
from model_runner.scaling.multiplier import Interval, Multiplier, Multipliers


def comparison(*pooled: Interval) -> Comparison:
    one = Multiplier(size=100, loss=4.0, interval=Interval(None, None, None), equal_size=None, extrapolated=True)
    moments = [
        Moment("solu_ln", 1000 * number, Multipliers([one], interval)) for number, interval in enumerate(pooled, 1)
    ]
    law = Law("plain", 100.0, np.zeros(1), np.ones(1), np.ones(1))
    return Comparison("gelu", law, 2, 0.1, 0, 10, {"solu_ln": moments[-1].multipliers}, moments, [])


def drawn(found: Comparison) -> list[tuple[float, float, float]]:
    [rows] = [rows for rows in multiplier_figure(found)["datasets"].values() if "multiplier" in rows[0]]
    return [(row["multiplier"], row["low"], row["high"]) for row in rows]


def test_bars_are_cut_where_they_would_leave_no_room() -> None:
    found = comparison(Interval(1.0, 0.9, 40.0), Interval(2.0, 1.5, None), Interval(1.2, 1.1, 1.3))
    assert drawn(found) == [(1.0, 0.9, 3.0), (2.0, 1.5, 3.0), (1.2, 1.1, 1.3)]
    assert [row["high"] for row in training_rows(found) if row["size"] == "pooled"] == [40.0, None, 1.3], (
        "not in the data"
    )


def test_a_moment_without_a_multiplier_has_no_mark() -> None:
    found = comparison(Interval(None, None, None), Interval(1.0, 0.9, 1.1), Interval(1.2, 1.1, 1.3))
    assert [value for value, _, _ in drawn(found)] == [1.0, 1.2]
    assert "SoLU + LN at 2,000 tokens: 1" in json.dumps(multiplier_figure(found))
