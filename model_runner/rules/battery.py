"""The tests that are tried on every unit, as truth tables over the vocabulary, and how common each clause is.

Shapes: T tests, V vocabulary, M sites of the sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model_runner.rules.classes import CLASSES
from model_runner.rules.grammar import Clause, Pattern, Place, Previous, Rule, Script, Test, Tokens
from model_runner.rules.matching import token_passes
from model_runner.rules.scripts import scripts_of
from model_runner.rules.sites import NONE, Sites, line_ends

PLACES = (Place("document", 1), Place("document", 8), Place("context", 1), Place("context", 8), Place("line"))


@dataclass(frozen=True)
class Battery:
    """What the search needs to know of a vocabulary and of a sample of the corpus."""

    vocabulary: Sequence[bytes]
    tests: tuple[Test, ...]
    """Patterns and scripts; tokens are named by the unit itself."""
    passes_TV: NDArray[np.bool_]
    ends_line_V: NDArray[np.bool_]
    sample: Sites

    def where(self, clause: Clause, sites: Sites) -> NDArray[np.bool_]:
        """(M,) where the clause holds among the sites."""
        match clause:
            case Place():
                return sites.are_at(clause, self.ends_line_V)
            case Previous(test):
                there_M = sites.previous_M != NONE
                return np.asarray(there_M & self._pass(test, np.where(there_M, sites.previous_M, 0)))
            case _:
                return self._pass(clause, sites.token_M)

    def base_rate(self, rule: Rule) -> float:
        """The share of the sample at which the rule holds."""
        if len(rule.clauses) == 1 and not isinstance(rule.clauses[0], Place):
            return self._share(rule.clauses[0])
        holds_M = np.ones(len(self.sample), np.bool_)
        for clause in rule.clauses:
            holds_M &= self.where(clause, self.sample)
        return float(holds_M.mean())

    def _share(self, clause: Test | Previous) -> float:
        """The same for a single test, from how often each token is in the sample: there are fewer tokens than sites."""
        test, counts_V = (clause.test, self._counts[1]) if isinstance(clause, Previous) else (clause, self._counts[0])
        return float(counts_V[self._pass(test, self._all_V)].sum() / len(self.sample))

    def _pass(self, test: Test, token_M: NDArray[np.int64]) -> NDArray[np.bool_]:
        if isinstance(test, Tokens):
            numbers = [number for text in test.texts for number in self._numbers.get(text, ())]
            return np.asarray((token_M[:, None] == np.array(numbers, np.int64)).any(axis=1))
        if (row := self._rows.get(test)) is not None:
            return np.asarray(self.passes_TV[row][token_M])
        return np.asarray(truth_table([test], self.vocabulary)[0][token_M])

    @cached_property
    def _all_V(self) -> NDArray[np.int64]:
        return np.arange(len(self.vocabulary))

    @cached_property
    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each token is in the sample, and how often each comes before one."""
        size, before_M = len(self.vocabulary), self.sample.previous_M
        return np.bincount(self.sample.token_M, minlength=size), np.bincount(before_M[before_M != NONE], minlength=size)

    @cached_property
    def _rows(self) -> dict[Test, int]:
        return {test: row for row, test in enumerate(self.tests)}

    @cached_property
    def _numbers(self) -> dict[bytes, list[int]]:
        """Token ids by their bytes; several may share them."""
        numbers: dict[bytes, list[int]] = {}
        for number, text in enumerate(self.vocabulary):
            numbers.setdefault(text, []).append(number)
        return numbers


def make_battery(vocabulary: Sequence[bytes], sample: Sites) -> Battery:
    """The named patterns, and every script that a token of the vocabulary is of."""
    scripts = sorted({name for token in vocabulary for name in scripts_of(token)})
    tests: tuple[Test, ...] = (*map(Pattern, CLASSES), *map(Script, scripts))
    return Battery(vocabulary, tests, truth_table(tests, vocabulary), line_ends(vocabulary), sample)


def truth_table(tests: Sequence[Test], vocabulary: Sequence[bytes]) -> NDArray[np.bool_]:
    """(T, V) which tokens pass each test."""
    table = [[token_passes(test, token) for token in vocabulary] for test in tests]
    return np.array(table, np.bool_).reshape(len(tests), len(vocabulary))
