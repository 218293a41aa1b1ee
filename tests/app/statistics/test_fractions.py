"""Fractions: golden Wilson intervals, the neuron as the unit, replaced neurons."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reports.statistics.analysis import analyse
from app.reports.statistics.fractions import wilson, with_replaced
from app.reports.statistics.plan import Plan
from tests.app.statistics.studies import counted_study, study

PLAN = Plan(baseline="gelu", resamples=1000)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(36, 60, 0.473661, 0.714305), (0, 20, 0.0, 0.161125), (12, 20, 0.386582, 0.781193)],
)
def test_golden_wilson(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


@given(st.integers(1, 300), st.data())
def test_wilson_stays_inside(n: int, data: st.DataObject) -> None:
    found = wilson(data.draw(st.integers(0, n)), n)
    assert found.low is not None
    assert found.high is not None
    assert found.value is not None
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_no_verdicts_say_so() -> None:
    found = wilson(0, 0)
    assert found.value is None
    assert found.why == "There is no verdict."


def test_one_verdict_a_neuron_gets_wilson() -> None:
    found = analyse(counted_study({"gelu": (21, 60), "solu_ln": (36, 60)}), PLAN, seed=1)
    solu = next(row for row in found.arms if row.arm.condition == "solu_ln").fraction
    assert solu.method == "Wilson interval"
    assert (solu.n, solu.unit) == (60, "neurons")
    assert solu.low == pytest.approx(0.473661, abs=1e-6)


def test_the_neuron_is_the_unit() -> None:
    """A neuron that two raters saw weighs no more than one that a single rater saw."""
    table = counted_study({"gelu": (1, 2)})
    again = table[table["neuron"] == 0].assign(rater=2)
    found = analyse(pd_concat(table, again), PLAN, seed=1).arms[0]
    assert found.fraction.value == 0.5
    assert (found.neurons, found.verdicts) == (2, 3)
    assert "bootstrap" in found.fraction.method


def pd_concat(*tables: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True)


def test_bootstrap_is_close_to_the_textbook() -> None:
    """For the mean of n values the percentile interval must be near mean ± t s / sqrt(n)."""
    table = study(neurons=200)
    found = analyse(table, Plan(baseline="gelu"), seed=5).arms[0].fraction
    means = (
        table[table["arm"] == 0].assign(yes=lambda t: t["verdict"] == "INTERPRETABLE").groupby("neuron")["yes"].mean()
    )
    half = 1.972 * means.std(ddof=1) / np.sqrt(200)
    assert found.low == pytest.approx(means.mean() - half, abs=0.006)
    assert found.high == pytest.approx(means.mean() + half, abs=0.006)


def test_unanimous_arm_is_not_given_a_point() -> None:
    table = counted_study({"gelu": (20, 20), "solu_ln": (0, 20)})
    both = pd_concat(table, table.assign(rater=2))
    found = {row.arm.condition: row.fraction for row in analyse(both, PLAN, seed=1).arms}
    assert found["gelu"].low == pytest.approx(1 - 0.161125, abs=1e-6)
    assert found["solu_ln"].high == pytest.approx(0.161125, abs=1e-6)
    assert "Wilson over neurons" in found["gelu"].note


def test_replaced_three_ways() -> None:
    found = with_replaced(3, wilson(30, 60), units=1000, live=900, replaced=20)
    assert found.shown.value == 0.5
    assert found.live_times_shown.value == pytest.approx(0.45)
    assert found.replaced_as_not.value == pytest.approx(30 / 80)
    assert found.replaced_as_not.n == 80


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="2000 live of 1000"):
        with_replaced(3, wilson(30, 60), units=1000, live=2000, replaced=0)


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10_000))
def test_same_seed_same_numbers(seed: int) -> None:
    table = study(neurons=8)
    small = Plan(baseline="gelu", resamples=100)
    assert analyse(table, small, seed) == analyse(table, small, seed)
