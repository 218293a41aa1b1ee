"""Shading by rank."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.rating.ranks import ranked
from app.rating.snippets import LEVELS, Shown, maximum, shares

VALUES = st.lists(st.lists(st.floats(-3, 8, width=32), min_size=1, max_size=12), min_size=1, max_size=6)


def snippets(values: list[list[float]]) -> list[Shown]:
    return [Shown([b"x"] * len(one), one, one.index(max(one)), True, True) for one in values]


def levels(shown: list[Shown]) -> list[int]:
    top = maximum(shown)
    return [level for one in shown for level in shares(one.activations, top)]


@given(VALUES)
def test_the_order_is_kept_and_the_scale_is_not(values: list[list[float]]) -> None:
    flat = [value for one in values for value in one]
    by_rank = [value for one in ranked(snippets(values)) for value in one.activations]
    for a, b in zip(flat, by_rank, strict=True):
        assert (a > 0) == (b > 0)
    pairs = sorted(zip(flat, by_rank, strict=True))
    assert all(low[1] <= high[1] for low, high in pairwise(pairs))
    heavy = [[math.expm1(value) if value > 0 else value for value in one] for one in values]
    assert ranked(snippets(heavy)) == ranked(snippets(values)) or len(set(flat)) > len({v for o in heavy for v in o})


def test_weak_firings_of_a_heavy_tail_are_seen() -> None:
    heavy = snippets([[0.0, 2.0**-power] for power in range(15)])
    assert levels(heavy).count(0) > 20, "by level, most of them vanish"
    assert sorted(levels(ranked(heavy))) == [0] * 15 + list(range(1, LEVELS + 1))


def test_what_is_no_number_stays_unshaded() -> None:
    assert levels(ranked(snippets([[1.0, math.nan, -1.0]]))) == [LEVELS, 0, 0]
