"""The simplest rule that covers most of a unit's strongest firings and is rare elsewhere.

Shapes: K peaks of a unit.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, groupby
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_runner.rules.battery import PLACES, Battery
from model_runner.rules.grammar import Clause, Place, Previous, Rule, Test, Tokens
from model_runner.rules.sites import NONE, Sites

COVER = 0.8
"""The paper's 80 %: a rule must explain this share of the strongest firings."""
MOST_COMMON = 0.05
"""A rule that holds at a larger share of all tokens explains nothing; docs/machine-raters.md says why."""
MOST_TOKENS = 3
"""Tokens that one rule may list."""
BASE_RATES_KEPT = 100_000


class Found(NamedTuple):
    """The best rule for a unit."""

    rule: Rule | None
    """None where no rare rule holds at any peak."""
    covered: int
    """Peaks at which it holds."""
    of: int
    """Peaks."""
    base_rate: float
    """The share of a random sample of tokens at which it holds."""
    enough: bool
    """It covers the share that makes a unit interpretable."""


@dataclass(frozen=True)
class Option:
    """Clauses that hold together at some of the peaks."""

    clauses: tuple[Clause, ...]
    holds_K: NDArray[np.bool_]
    cost: int
    """How much there is to say: each token 1, any other test or a place 2, “previous” 1 more, clauses added up."""

    @property
    def covered(self) -> int:
        return int(self.holds_K.sum())


Key = Callable[[Option], tuple[int, int]]


class Search:
    """Looks for rules over one vocabulary and sample; remembers how common each was."""

    def __init__(
        self,
        battery: Battery,
        *,
        cover: float = COVER,
        most_common: float = MOST_COMMON,
        most_tokens: int = MOST_TOKENS,
    ) -> None:
        self._battery, self._cover, self._most_common, self._most_tokens = battery, cover, most_common, most_tokens
        self._base_rate = lru_cache(BASE_RATES_KEPT)(battery.base_rate)

    def simplest(self, sites: Sites) -> Found:
        """The simplest rare rule that covers enough of a unit's peaks; where none does, the rare one that covers most.

        Of equally simple ones the one that covers most, then the rarest. Two clauses are joined only where
        none alone will do, and only clauses that cover enough: a pair cannot cover more than either.
        """
        need = max(1, ceil(self._cover * len(sites)))
        options = [option for option in self._options(sites) if option.covered]
        enough = [option for option in options if option.covered >= need]
        for some in (enough, pairs(enough, need)):
            if found := self._first_rare(some, lambda option: (option.cost, -option.covered)):
                return Found(found[0], found[1], len(sites), found[2], enough=True)
        nearest = self._first_rare(options, lambda option: (-option.covered, option.cost))
        return Found(nearest[0], nearest[1], len(sites), nearest[2], False) if nearest else nothing(len(sites))

    def _first_rare(self, options: Sequence[Option], key: Key) -> tuple[Rule, int, float] | None:
        """The rarest of the first ones, in the order of the key, of which any is rare enough."""
        for _, alike in groupby(sorted(options, key=key), key):
            judged = [(self._base_rate(Rule(option.clauses)), option) for option in alike]
            base_rate, option = min(judged, key=lambda one: one[0])
            if base_rate <= self._most_common:
                return Rule(option.clauses), option.covered, base_rate
        return None

    def _options(self, sites: Sites) -> Iterator[Option]:
        there_K = sites.previous_M != NONE
        for test, holds_K, cost in self._tests(sites.token_M, np.ones(len(sites), np.bool_)):
            yield Option((test,), holds_K, cost)
        for test, holds_K, cost in self._tests(np.where(there_K, sites.previous_M, 0), there_K):
            yield Option((Previous(test),), holds_K, cost + 1)
        for place in PLACES:
            yield Option((place,), self._battery.where(place, sites), 2)

    def _tests(
        self, token_K: NDArray[np.int64], there_K: NDArray[np.bool_]
    ) -> Iterator[tuple[Test, NDArray[np.bool_], int]]:
        """The commonest tokens among those that are there, one, two and more of them, and what the battery has."""
        texts = [self._battery.vocabulary[token] for token in token_K.tolist()]
        counts = Counter(text for text, there in zip(texts, there_K.tolist(), strict=True) if there)
        commonest = sorted(counts, key=lambda text: (-counts[text], text))
        for few in range(1, min(self._most_tokens, len(commonest)) + 1):
            holds_K = np.array([text in commonest[:few] for text in texts], np.bool_)
            yield Tokens(tuple(commonest[:few])), holds_K & there_K, few
        passes_TK = self._battery.passes_TV[:, token_K] & there_K
        for row in np.flatnonzero(passes_TK.any(axis=1)).tolist():
            yield self._battery.tests[row], passes_TK[row], 2


def nothing(peaks: int) -> Found:
    """No rule for a unit with so many peaks."""
    return Found(None, 0, peaks, 0.0, enough=False)


def pairs(options: Sequence[Option], need: int) -> list[Option]:
    """Two clauses about different things, a token, the one before or a place, that cover enough together."""
    joined = [
        Option(one.clauses + two.clauses, one.holds_K & two.holds_K, one.cost + two.cost)
        for one, two in combinations(options, 2)
        if _about(one) != _about(two)
    ]
    return [option for option in joined if option.covered >= need]


def _about(option: Option) -> str:
    clause = option.clauses[0]
    return "previous" if isinstance(clause, Previous) else "place" if isinstance(clause, Place) else "token"
