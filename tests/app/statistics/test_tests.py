"""Exact tests, tests across sizes, GEE and adjusted p values, against published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reports.statistics.across import across
from app.reports.statistics.analysis import analyse
from app.reports.statistics.comparisons import adjusted
from app.reports.statistics.exact import exact_tests
from app.reports.statistics.model import condition_terms, effects
from app.reports.statistics.plan import Plan
from app.reports.statistics.verdicts import complete, counted
from tests.app.statistics.studies import counted_study, study

BERKELEY = [
    [[512, 313], [89, 19]],
    [[353, 207], [17, 8]],
    [[120, 205], [202, 391]],
    [[138, 279], [131, 244]],
    [[53, 138], [94, 299]],
    [[22, 351], [24, 317]],
]
"""Admissions to six departments of Berkeley in 1973, men and women (Bickel, Hammel and O'Connell 1975)."""


def test_golden_exact_tests() -> None:
    found = exact_tests(36, 60, 21, 60)
    assert found.fisher.p == pytest.approx(0.010190, abs=5e-7)
    assert found.boschloo.p == pytest.approx(0.006472, abs=5e-7)
    assert found.barnard.p == pytest.approx(0.006261, abs=5e-7)


@pytest.mark.parametrize("counts", [(0, 0, 3, 5), (0, 5, 0, 5), (5, 5, 5, 5)])
def test_empty_margin_has_no_exact_test(counts: tuple[int, int, int, int]) -> None:
    found = exact_tests(*counts)
    assert found.barnard.p is None
    assert "empty" in found.barnard.why


def test_large_tables_are_left_to_the_permutation_test() -> None:
    assert "slow" in exact_tests(300, 600, 200, 600).fisher.why


def test_berkeley_across_departments() -> None:
    """Published: odds ratio 0.9047 (0.7719 to 1.0603), chi-square 1.5246 without correction, Breslow-Day 18.83."""
    found = across([np.array(table, dtype=float) for table in BERKELEY], list("ABCDEF"))
    assert found.odds_ratio.value == pytest.approx(0.9047, abs=5e-5)
    assert found.odds_ratio.low == pytest.approx(0.7719, abs=5e-5)
    assert found.odds_ratio.high == pytest.approx(1.0603, abs=5e-5)
    assert found.test.statistic == pytest.approx(1.5246, abs=5e-5)
    assert found.test.p == pytest.approx(0.2169, abs=5e-5)
    assert found.homogeneity.statistic == pytest.approx(18.83, abs=0.005)


def test_empty_margin_is_refused_by_name() -> None:
    tables = [np.array([[3.0, 4.0], [2.0, 5.0]]), np.array([[3.0, 0.0], [2.0, 0.0]])]
    found = across(tables, ["of size 1000", "of size 8000"])
    assert found.odds_ratio.value is None
    assert "stratum of size 8000" in found.test.why


def test_single_stratum_has_nothing_to_compare() -> None:
    found = across([np.array([[36.0, 24.0], [21.0, 39.0]])], ["of size 1000"])
    assert found.odds_ratio.value == pytest.approx(36 * 39 / (24 * 21))
    assert found.homogeneity.p is None


def test_golden_adjustments() -> None:
    assert adjusted([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjusted([0.01, 0.04, 0.03, 0.005], "bh") == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjusted([0.02, None], "holm") == [0.02, None]
    assert adjusted([None], "holm") == [None]


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=8))
def test_adjusted_values_never_fall(p_values: list[float]) -> None:
    for correction in ("holm", "bh"):
        found = adjusted(p_values, correction)
        assert all(q is not None and p - 1e-12 <= q <= 1 for p, q in zip(p_values, found, strict=True))


def test_single_verdicts_without_covariates_give_the_table_s_odds_ratio() -> None:
    """One rater, one size, one verdict a neuron: GEE is plain logistic regression, its estimate ad / bc."""
    plan = Plan(baseline="gelu", resamples=100)
    rows = counted(complete(counted_study({"gelu": (21, 60), "solu_ln": (36, 60)})), plan)
    found = effects(rows, condition_terms(rows, "gelu"), 0.95)[0]
    assert found.term == "solu_ln"
    assert found.odds_ratio.value == pytest.approx(36 * 39 / (24 * 21), rel=1e-6)
    log_error = np.sqrt(1 / 36 + 1 / 24 + 1 / 21 + 1 / 39)  # Woolf 1955; the robust error is the same here
    assert found.odds_ratio.high == pytest.approx(found.odds_ratio.value * np.exp(1.959964 * log_error), rel=1e-4)
    assert found.odds_ratio.n == 120


def test_model_needs_neurons_and_variation() -> None:
    plan = Plan(baseline="gelu", resamples=100)
    few = analyse(study(neurons=10), plan, seed=1).model[0]
    assert few.odds_ratio.value is None
    assert "needs 40 of them; there are 20" in few.odds_ratio.why
    many = study(neurons=200, raters=120, each=1)
    rows = counted(complete(many), plan)
    (refused,) = effects(rows, condition_terms(rows, "gelu"), 0.95)
    assert refused.odds_ratio.value is None
    assert "fits at most 100 of them; there are 114." in refused.odds_ratio.why
    flat = analyse(counted_study({"gelu": (0, 40), "solu_ln": (20, 40)}), plan, seed=1).model[0]
    assert flat.odds_ratio.value is None
    assert "unbounded" in flat.odds_ratio.why


def test_drift_finds_a_drift() -> None:
    rng = np.random.default_rng(3)
    table = study(effect=0.0, neurons=150, each=1)
    table = table.assign(position=table.groupby("rater").cumcount().sample(frac=1, random_state=1).to_numpy() + 1)
    yes = rng.random(len(table)) < 1 / (1 + np.exp(-(table["position"] - 25) / 8))
    drifting = table.assign(verdict=np.where(yes, "INTERPRETABLE", "NOT_INTERPRETABLE"))
    plan = Plan(baseline="gelu", resamples=100)
    found, steady = (analyse(one, plan, seed=1).drift[0] for one in (drifting, table))
    assert found.term == "position, per 10 items"
    assert found.odds_ratio.low is not None
    assert found.odds_ratio.low > 1.5
    assert steady.odds_ratio.low is not None
    assert steady.odds_ratio.high is not None
    assert steady.odds_ratio.low < 1 < steady.odds_ratio.high
