"""Sensitivity, controls, repeats, times and strictness, on small tables one can count by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.reports.statistics.analysis import analyse
from app.reports.statistics.estimate import jsonable
from app.reports.statistics.exclusions import raters_left_out
from app.reports.statistics.plan import Plan
from app.reports.statistics.ratings import matrix
from app.reports.statistics.sensitivity import NOTHING, SAME
from app.reports.statistics.times import median
from app.reports.statistics.verdicts import complete, counted
from tests.app.statistics.studies import counted_study, study

PLAN = Plan(baseline="gelu", resamples=200)
YES, NO, CANNOT = "INTERPRETABLE", "NOT_INTERPRETABLE", "CANNOT_DECIDE"


def rows(table: pd.DataFrame, *changes: dict[str, object]) -> pd.DataFrame:
    """The table with rows added; each is the table's first row with changes."""
    more = [table.iloc[0].to_dict() | change for change in changes]
    return pd.concat([table, pd.DataFrame(more)], ignore_index=True)


def test_cannot_decide_counts_as_not_and_the_bounds_show_it() -> None:
    table = counted_study({"gelu": (10, 40), "solu_ln": (20, 40)})
    table.loc[(table["condition"] == "solu_ln") & (table["verdict"] == NO), "verdict"] = CANNOT
    found = analyse(table, PLAN, seed=1)
    assert found.cannot_decide == 20
    assert {row.rule: row.comparisons[0].difference.neurons.value for row in found.sensitivity[:3]} == {
        "as planned": pytest.approx(0.25),
        "all “cannot decide” count as interpretable": pytest.approx(0.75),
        "“cannot decide” left out": pytest.approx(0.75),
    }
    assert found.sensitivity[2].neurons == 60
    assert [row.note for row in found.sensitivity[3:]] == [SAME, SAME, SAME]


def test_every_rule_of_the_plan_is_tried() -> None:
    table = study(raters=4).assign(late=False, surplus=False)
    table["first_verdict"] = np.where(table["rater"] == 3, NO, table["verdict"])
    table.loc[table["rater"] == 1, "late"] = True
    table.loc[table["rater"] == 2, "surplus"] = True
    found = analyse(table, replace(PLAN, excluded_raters=frozenset({0})), seed=1).sensitivity
    counts = {row.rule: row.verdicts for row in found}
    per_rater = table["rater"].value_counts()
    assert counts["as planned"] == per_rater[1] + per_rater[3]
    assert counts["late verdicts left out"] == per_rater[3]
    assert counts["surplus verdicts counted"] == per_rater[1] + per_rater[2] + per_rater[3]
    assert counts["excluded raters counted"] == per_rater[0] + per_rater[1] + per_rater[3]
    first = next(row for row in found if row.rule.startswith("first version"))
    assert first.comparisons[0].difference.neurons.value != found[0].comparisons[0].difference.neurons.value


def test_a_rule_that_leaves_nothing_says_so() -> None:
    table = counted_study({"gelu": (1, 4), "solu_ln": (2, 4)}).assign(verdict=CANNOT)
    found = {row.rule: row for row in analyse(table, PLAN, seed=1).sensitivity}
    assert found["“cannot decide” left out"].note == NOTHING


def test_only_human_neurons_enter_the_fractions() -> None:
    table = counted_study({"gelu": (10, 20), "solu_ln": (10, 20)})
    more = rows(
        table,
        {"rater": 9, "rater_kind": "machine", "verdict": YES},
        {"rater": 8, "rater_kind": "simulated", "verdict": YES},
        {"neuron": 900, "kind": "mixed", "verdict": YES},
        {"neuron": 901, "kind": "direction", "verdict": NO},
        {"neuron": 0, "kind": "repeat", "verdict": NO},
    )
    found = analyse(more, PLAN, seed=1)
    assert [row.fraction.value for row in found.arms] == [0.5, 0.5]
    assert (found.verdicts, found.raters, found.label) == (40, 1, "")
    assert [(row.kind, row.condition, row.fraction.value) for row in found.controls] == [
        ("mixed", None, 1.0),
        ("mixed", "gelu", 1.0),
        ("direction", None, 0.0),
        ("direction", "gelu", 0.0),
    ]
    assert found.false_positives[0].fraction.value == 1.0
    assert (found.repeats.percent.value, found.repeats.percent.n) == (0.0, 1)
    assert "upper bound" in found.repeats.percent.note


def test_simulated_study_is_labelled_and_counts_only_its_raters() -> None:
    table = counted_study({"gelu": (10, 20), "solu_ln": (15, 20)}).assign(rater_kind="simulated")
    found = analyse(
        rows(table, {"rater": 9, "rater_kind": "human", "verdict": NO}), replace(PLAN, simulated=True), seed=1
    )
    assert found.label == "SIMULATED"
    assert found.caveats[0].startswith("SIMULATED")
    assert found.raters == 1


