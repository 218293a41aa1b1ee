"""The same question asked in other ways: a row for each model and test beside the primary one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from app.reports.names import condition_name, size_name

if TYPE_CHECKING:
    from app.reports.statistics.analysis import Analysis
    from app.reports.statistics.estimate import Estimate, Test


class OtherTest(NamedTuple):
    """A row of the table of other tests."""

    condition: str
    method: str
    odds_ratio: "Estimate | None"
    p: float | None
    why: str
    """Why there is no p value: a sentence, or empty."""


def other_tests(analysis: "Analysis") -> list[OtherTest]:
    """Models and tests of each condition against the baseline, in the order of how much they assume."""
    return [*_model(analysis), *_across(analysis), *_exact(analysis)]


def _model(analysis: "Analysis") -> Iterator[OtherTest]:
    for effect in analysis.model:
        ratio = effect.odds_ratio
        yield OtherTest(condition_name(effect.term), ratio.method, ratio, effect.p, ratio.why)


def _across(analysis: "Analysis") -> Iterator[OtherTest]:
    for row in analysis.across:
        name, sizes = condition_name(row.condition), row.by_size
        yield OtherTest(name, sizes.test.method, sizes.odds_ratio, sizes.test.p, sizes.test.why)
        yield _test(name, sizes.homogeneity, ", sizes")
        yield _test(name, row.by_rater.homogeneity, ", raters")


def _exact(analysis: "Analysis") -> Iterator[OtherTest]:
    for row in analysis.exact:
        for test in (row.tests.fisher, row.tests.boschloo, row.tests.barnard):
            yield _test(condition_name(row.condition), test, f", {size_name(row.size)}")


def _test(condition: str, test: "Test", what: str) -> OtherTest:
    return OtherTest(condition, f"{test.method}{what}", None, test.p, test.why)
