"""The main difference again under every other rule that the plan could have had."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from app.reports.statistics.plan import CannotDecide, Plan
from app.reports.statistics.primary import Comparison, primary
from app.reports.statistics.verdicts import counted

SAME = "This rule changes no verdict of this study."
NOTHING = "Under this rule no verdict is left."
CANNOT: dict[CannotDecide, str] = {
    "no": "all “cannot decide” count as not interpretable",
    "yes": "all “cannot decide” count as interpretable",
    "left_out": "“cannot decide” left out",
}


@dataclass(frozen=True)
class Sensitivity:
    """One rule."""

    rule: str
    verdicts: int
    neurons: int
    comparisons: tuple[Comparison, ...]
    note: str
    """Says when the rule changes nothing, or leaves nothing."""


def other_rules(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Every rule of the plan the other way round, one at a time."""
    for choice, words in CANNOT.items():
        if choice != plan.cannot_decide:
            yield words, replace(plan, cannot_decide=choice)
    if plan.version == "last":
        yield "first version of an edited verdict instead of the last", replace(plan, version="first")
    else:
        yield "last version of an edited verdict instead of the first", replace(plan, version="last")
    late = "late verdicts left out" if plan.late_counts else "late verdicts counted"
    yield late, replace(plan, late_counts=not plan.late_counts)
    surplus = "surplus verdicts left out" if plan.surplus_counts else "surplus verdicts counted"
    yield surplus, replace(plan, surplus_counts=not plan.surplus_counts)
    yield from _other_exclusions(plan)


def _other_exclusions(plan: Plan) -> Iterator[tuple[str, Plan]]:
    if plan.excluded_raters:
        yield "excluded raters counted", replace(plan, excluded_raters=frozenset())
    if plan.fewest_verdicts:
        rule = f"raters with fewer than {plan.fewest_verdicts} verdicts counted"
        yield rule, replace(plan, fewest_verdicts=0)
    if plan.most_false_positives < 1:
        rule = f"raters counted who called more than {plan.most_false_positives:.0%} of controls interpretable"
        yield rule, replace(plan, most_false_positives=1.0)
    if plan.least_seconds:
        yield f"verdicts under {plan.least_seconds:g} s counted", replace(plan, least_seconds=0.0)


def _subsets(table: pd.DataFrame, plan: Plan) -> Iterator[tuple[str, pd.DataFrame, Plan]]:
    """Other verdicts under the rules of the plan: rules that matter only to some studies."""
    if table["opened_early"].any():
        rule = f"items that were opened early {'left out' if plan.opened_early_counts else 'counted'}"
        yield rule, table, replace(plan, opened_early_counts=not plan.opened_early_counts)
    for shading in ("rank", "level") if (table["shading"] == "rank").any() else ():
        # Controls keep a rater's exclusion what it is; only neurons are split.
        keep = (table["shading"] == shading) | (table["kind"] != "neuron")
        yield f"only neurons shaded by {shading}", table[keep], plan


def sensitivity(table: pd.DataFrame, plan: Plan, planned: tuple[Comparison, ...], seed: int) -> tuple[Sensitivity, ...]:
    """A row for the plan and one for each other rule, all with the same random draws. `table` is a complete table."""
    rows = counted(table, plan)
    key = _key(rows)
    found = [Sensitivity("as planned", len(rows), rows["neuron"].nunique(), planned, "")]
    others = [(rule, table, other) for rule, other in other_rules(plan)]
    for rule, part, other in [*others, *_subsets(table, plan)]:
        rows = counted(part, other)
        neurons = int(rows["neuron"].nunique())
        if rows.empty:
            found.append(Sensitivity(rule, 0, 0, (), NOTHING))
        elif _key(rows) == key:
            found.append(Sensitivity(rule, len(rows), neurons, planned, SAME))
        else:
            found.append(Sensitivity(rule, len(rows), neurons, primary(rows, other, seed)[1].comparisons, ""))
    return tuple(found)


def _key(rows: pd.DataFrame) -> list[tuple[int, int, float]]:
    """What enters the analysis, comparable between two rules."""
    return sorted(zip(rows["rater"], rows["neuron"], rows["interpretable"], strict=True))
