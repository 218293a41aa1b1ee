"""Planning: golden sample sizes, and the formula against the simulation."""

from math import ceil

import numpy as np
import pytest

from app.reports.statistics.power import (
    design_effect,
    detectable,
    formula_power,
    needed,
    neurons_needed,
    simulated_power,
)
from app.reports.statistics.simulate import Design, Truth

CALM = Truth(neuron_sd=0.0, rater_sd=0.0)


@pytest.mark.parametrize(
    ("other", "power", "exact", "rounded"),
    [
        (0.60, 0.8, 61.4, 62),
        (0.60, 0.9, 81.8, 82),
        (0.50, 0.8, 169.3, 170),
        (0.50, 0.9, 226.2, 227),
        (0.45, 0.8, 375.6, 376),
        (0.45, 0.9, 502.3, 503),
    ],
)
def test_golden_sample_sizes(other: float, power: float, exact: float, rounded: int) -> None:
    found = neurons_needed(0.35, other, power)
    assert found == pytest.approx(exact, abs=0.05)
    assert ceil(found) == rounded
    assert needed(Truth(other=other), power=power).neurons == rounded


def test_equal_fractions_need_no_study() -> None:
    with pytest.raises(ValueError, match="Two different fractions"):
        neurons_needed(0.35, 0.35)


def test_design_effect() -> None:
    assert design_effect(1, 0.3) == 1
    assert design_effect(3, 0.25) == 1.5
    several = needed(Truth(), verdicts=3)
    assert several.neurons < 62
    assert several.neurons * 3 > 62  # more verdicts a neuron are worth less than more neurons


def test_formula_power_inverts_the_sample_size() -> None:
    assert formula_power(Design(neurons=62), CALM) == pytest.approx(0.8, abs=0.01)
    assert formula_power(Design(), Truth(other=0.35)) == 0.05


def test_detectable_difference() -> None:
    found = detectable(Design(neurons=62), CALM)
    assert found == pytest.approx(0.25, abs=0.005)
    assert detectable(Design(neurons=2), Truth()) is None


def test_simulation_is_near_the_formula() -> None:
    found = simulated_power(Design(neurons=62), CALM, 150, np.random.default_rng(4), resamples=499)
    assert found.permutation.value == pytest.approx(0.8, abs=0.11)
    assert found.permutation.low is not None
    assert found.permutation.n == 150
    assert found.permutation.unit == "studies"
    assert found.raters.value is not None
    assert found.raters.value < found.neurons.value
