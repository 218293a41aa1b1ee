import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model_runner.collect.spread import TOGETHER, count, edges, histogram, merge, moments, no_spread, widen

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=40))
def test_every_value_falls_in_exactly_one_bin_and_that_one_holds_it(values: list[float]) -> None:
    spread = no_spread(1, torch.device("cpu"))
    for value in values:
        count(spread, torch.tensor([[value]]))
    counts, bounds = histogram(spread)[0], edges()
    assert counts.sum() == len(values)
    wanted = np.zeros(len(counts), int)
    for value in np.array(values, np.float32):
        # On the side below zero the lower edge is outside and the upper one inside.
        wanted[np.searchsorted(bounds, value, side="right" if value >= 0 else "left") - 1] += 1
    assert counts.tolist() == wanted.tolist()


@pytest.mark.parametrize("units", [TOGETHER - 1, TOGETHER, 2 * TOGETHER + 3])
def test_a_unit_is_counted_alike_alone_and_among_many(units: int) -> None:
    acts_TF = torch.from_numpy(np.random.default_rng(units).normal(0, 2, (50, units)).astype(np.float32))
    many = no_spread(units, acts_TF.device)
    count(many, acts_TF)
    for unit in (0, TOGETHER - 2, units - 1):
        alone = no_spread(1, acts_TF.device)
        count(alone, acts_TF[:, unit : unit + 1])
        np.testing.assert_array_equal(histogram(many)[unit], histogram(alone)[0])


def test_counters_are_carried_before_they_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often, and when others' counts are added."""
    acts_TF = torch.from_numpy(np.random.default_rng(0).normal(0, 2, (50, 3)).astype(np.float32))
    seldom, often, other = (no_spread(3, acts_TF.device) for _ in range(3))
    count(seldom, acts_TF)
    monkeypatch.setattr("model_runner.collect.spread.CARRY_AFTER", 20)
    for part_TF in torch.split(acts_TF[:40], 10):
        count(often, part_TF)
        assert often.counted < 20
    count(other, acts_TF[40:])
    merge(often, other)
    np.testing.assert_array_equal(histogram(often), histogram(seldom))


def test_edges_ascend_and_stand_at_quarters_of_octaves() -> None:
    bounds = edges()
    assert (np.diff(bounds[1:-1]) > 0).all()
    assert np.isinf(bounds[[0, -1]]).all()
    assert {1.0, 1.25, 1.5, 1.75, 2.0, -1.0, -1.25} <= set(bounds.tolist())
    assert (bounds == -bounds[::-1]).all()


def test_moments() -> None:
    spread = no_spread(2, torch.device("cpu"))
    for acts in ([[1.0, 0.0], [3.0, 0.0]], [[-2.0, 0.0], [6.0, 0.0]]):
        count(spread, torch.tensor(acts))
        widen(spread, np.array(acts, np.float32), np.array(acts, np.float32))
    first, second = moments(spread)
    assert first.item() == pytest.approx((4, 2.0, 8.5, 0.75, -2.0, 6.0))
    assert second.item() == (4, 0.0, 0.0, 0.0, 0.0, 0.0)
