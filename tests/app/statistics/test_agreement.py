"""Agreement against published values, and what is undefined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reports.statistics.agreement import agreement_of, category_counts
from app.reports.statistics.arrays import Floats
from app.reports.statistics.coefficients import coefficients

GOLDEN = ["III", "II-", "NNI", "III", "-NN", "III", "III", "NII"]


def matrices(rows: list[str]) -> tuple[Floats, Floats]:
    yes_NR = np.array([[float(mark == "I") for mark in row] for row in rows])
    seen_NR = np.array([[float(mark != "-") for mark in row] for row in rows])
    return yes_NR, seen_NR


def counts(rows: list[str]) -> Floats:
    return category_counts(*matrices(rows))


def test_golden_agreement() -> None:
    found = agreement_of(counts(GOLDEN), 0.95, 500, np.random.default_rng(1))
    assert found.percent.value == pytest.approx(0.83333, abs=5e-6)
    assert found.ac1.value == pytest.approx(0.73333, abs=5e-6)
    assert found.ac1_error == pytest.approx(0.20502, abs=5e-6)
    assert found.alpha.value == pytest.approx(0.50588, abs=5e-6)
    assert found.prevalence.value == pytest.approx(0.75)
    assert (found.items, found.verdicts) == (8, 22)


def test_golden_coefficients() -> None:
    found = coefficients(*matrices(GOLDEN))
    assert found.fleiss.value == pytest.approx(0.55556, abs=5e-6)
    assert found.conger.value == pytest.approx(0.52885, abs=5e-6)
    assert found.brennan_prediger.value == pytest.approx(0.66667, abs=5e-6)
    assert "without an interval" in found.conger.why
    assert coefficients(*matrices(["I--", "-N-"])).fleiss.why.startswith("No neuron has two")
    assert coefficients(*matrices(["III", "II-"])).conger.value is None


def test_nothing_overlaps() -> None:
    found = agreement_of(counts(["I--", "-N-"]), 0.95, 200, np.random.default_rng(1))
    assert found.percent.value is None
    assert found.percent.why == "No neuron has two verdicts, so agreement cannot be measured."


def test_nothing_varies() -> None:
    found = agreement_of(counts(["III", "II-"]), 0.95, 200, np.random.default_rng(1))
    assert found.percent.value == 1.0
    assert found.ac1.value is None
    assert found.alpha.value is None
    assert "Every verdict is the same" in found.alpha.why


@given(st.permutations(GOLDEN), st.permutations([0, 1, 2]))
def test_order_of_items_and_raters_does_not_matter(rows: list[str], raters: list[int]) -> None:
    mixed = ["".join(row[rater] for rater in raters) for row in rows]
    found = agreement_of(counts(mixed), 0.95, 100, np.random.default_rng(1))
    assert found.ac1.value == pytest.approx(0.73333, abs=5e-6)
    assert found.alpha.value == pytest.approx(0.50588, abs=5e-6)
