"""Bang's and James's index against published values, for two and more conditions, resampled over raters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reports.statistics.blinding import bang, blinding, james

CONDITIONS = ["gelu", "solu_ln"]


def guesses(rows: list[tuple[int, str, str, int]]) -> pd.DataFrame:
    """(rater, truth, guess, how many)."""
    return pd.DataFrame(
        [(rater, truth, guess) for rater, truth, guess, times in rows for _ in range(times)],
        columns=["rater", "condition", "guess"],
    )


def test_golden_bang() -> None:
    found, error = bang(30, 20, 10)
    assert found.value == pytest.approx(0.1667, abs=5e-5)
    assert error == pytest.approx(0.1159, abs=5e-5)
    assert found.low == pytest.approx(-0.060, abs=5e-4)
    assert found.high == pytest.approx(0.394, abs=5e-4)
    assert bang(25, 25, 10)[0].value == 0


def test_published_indices() -> None:
    """The worked example of the R package BI: guesses by truth 48/22, 4/30, unknown 330/319."""
    assert bang(48, 4, 330)[0].value == pytest.approx(0.115, abs=5e-4)
    assert bang(48, 4, 330)[1] == pytest.approx(0.018, abs=5e-4)
    assert bang(30, 22, 319)[0].value == pytest.approx(0.022, abs=5e-4)
    assert bang(30, 22, 319)[1] == pytest.approx(0.019, abs=5e-4)
    assert james(np.array([[[48.0, 22.0], [4.0, 30.0], [330.0, 319.0]]]))[0] == pytest.approx(0.896, abs=5e-4)


def test_james_at_its_ends() -> None:
    right, wrong, unknown = np.diag([5.0, 5.0]), np.diag([5.0, 5.0])[::-1], np.zeros((2, 2))
    tables = [np.vstack([right, np.zeros(2)]), np.vstack([wrong, np.zeros(2)]), np.vstack([unknown, [5, 5]])]
    assert james(np.array(tables)) == pytest.approx([0.0, 1.0, 1.0])


@given(st.integers(2, 6), st.integers(1, 50))
def test_blind_guessing_is_zero_for_any_number_of_conditions(conditions: int, each: int) -> None:
    """A blind guesser is right once for every k - 1 times they are wrong."""
    found, _ = bang(each, each * (conditions - 1), 7, conditions)
    assert found.value == pytest.approx(0)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_bounds_stay_inside(right: int, wrong: int, unknown: int) -> None:
    found, _ = bang(right, wrong, unknown)
    if right + wrong + unknown == 0:
        assert found.why == "Nobody guessed."
        return
    if max(right, wrong, unknown) == right + wrong + unknown:
        assert (found.low, found.high) == (None, None)
        assert found.why.startswith("All guesses about a condition are alike")
        return
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.high <= 1


def test_raters_are_resampled() -> None:
    """Two raters who see through it and four who do not: single guesses pretend to know more than six raters can."""
    sharp = [(rater, "gelu", "gelu", 20) for rater in (1, 2)] + [(rater, "solu_ln", "solu_ln", 20) for rater in (1, 2)]
    dull = [(rater, truth, guess, 10) for rater in (3, 4, 5, 6) for truth in CONDITIONS for guess in CONDITIONS]
    found = blinding(guesses(sharp + dull), CONDITIONS, 0.95, 2000, np.random.default_rng(1))
    gelu = found.conditions[0]
    assert (gelu.right, gelu.wrong, gelu.unknown) == (80, 40, 0)
    assert gelu.index.value == gelu.over_raters.value == pytest.approx(1 / 3)
    assert gelu.over_raters.high - gelu.over_raters.low > gelu.index.high - gelu.index.low
    assert found.james.low is not None
    assert found.james.low < found.james.value < 0.5
    assert found.chance == 0.5


def test_few_raters_and_none_say_so() -> None:
    alone = blinding(guesses([(1, "gelu", "gelu", 5)]), CONDITIONS, 0.95, 200, np.random.default_rng(1))
    assert alone.conditions[0].over_raters.why == "A single rater guessed, so raters cannot be resampled."
    assert alone.conditions[1].index.value is None
    assert "one condition" in alone.james.why
    nobody = blinding(guesses([]), CONDITIONS, 0.95, 200, np.random.default_rng(1))
    assert nobody.james.why == "Nobody guessed."
    pair = guesses([(1, "gelu", "gelu", 5), (2, "solu_ln", "gelu", 5), (2, "gelu", "UNKNOWN", 2)])
    assert (
        "Only 2 raters"
        in blinding(pair, CONDITIONS, 0.95, 200, np.random.default_rng(1)).conditions[0].over_raters.note
    )


def test_where_nothing_varies_no_interval_of_width_zero_is_shown() -> None:
    said = [(rater, truth, "solu_ln", 3) for rater in range(6) for truth in CONDITIONS]
    found = blinding(guesses(said), CONDITIONS, 0.95, 200, np.random.default_rng(1))
    for row, value in zip(found.conditions, (-1, 1), strict=True):
        assert (row.index.value, row.index.low, row.over_raters.low) == (value, None, None)
        assert row.over_raters.why == "Every rater guessed like the others, so resampling raters shows no variation."


def test_an_unknown_guess_is_refused() -> None:
    with pytest.raises(ValueError, match="'relu' is none of gelu, solu_ln or UNKNOWN"):
        blinding(guesses([(1, "gelu", "relu", 1)]), CONDITIONS, 0.95, 200, np.random.default_rng(1))


def test_of_a_single_condition_there_is_nothing_to_guess() -> None:
    said = guesses([(1, "gelu", "gelu", 5), (2, "gelu", "UNKNOWN", 3)])
    found = blinding(said, ["gelu"], 0.95, 200, np.random.default_rng(1))
    (only,) = found.conditions
    assert (only.index.value, only.error, only.over_raters.value) == (None, None, None)
    assert only.index.why == only.over_raters.why == "There is a single condition, so there is nothing to guess."
    assert found.james.value is None
