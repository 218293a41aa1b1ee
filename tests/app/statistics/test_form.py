"""The audit of form: it finds what is there, finds nothing where nothing is, and its AUC is the textbook's."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.reports.statistics.form import auc, form_audit, ridge_logistic


def pages(gap: float, neurons: int = 60, each: int = 2, seed: int = 0) -> pd.DataFrame:
    """Two pages a neuron; the length differs by `gap` standard deviations between conditions, the levels do not."""
    rng = np.random.default_rng(seed)
    condition = np.repeat(["gelu", "solu_ln"], neurons * each)
    neuron = np.repeat(np.arange(2 * neurons), each)
    length = np.repeat(rng.normal(0, 1, 2 * neurons), each) + gap * (condition == "solu_ln")
    return pd.DataFrame(
        {"neuron": neuron, "condition": condition, "length.bytes": length, "levels.mean": rng.normal(size=len(neuron))}
    )


def test_it_finds_a_leak_and_only_there() -> None:
    found = {one.group: one for one in form_audit(pages(2.0), "gelu", 0.95, 500, np.random.default_rng(1))}
    assert set(found) == {"length", "levels", "all"}
    assert found["length"].features == ("length.bytes",)
    assert found["length"].auc.value == pytest.approx(0.92, abs=0.05)  # Phi(2 / sqrt 2) = 0.921
    assert found["length"].auc.low > 0.8
    assert found["length"].test.p == 0.01
    assert found["levels"].auc.low < 0.5
    assert found["levels"].test.p > 0.1
    assert (found["all"].auc.n, found["all"].auc.unit) == (240, "pages")


def test_pages_of_a_neuron_do_not_leak_into_the_other_folds() -> None:
    """A feature that is a fingerprint of the neuron must not help: 40 neurons, ten equal pages each."""
    rng = np.random.default_rng(5)
    table = pages(0.0, neurons=40, each=10)
    marks = rng.normal(size=(80, 15))
    for column in range(15):
        table[f"mark.{column}"] = marks[table["neuron"], column]
    found = {one.group: one for one in form_audit(table, "gelu", 0.95, 300, rng)}
    assert found["mark"].auc.value < 0.68
    assert found["mark"].test.p > 0.05


def test_few_neurons_say_so() -> None:
    found = form_audit(pages(1.0, neurons=12), "gelu", 0.95, 100, np.random.default_rng(1))[0]
    assert found.auc.value is None
    assert "there are 12 and 12" in found.auc.why


def test_auc_counts_pairs() -> None:
    score = np.array([3.0, 1.0, 2.0, 1.0])
    assert auc(score, np.array([True, True, False, False])) == pytest.approx((1 + 1 + 0 + 0.5) / 4)


@given(arrays.arrays(float, st.integers(2, 20), elements=st.floats(-5, 5)))
def test_auc_mirrors(score: np.ndarray) -> None:
    first = np.arange(len(score)) % 2 == 0
    assert auc(score, first) == pytest.approx(1 - auc(-score, first))


def test_logistic_regression_without_penalty_is_the_log_odds() -> None:
    """One 0/1 feature: intercept log(1/3), slope log(9) for 5 of 20 against 15 of 20."""
    values = np.column_stack([np.ones(40), np.repeat([0.0, 1.0], 20)])
    yes = np.array([1] * 5 + [0] * 15 + [1] * 15 + [0] * 5, dtype=bool)
    first, second = ridge_logistic(
        np.stack([values, values]), np.stack([yes, ~yes]), np.ones((2, 40), dtype=bool), ridge=0.0
    )
    assert first == pytest.approx([np.log(1 / 3), np.log(9)], abs=1e-6)
    assert second == pytest.approx([np.log(3), -np.log(9)], abs=1e-6)


def test_models_fitted_at_once_are_those_fitted_one_by_one() -> None:
    """Pages that are not of the training might as well not be there."""
    rng = np.random.default_rng(4)
    design = np.concatenate([np.ones((6, 30, 1)), rng.normal(size=(6, 30, 3))], axis=2)
    yes, train = rng.random((6, 30)) < 0.5, rng.random((6, 30)) < 0.8
    together = ridge_logistic(design, yes, train)
    for one, said, kept, weights in zip(design, yes, train, together, strict=True):
        alone = ridge_logistic(one[kept][None], said[kept][None], np.ones((1, kept.sum()), dtype=bool))
        assert weights == pytest.approx(alone[0], abs=1e-7)
