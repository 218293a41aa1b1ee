"""Intervals cover and the test keeps its level: a short version of benchmarks/coverage.py, and simulation itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reports.statistics.simulate import Design, Truth, correlation, logit_of, seats, simulate
from benchmarks.coverage import BATCH, Cell, batch, row, table

SHORT = 400  # studies a cell: the standard error of a coverage near 95 % is 1.1 points


def counted(truth: Truth, design: Design, studies: int = SHORT) -> tuple[float, float, float]:
    cell = Cell(truth, design)
    found = [one for number in range(studies // BATCH) for one in batch((0, cell, number, BATCH))[1]]
    result = row(cell, found)
    return result.neurons, result.raters, result.rejected


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", [1, 3])
def test_without_rater_variation_the_neuron_bootstrap_covers(verdicts: int) -> None:
    neurons, raters, rejected = counted(Truth(baseline=0.35, other=0.35), Design(verdicts=verdicts))
    assert 0.92 <= neurons <= 0.98
    assert raters >= 0.96
    assert 0.02 <= rejected <= 0.08


@pytest.mark.slow
def test_with_rater_variation_only_the_two_way_bootstrap_covers() -> None:
    neurons, raters, rejected = counted(Truth(other=0.35, rater_arm_sd=0.8), Design(verdicts=3))
    assert raters >= 0.92
    assert neurons < 0.90
    assert rejected > 0.08


def test_three_raters_with_variation_fail_as_the_report_warns() -> None:
    neurons, _, rejected = counted(Truth(other=0.35, rater_arm_sd=0.8), Design(raters=3, verdicts=3), BATCH)
    assert neurons < 0.85
    assert rejected > 0.12


def test_table_names_every_cell() -> None:
    cell = Cell(Truth(), Design())
    text = table([row(cell, batch((0, cell, 0, 4))[1])], 4)
    assert "| 0.35 / 0.60 | 6 | 0.0 | 1 |" in text


@given(st.floats(0.02, 0.98), st.floats(0, 3))
def test_mean_logit_gives_the_fraction(fraction: float, sd: float) -> None:
    rng = np.random.default_rng(1)
    logits = logit_of(fraction, sd) + sd * rng.normal(size=40_000)
    assert (1 / (1 + np.exp(-logits))).mean() == pytest.approx(fraction, abs=0.012)


def test_impossible_fraction_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        logit_of(1.0, 1.5)


def test_correlation_is_that_of_simulated_pairs() -> None:
    truth = Truth(baseline=0.4, other=0.4)
    # Two fixed raters would share their strictness across neurons: without it only neurons correlate.
    calm = Truth(baseline=0.4, other=0.4, rater_sd=0.0)
    ratings = simulate(Design(neurons=20_000, raters=2, verdicts=2), calm, np.random.default_rng(2))
    seen = np.corrcoef(ratings.yes_NR[:, 0], ratings.yes_NR[:, 1])[0, 1]
    assert seen == pytest.approx(correlation(0.4, calm), abs=0.015)
    assert correlation(0.4, truth) < correlation(0.4, calm)


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 50), st.data())
def test_seats_are_balanced(raters: int, neurons: int, data: st.DataObject) -> None:
    verdicts = data.draw(st.integers(1, raters))
    seen = seats(Design(neurons=neurons, raters=raters, verdicts=verdicts), np.random.default_rng(0))
    assert (seen.sum(axis=1) == verdicts).all()
    assert seen.sum(axis=0).max() - seen.sum(axis=0).min() <= verdicts


def test_more_verdicts_than_raters_is_refused() -> None:
    with pytest.raises(ValueError, match="4 verdicts of different raters: there are 3"):
        Design(raters=3, verdicts=4)
