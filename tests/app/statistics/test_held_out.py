"""The hypothesis check: worked out by hand, against exact distributions, and by simulation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from app.reports.statistics.held_out import QUIET, Check, hypothesis_check
from benchmarks.coverage_check import BATCH, Cell, batch, row, table

BANDS = (0, 1, 2, 3, 4, *[QUIET] * 5)


def answers(*said: tuple[str, str, int, str]) -> pd.DataFrame:
    """A check for each (rater, condition, neuron, ticks): x for ticked, the five firing snippets first."""
    rows = [
        {"rater": rater, "condition": condition, "neuron": f"{condition}-{neuron}", "band": band, "fires": tick == "x"}
        for rater, condition, neuron, ticks in said
        for band, tick in zip(BANDS, ticks.replace(" ", ""), strict=True)
    ]
    return pd.DataFrame(rows)


def check(table: pd.DataFrame, resamples: int = 4000) -> Check:
    return hypothesis_check(table, "gelu", 0.95, resamples, np.random.default_rng(1))


GOLDEN = answers(
    ("A", "gelu", 1, "xxxx. x...."),  # 4/5 of the firing, 4/5 of the quiet: .8
    ("B", "gelu", 1, "xxx.. ....."),  # 3/5 and 5/5: .8
    ("A", "gelu", 2, "xx... xx..."),  # 2/5 and 3/5: .5
    ("B", "solu_ln", 1, "xxxxx ....."),  # 1
    ("A", "solu_ln", 2, "xxxxx xxxxx"),  # all ticked: .5, as by chance
    ("B", "solu_ln", 2, "..... ....."),  # none ticked: .5
    ("A", "solu_ln", 3, "xxxx. ....."),  # 4/5 and 5/5: .9
)


def test_by_hand() -> None:
    """gelu: (.8 + .5) / 2 = .65. solu_ln: (1 + .5 + .9) / 3 = .8. Shares ticked are means over neurons too."""
    gelu, solu = check(GOLDEN).conditions
    assert (gelu.condition, gelu.neurons, gelu.answers, solu.neurons, solu.answers) == ("gelu", 2, 3, 3, 4)
    assert gelu.accuracy.value == pytest.approx(0.65)
    assert solu.accuracy.value == pytest.approx(0.8)
    # Band 3: neuron 1 was ticked by one of two, neuron 2 not. Quiet: neuron 1 in 1 of 10, neuron 2 in 2 of 5.
    ticked = {band.band: band.ticked.value for band in gelu.bands}
    assert ticked == pytest.approx({0: 1, 1: 1, 2: 0.5, 3: 0.25, 4: 0, QUIET: 0.25})
    assert {band.band: band.ticked.value for band in solu.bands}[QUIET] == pytest.approx((0 + 0.5 + 0) / 3)
    (difference,) = check(GOLDEN).differences
    assert difference.difference.value == difference.over_raters.value == pytest.approx(0.15)


def test_the_interval_of_few_neurons_is_their_range() -> None:
    """Of 27 equally likely resamples of three neurons, the tail that Hesterberg's factor gives n = 3 is below 1/27."""
    solu = check(GOLDEN).conditions[1].accuracy
    scores = [1, 0.5, 0.9]
    means = sorted(float(np.mean(drawn)) for drawn in product(scores, repeat=3))
    assert (solu.low, solu.high) == pytest.approx((means[0], means[-1]))


def test_the_interval_is_that_of_the_exact_bootstrap_distribution() -> None:
    """Forty neurons, each wholly right (1) or as by chance (.5): a resampled mean is .5 + .5 Binomial(40, p) / 40."""
    n, right = 40, 26
    said = [("A", "gelu", neuron, "xxxxx ....." if neuron < right else "xxxxx xxxxx") for neuron in range(n)]
    found = check(answers(*said), 20_000).conditions[0].accuracy
    tail = float(stats.norm.cdf(stats.t.ppf(0.025, n - 1) * np.sqrt(n / (n - 1))))
    low, high = (0.5 + 0.5 * stats.binom.ppf(at, n, right / n) / n for at in (tail, 1 - tail))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.5 / n + 1e-9)  # a step of the distribution


def test_the_two_way_interval_is_that_of_its_exact_distribution() -> None:
    """Two raters who each checked every neuron, all neurons alike: only the draw of raters matters.

    Rater A scores 1, B .5: of two drawn, both are A in a quarter (1), both B in a quarter (.5), one each else (.75).
    """
    said = [(rater, "gelu", n, ticks) for n in range(12) for rater, ticks in (("A", "xxxxx....."), ("B", "x" * 10))]
    found = check(answers(*said)).conditions[0]
    assert (found.accuracy.low, found.accuracy.high) == (0.75, 0.75)
    assert (found.over_raters.value, found.over_raters.low, found.over_raters.high) == (0.75, 0.5, 1.0)
    assert found.over_raters.note.startswith("Only 2 raters")


def test_a_single_rater_or_neuron_says_why_there_is_no_interval() -> None:
    alone = check(answers(*[("A", "gelu", n, "xxxx. x....") for n in range(3)])).conditions[0].over_raters
    assert alone.why == "With a single rater nothing can be said about raters like this one."
    one = check(answers(("A", "gelu", 1, "xxxx. x...."), ("B", "gelu", 1, "xxx.. .....")))
    assert one.conditions[0].accuracy.value == pytest.approx(0.8)
    assert one.conditions[0].accuracy.why == one.conditions[0].over_raters.why
    assert one.conditions[0].accuracy.why.startswith("A single neuron was checked")


def test_nobody_checked_anything() -> None:
    assert check(GOLDEN.head(0)) == Check((), ())


def test_the_order_of_rows_and_names_of_raters_do_not_matter() -> None:
    turned = GOLDEN.sample(frac=1, random_state=3).assign(rater=lambda t: t["rater"].map({"A": "Y", "B": "Z"}))
    assert check(turned) == check(GOLDEN)


@pytest.mark.slow
@pytest.mark.parametrize("cell", [Cell(0.0, 1), Cell(1.0, 3)])
def test_intervals_cover(cell: Cell) -> None:
    """A short version of benchmarks/coverage_check.py; the standard error of a coverage near 95 % is 1.5 points."""
    found = [one for number in range(4) for one in batch((0, cell, number, BATCH))[1]]
    result = row(cell, found)
    assert result.difference_two_way >= 0.92
    assert 0.90 <= result.difference <= 0.99
    if cell.rater_sd:
        assert result.accuracy < 0.90, "raters who differ: the neurons alone are not enough, as the report says"
        assert result.accuracy_two_way > result.accuracy


def test_the_table_names_every_cell() -> None:
    cell = Cell(1.0, 3)
    assert "| 1.0 | 3 | " in table([row(cell, batch((0, cell, 0, 4))[1])], 4)
