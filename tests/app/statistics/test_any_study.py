"""Whatever small study comes: every number is finite and in its range, and what is undefined says why."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.reports import figures
from app.reports.statistics.analysis import analyse, to_json
from app.reports.statistics.estimate import Estimate, Test
from app.reports.statistics.plan import Plan
from app.reports.statistics.verdicts import VERDICTS

CONDITIONS = ("gelu", "solu_ln", "gelu_ln")


@st.composite
def small_studies(draw: st.DrawFn) -> pd.DataFrame:
    """One to six arms, one to four neurons each, one to four raters, any verdicts, perhaps controls and repeats."""
    arms = draw(
        st.lists(
            st.tuples(st.sampled_from(CONDITIONS), st.sampled_from([1000, 8000])), min_size=1, max_size=6, unique=True
        )
    )
    verdict = st.sampled_from(VERDICTS)
    rows = []
    for arm, (condition, size) in enumerate(arms):
        for number in range(draw(st.integers(1, 4))):
            for rater in draw(st.sets(st.integers(1, 4), min_size=1)):
                common = (arm * 100 + number, arm, condition, size, rater)
                rows.append((*common, "neuron", draw(verdict), draw(verdict)))
                if draw(st.booleans()):
                    rows.append((*common, "repeat", draw(verdict), draw(verdict)))
                if draw(st.booleans()):
                    rows.append(
                        (
                            arm * 100 + 50 + number,
                            *common[1:],
                            draw(st.sampled_from(["mixed", "direction"])),
                            draw(verdict),
                            draw(verdict),
                        )
                    )
    columns = ["neuron", "arm", "condition", "size", "rater", "kind", "verdict", "first_verdict"]
    table = pd.DataFrame(rows, columns=columns).drop_duplicates(["neuron", "rater", "kind"])
    return table.assign(model_seed=0, rater_kind="human", seconds=30.0)


def results(thing: Any) -> list[Estimate | Test]:
    """Every estimate and test inside."""
    if isinstance(thing, Estimate | Test):
        return [thing]
    if isinstance(thing, tuple):
        return [one for part in thing for one in results(part)]
    if is_dataclass(thing):
        return [one for field in fields(thing) for one in results(getattr(thing, field.name))]
    return []


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(small_studies(), st.sampled_from(["no", "yes"]))
def test_any_study(table: pd.DataFrame, cannot: Any) -> None:
    found = analyse(table, Plan(baseline="gelu", resamples=100, cannot_decide=cannot), seed=1)
    json.dumps(to_json(found), allow_nan=False)
    for one in results(found):
        assert one.method
        if isinstance(one, Test):
            assert (one.p is None) == bool(one.why)
            assert one.p is None or 0 < one.p <= 1 + 1e-12
        else:
            assert one.low is not None or one.why, one
            assert (one.low is None) == (one.high is None) == (one.level is None)
            assert one.low is None or one.low <= one.value + 1e-9 <= one.high + 2e-9 or "bootstrap" in one.method
    for arm in found.arms:
        assert 0 <= arm.fraction.low <= arm.fraction.high <= 1
    drawing = figures.fraction_figure(found.arms, "gelu")
    assert drawing.label


def test_one_neuron_one_rater() -> None:
    row = {"neuron": 1, "arm": 1, "condition": "solu_ln", "size": 1, "model_seed": 0, "rater": 1}
    table = pd.DataFrame([row | {"rater_kind": "human", "kind": "neuron", "verdict": "INTERPRETABLE"}])
    found = analyse(table, Plan(baseline="gelu", resamples=100), seed=1)
    assert found.differences == ()
    assert found.arms[0].fraction.value == 1.0
    assert "there is no comparison" in found.caveats[-1]
    assert found.agreement.percent.why == "No neuron has two verdicts, so agreement cannot be measured."
