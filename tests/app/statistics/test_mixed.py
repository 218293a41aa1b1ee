"""The mixed model: refused with a reason where it cannot be had, and close to the truth where bambi is installed."""

from importlib.util import find_spec

import numpy as np
import pytest

from app.reports.statistics import mixed
from app.reports.statistics.plan import Plan
from app.reports.statistics.verdicts import complete, counted
from tests.app.statistics.studies import study

PLAN = Plan(baseline="gelu", resamples=200)


def test_without_bambi_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "find_spec", lambda _name: None)
    found = mixed.mixed_model(counted(complete(study(raters=3)), PLAN), "gelu", 0.95, seed=1)
    assert found
    assert all(effect.odds_ratio.value is None and "'.[mixed]'" in effect.odds_ratio.why for effect in found)


def test_one_rater_is_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "find_spec", lambda _name: object())
    found = mixed.mixed_model(counted(complete(study(raters=3).query("rater == 0")), PLAN), "gelu", 0.95, seed=1)
    assert all(effect.odds_ratio.why == mixed.FEW for effect in found)


@pytest.mark.skipif(find_spec("bambi") is None, reason="the extra [mixed] is not installed")
@pytest.mark.filterwarnings("default")  # those of the sampler's own libraries
def test_the_odds_ratio_has_the_direction_of_the_verdicts() -> None:
    table = complete(study(raters=3))
    rng = np.random.default_rng(5)
    yes = rng.random(len(table)) < np.where(table["condition"] == "gelu", 0.3, 0.7)
    table["verdict"] = np.where(yes, "INTERPRETABLE", "NOT_INTERPRETABLE")
    found = mixed.mixed_model(counted(table, PLAN), "gelu", 0.95, seed=1, draws=300, tune=300)
    assert found[0].odds_ratio.low is not None
    assert found[0].odds_ratio.low > 1
    assert 2 < (found[0].odds_ratio.value or 0) < 15