def test_no_counted_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="No verdict of a simulated rater"):
        analyse(counted_study({"gelu": (1, 2)}), replace(PLAN, simulated=True), seed=1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"verdict": "MAYBE"}, "'MAYBE'; it must be one of"),
        ({"verdict": YES}, "Rater 1 has two counted verdicts on neuron 0"),
        ({"arm": 1, "rater": 2}, "stands in two arms"),
        ({"neuron": 99, "size": 5}, "stands for two models"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(change: dict[str, object], sentence: str) -> None:
    table = counted_study({"gelu": (1, 2), "solu_ln": (1, 2)})
    with pytest.raises(ValueError, match=sentence):
        matrix(counted(complete(rows(table, change)), PLAN))


def test_missing_columns_are_named() -> None:
    with pytest.raises(ValueError, match="lacks the columns arm, rater"):
        complete(counted_study({"gelu": (1, 2)}).drop(columns=["arm", "rater"]))


def test_repeats_pair_a_rater_with_themselves() -> None:
    table = study(raters=2, each=2, neurons=20)
    again = table[table["neuron"] < 10].assign(kind="repeat")
    turned = again["verdict"].map({YES: NO, NO: YES}).where(again["neuron"] < 2, again["verdict"])
    found = analyse(pd.concat([table, again.assign(verdict=turned)], ignore_index=True), PLAN, seed=1).repeats
    assert found.percent.n == 20
    assert found.percent.value == pytest.approx(0.8)
    assert analyse(table, PLAN, seed=1).repeats.ac1.why == "No rater was shown a neuron twice."


def test_strictest_rater_comes_first() -> None:
    table = study(raters=3)
    strict = table.assign(verdict=np.where(table["rater"] == 1, NO, table["verdict"]))
    found = analyse(strict, PLAN, seed=1).strictness
    assert (found[0].rater, found[0].fraction.value) == (1, 0.0)
    assert [part.condition for part in found[0].by_condition] == ["gelu", "solu_ln"]
    assert found[1].differences[0].fraction.value == pytest.approx(
        (found[1].by_condition[1].fraction.value or 0) - (found[1].by_condition[0].fraction.value or 0)
    )


def test_raters_who_treat_conditions_alike_share_one_odds_ratio() -> None:
    found = analyse(study(raters=4, each=1, neurons=100), PLAN, seed=3).across[0]
    assert found.by_rater.homogeneity.p is not None
    assert found.by_rater.homogeneity.p > 0.05


def test_times_know_the_clock() -> None:
    table = counted_study({"gelu": (10, 20), "solu_ln": (10, 20)})
    seconds = np.where(np.arange(40) % 4 == 0, 90.0, 30.0)
    seconds[0] = np.nan
    found = analyse(table.assign(seconds=seconds), PLAN, seed=1).times
    assert [row.condition for row in found] == [None, "gelu", "solu_ln"]
    assert found[0].median_seconds.value == 30
    assert (found[0].over_one_minute.value, found[0].over_two_minutes.value) == (pytest.approx(9 / 39), 0.0)
    assert analyse(table, PLAN, seed=1).times[0].median_seconds.why == "No time is recorded."


def test_median_interval_is_the_table_s() -> None:
    """For n = 20 the 95 % interval of the median runs from the 6th to the 15th value (Conover 1999, table A3)."""
    found = median(np.arange(1.0, 21.0))
    assert (found.low, found.high) == (6, 15)
    assert median(np.arange(3.0)).why == "Too few verdicts for an interval of a median."


def test_replaced_neurons_three_ways() -> None:
    counts = pd.DataFrame({"arm": [0, 1], "units": [100, 100], "live": [90, 100], "replaced": [10, 0]})
    found = analyse(counted_study({"gelu": (10, 20), "solu_ln": (10, 20)}), PLAN, seed=1, arms=counts).replaced
    assert [row.live_times_shown.value for row in found] == pytest.approx([0.45, 0.5])
    assert [row.replaced_as_not.value for row in found] == pytest.approx([10 / 30, 0.5])


def test_replicate_models_are_resampled_and_widen_the_interval() -> None:
    table = study(neurons=60, each=1, effect=0.0)
    yes = {0: 0.2, 1: 0.8, 2: 0.2, 3: 0.8}
    copies = [
        table[table["arm"] == arm % 2].assign(
            arm=arm, model_seed=arm // 2, neuron=lambda t, arm=arm: t["neuron"] + 100_000 * arm
        )
        for arm in range(4)
    ]
    rng = np.random.default_rng(1)
    both = pd.concat(copies, ignore_index=True)
    seeds = both["model_seed"].map({0: yes[0], 1: yes[1]})
    both = both.assign(verdict=np.where(rng.random(len(both)) < seeds, YES, NO))
    apart = analyse(both, PLAN, seed=1).differences[0].neurons
    alike = (
        analyse(both.assign(verdict=np.where(rng.random(len(both)) < 0.5, YES, NO)), PLAN, seed=1)
        .differences[0]
        .neurons
    )
    assert "Replicate models" in apart.note
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


@given(st.floats())
def test_no_number_that_is_not_finite_gets_into_a_report(number: float) -> None:
    if np.isfinite(number):
        assert jsonable([number, {"a": number}]) == [number, {"a": number}]
    else:
        with pytest.raises(ValueError, match="must say why in words"):
            jsonable({"value": number})


def test_plans_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        Plan(baseline="gelu", alpha=1.5)
    with pytest.raises(ValueError, match="this one asks for 10"):
        Plan(baseline="gelu", resamples=10)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"looks": 2}, "there is one look; the plan has 2"),
        ({"most_false_positives": 1.5}, "lies between 0 and 1; it is 1.5"),
        ({"resamples": 1_000_001}, "this one asks for 1000001"),
        ({"least_seconds": -1.0}, "least seconds of a verdict are 0 or more; the plan says -1.0"),
        ({"least_seconds": float("nan")}, "the plan says nan"),
        ({"fewest_verdicts": -1}, "fewest verdicts of a rater are 0 or more; the plan says -1"),
        ({"question": "x" * 2001}, "has 2001 characters"),
        ({"estimand": "median"}, "estimand must be one of top, spectrum; it is 'median'"),
        ({"cannot_decide": "maybe"}, "cannot_decide must be one of no, yes, left_out; it is 'maybe'"),
    ],
)
def test_a_plan_says_what_it_does_not_take(change: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Plan.of({"baseline": "gelu"} | change)


def test_raters_are_left_out_by_the_rules_of_the_plan() -> None:
    """Rater 0 rates little, rater 1 calls every control interpretable, rater 2 hurries once."""
    table = study(raters=4).assign(seconds=30.0)
    few = (table["rater"] == 0) & (np.arange(len(table)) > table.index[table["rater"] == 0][4])
    table = table[~few].reset_index(drop=True)
    fake = [
        {"kind": "mixed", "neuron": 900 + n, "rater": n % 4, "verdict": YES if n % 4 == 1 else NO} for n in range(8)
    ]
    table = rows(table, *fake)
    table.loc[table.index[(table["rater"] == 2) & (table["kind"] == "neuron")][0], "seconds"] = 2.0
    plan = replace(PLAN, fewest_verdicts=6, most_false_positives=0.5, least_seconds=3.0)
    of = table[table["kind"] == "neuron"].groupby("rater").size()
    whole = complete(table)
    assert raters_left_out(whole, plan) == {0: "too few verdicts", 1: "called too many controls interpretable"}
    found = {row.rule: row.verdicts for row in analyse(table, plan, seed=1).sensitivity}
    planned = of[2] + of[3] - 1
    assert found["as planned"] == planned
    assert found["raters with fewer than 6 verdicts counted"] == planned + 5
    assert found["raters counted who called more than 50% of controls interpretable"] == planned + of[1]
    assert found["verdicts under 3 s counted"] == planned + 1


def test_items_opened_early_and_shading_by_rank_are_rows_where_there_are_any() -> None:
    table = study(raters=3)
    opened, ranked = table["neuron"] == table["neuron"].iloc[0], table["neuron"] % 2 == 0
    table = table.assign(opened_early=opened, shading=np.where(ranked, "rank", "level"))
    found = {row.rule: row.verdicts for row in analyse(table, PLAN, seed=1).sensitivity}
    assert found["as planned"] == len(table) - opened.sum()
    assert found["items that were opened early counted"] == len(table)
    assert found["only neurons shaded by rank"] == (ranked & ~opened).sum()
    assert found["only neurons shaded by level"] == (~ranked & ~opened).sum()


def test_a_plan_that_counts_items_opened_early_is_tried_without_them() -> None:
    table = study(raters=3)
    opened = table["neuron"] == table["neuron"].iloc[0]
    plan = replace(PLAN, opened_early_counts=True)
    found = {row.rule: row.verdicts for row in analyse(table.assign(opened_early=opened), plan, seed=1).sensitivity}
    assert found["as planned"] == len(table)
    assert found["items that were opened early left out"] == len(table) - opened.sum()
