"""The demonstration's check of the rule rater: the interval, and when it says no."""

import pytest

from demo.rules import fault, rule_difference, share
from model_runner.run.rules import RunRules, UnitRule


def rules(yes: int, of: int, kind: str = "token") -> RunRules:
    def unit(row: int) -> UnitRule:
        verdict = "INTERPRETABLE" if row < yes else "NOT_INTERPRETABLE"
        return UnitRule(unit=row, verdict=verdict, rule="", kind=kind, covered=0, of=20, base_rate=0.0, hypothesis="")  # type: ignore[arg-type]

    return RunRules(run_digest="", settings={}, units=[unit(row) for row in range(of)])


def test_a_clear_difference_passes() -> None:
    difference = rule_difference(rules(600, 768), rules(450, 768))
    assert difference["estimate"] == pytest.approx(150 / 768)
    assert difference["low"] == pytest.approx(150 / 768 - 1.96 * (600 * 168 + 450 * 318) ** 0.5 / 768**1.5, abs=0.005)
    assert difference["high"] > difference["estimate"] > difference["low"] > 0
    assert fault(difference) is None
    assert rule_difference(rules(600, 768), rules(450, 768)) == difference


@pytest.mark.parametrize(("treated", "baseline"), [(450, 600), (455, 450), (450, 450)])
def test_the_wrong_direction_or_an_interval_with_0_is_a_fault(treated: int, baseline: int) -> None:
    found = fault(rule_difference(rules(treated, 768), rules(baseline, 768)))
    assert found is not None
    assert "not the direction" in found


def test_shares_by_kind() -> None:
    assert share(rules(3, 12)) == 0.25
    assert share(rules(3, 12), "token") == 0.25
    assert share(rules(3, 12), "pattern") == 0
