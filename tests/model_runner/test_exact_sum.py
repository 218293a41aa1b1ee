from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_runner.collect import exact_sum
from model_runner.collect.exact_sum import LOWEST, add, integers, mean_and_variance, merge, no_sum

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


def _sum(values: list[float]) -> exact_sum.ExactSum:
    total = no_sum(1)
    for value in values:
        add(total, np.array([value], np.float32))
    return total


@given(st.lists(floats, max_size=30))
def test_a_sum_is_exact(values: list[float]) -> None:
    assert integers(_sum(values))[0] * Fraction(2) ** LOWEST == sum(map(Fraction, values))


@given(st.lists(floats, max_size=20), st.lists(floats, max_size=20), st.integers(1, 4))
def test_merged_and_carried_sums_are_exact(mine: list[float], theirs: list[float], carry: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_sum, "CARRY_AFTER", carry)
        total = _sum(mine)
        merge(total, _sum(theirs))
    assert integers(total)[0] * Fraction(2) ** LOWEST == sum(map(Fraction, mine + theirs))


def test_mean_and_variance() -> None:
    values = np.random.default_rng(0).normal(1e4, 1e-2, (1000, 3)).astype(np.float32)
    sums, squares = no_sum(3), no_sum(3)
    for row in values:
        add(sums, row)
        add(squares, np.square(row))
    mean, variance = mean_and_variance(sums, squares, 1000)
    np.testing.assert_allclose(mean, values.mean(axis=0, dtype=np.float64), rtol=1e-15)
    rounded = np.square(values).astype(np.float64).mean(axis=0) - values.mean(axis=0, dtype=np.float64) ** 2
    np.testing.assert_allclose(variance, np.maximum(rounded, 0), rtol=1e-6, atol=1e-7)


def test_what_is_not_finite_breaks_its_own_sum_alone() -> None:
    sums = no_sum(3)
    add(sums, np.array([np.nan, 1.0, np.inf], np.float32))
    mean, variance = mean_and_variance(sums, sums, 1)
    np.testing.assert_array_equal(mean, [np.nan, 1.0, np.nan])
    assert np.isnan(variance[[0, 2]]).all()
