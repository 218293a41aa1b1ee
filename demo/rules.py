"""What the rule rater finds in the runs of the demonstration: a fraction an arm, over all neurons that can be shown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.reports.statistics.resampling import percentiles, resampled_sums
from demo.models import run
from demo.places import CORPUS
from model_runner.run.folder import open_run
from model_runner.run.rules import RunRules

BASELINE, TREATED = "gelu", "solu_ln"
LEVEL, RESAMPLES, SEED = 0.95, 10_000, 0


def find_rules(runs: Sequence[Path]) -> None:
    """Let the rule rater look at every run; what it found in an earlier call is kept."""
    run("model_runner.cli", "rules", *(part for folder in runs for part in ("--run", folder)), "--corpus", CORPUS)


def rules_of(folder: Path) -> RunRules:
    """The rules of a run. Raises SystemExit where there are none."""
    rules = open_run(folder).rules()
    if rules is None or not rules.units:
        raise SystemExit(f"{folder} has no rules. Run: glance-runner rules --run {folder} --corpus {CORPUS}")
    return rules


def share(rules: RunRules, kind: str | None = None) -> float:
    """The share of units that a rule explains, of any kind or of this one."""
    return sum(u.verdict == "INTERPRETABLE" and kind in (None, u.kind) for u in rules.units) / len(rules.units)


def rule_difference(treated: RunRules, baseline: RunRules) -> dict[str, Any]:
    """Treated minus baseline: the fractions' difference and its neuron-bootstrap interval."""
    rng = np.random.default_rng(SEED)
    sides = [
        np.array([[unit.verdict == "INTERPRETABLE"] for unit in rules.units], float) for rules in (treated, baseline)
    ]
    means = [resampled_sums(side, RESAMPLES, rng)[:, 0] / len(side) for side in sides]
    low, high = percentiles(means[0] - means[1], LEVEL, min(map(len, sides)))
    return {"estimate": float(sides[0].mean() - sides[1].mean()), "low": low, "high": high, "level": LEVEL}


def fault(difference: dict[str, Any]) -> str | None:
    """A sentence where the demonstration does not show the paper's direction."""
    if difference["low"] > 0:
        return None
    return (
        f"The rule rater explains {difference['estimate']:+.3f} more of {TREATED} neurons than of {BASELINE} ones, "
        f"interval {difference['low']:.3f} to {difference['high']:.3f}: that is not the direction it should show."
    )
