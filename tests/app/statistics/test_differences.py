"""Differences: golden Newcombe intervals, two-way intervals, ratios, the permutation test."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.reports.statistics.analysis import analyse, to_json
from app.reports.statistics.differences import newcombe
from app.reports.statistics.permutation import centred_means, p_value, shuffled_sums
from app.reports.statistics.plan import Plan
from app.reports.statistics.ratings import matrix
from app.reports.statistics.verdicts import complete, counted
from tests.app.statistics.studies import counted_study, study

PLAN = Plan(baseline="gelu", resamples=2000)


@pytest.mark.parametrize(
    ("yes_1", "n_1", "yes_2", "n_2", "low", "high"),
    [(36, 60, 21, 60, 0.071305, 0.407478), (20, 20, 0, 20, 0.772135, 1.0)],
)
def test_golden_newcombe(yes_1: int, n_1: int, yes_2: int, n_2: int, low: float, high: float) -> None:
    found = newcombe(yes_1, n_1, yes_2, n_2)
    assert found.low == pytest.approx(low, abs=1e-6)
    assert found.high == pytest.approx(high, abs=1e-6)


def test_single_verdicts_have_newcombe_beside_the_bootstrap() -> None:
    found = analyse(counted_study({"gelu": (21, 60), "solu_ln": (36, 60)}), PLAN, seed=1).differences[0]
    assert found.neurons.value == pytest.approx(0.25)
    assert found.newcombe.low == pytest.approx(0.071305, abs=1e-6)
    assert found.neurons.low == pytest.approx(0.07, abs=0.02)
    assert found.ratio.value == pytest.approx(36 / 21)
    assert "about these models" in found.neurons.note
    assert found.raters.low is None
    assert found.raters.why == "With a single rater nothing can be said about raters like this one."


def test_several_verdicts_have_no_newcombe_and_say_why() -> None:
    found = analyse(study(), PLAN, seed=1).differences[0]
    assert found.newcombe.value is None
    assert "exactly one verdict" in found.newcombe.why


def test_two_way_is_wider_and_warns_under_six_raters() -> None:
    few = analyse(study(raters=3), PLAN, seed=1).differences[0].raters
    many = analyse(study(raters=6), PLAN, seed=1).differences[0]
    assert "Only 3 raters" in few.note
    assert many.raters.note == ""
    assert many.raters.high - many.raters.low > many.neurons.high - many.neurons.low


def test_all_sizes_are_averaged() -> None:
    found = analyse(study(sizes=(1000, 8000, 64_000)), PLAN, seed=1).differences
    assert [row.size for row in found] == [1000, 8000, 64_000, None]
    assert found[-1].neurons.value == pytest.approx(np.mean([row.neurons.value for row in found[:3]]))
    assert found[-1].neurons.high - found[-1].neurons.low < found[0].neurons.high - found[0].neurons.low


def test_flat_arms_fall_back_and_say_so() -> None:
    found = analyse(counted_study({"gelu": (0, 20), "solu_ln": (20, 20)}), PLAN, seed=1).differences[0]
    assert found.neurons.low == pytest.approx(0.772135, abs=1e-6)
    assert "Newcombe" in found.neurons.method
    assert found.ratio.value is None
    assert found.ratio.why == "The baseline's fraction is 0, so there is no ratio."


def test_permutation_is_fisher_for_single_verdicts() -> None:
    """With one verdict a neuron the shuffled sum is hypergeometric, so p must be near the exact 0.0102."""
    table = counted_study({"gelu": (21, 60), "solu_ln": (36, 60)})
    found = analyse(table, Plan(baseline="gelu", resamples=100_000), seed=1).comparisons[0].permutation
    assert found.p == pytest.approx(0.010190, abs=0.0015)
    assert found.statistic == pytest.approx(0.25, abs=1e-5)  # the tie-break is in it
    assert "conditional on these raters" in found.note


def test_shuffling_draws_without_replacement() -> None:
    """Mean and variance of a sum of 15 of 40 values, by the finite-population formula (Cochran 1977)."""
    rng = np.random.default_rng(3)
    values_N = rng.integers(0, 4, 40) / 3
    found = shuffled_sums(values_N, 15, 40_000, rng)
    assert found.mean() == pytest.approx(15 * values_N.mean(), abs=0.03)
    assert found.var() == pytest.approx(15 * values_N.var(ddof=1) * (1 - 15 / 40), rel=0.03)
    assert len(np.unique(found.round(9))) > 20


def test_strictness_of_raters_cancels_in_the_test() -> None:
    """A rater who never says yes adds nothing: all their distances are 0."""
    table = study(raters=3, each=1)
    strict = table.assign(verdict=np.where(table["rater"] == 2, "NOT_INTERPRETABLE", table["verdict"]))
    values_N = centred_means(matrix(counted(complete(strict), PLAN)))
    assert np.count_nonzero(values_N == 0) == (table["rater"] == 2).sum()
    assert values_N.sum() == pytest.approx(0)


def test_within_raters_needs_single_verdicts() -> None:
    plan = Plan(baseline="gelu", resamples=500, shuffle="size_and_rater")
    assert "exactly one verdict" in analyse(study(each=3), plan, seed=1).comparisons[0].permutation.why
    assert analyse(study(each=1), plan, seed=1).comparisons[0].permutation.p is not None


def test_p_is_never_zero() -> None:
    assert p_value(10.0, np.zeros(999)) == 0.001
    assert p_value(0.0, np.zeros(999)) == 1.0


@settings(deadline=None, max_examples=5)
@given(st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(random) -> None:  # noqa: ANN001 - hypothesis' own type
    table = study(neurons=10)
    order = list(range(len(table)))
    random.shuffle(order)
    small = Plan(baseline="gelu", resamples=100)
    assert analyse(table.iloc[order], small, seed=7) == analyse(table, small, seed=7)


def test_the_other_side_mirrors() -> None:
    found = analyse(study(effect=1.0), PLAN, seed=2).differences[0].neurons
    mirrored = analyse(study(effect=1.0), Plan(baseline="solu_ln", resamples=2000), seed=2).differences[0].neurons
    assert mirrored.value == pytest.approx(-found.value)
    assert mirrored.low == pytest.approx(-found.high, abs=0.02)


def test_everything_is_json() -> None:
    text = json.dumps(to_json(analyse(study(), PLAN, seed=1)), allow_nan=False)
    assert json.loads(text)["neurons"] == 120
