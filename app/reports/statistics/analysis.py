"""One entry point: a table of verdicts and a plan in, everything a report says out."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from app.reports.statistics.agreement import Agreement, agreement
from app.reports.statistics.blinding import Blinding, blinding
from app.reports.statistics.coefficients import Coefficients, coefficients
from app.reports.statistics.controls import Control, RaterControls, controls, false_positives
from app.reports.statistics.differences import ONE_MODEL, REPLICATES, Difference
from app.reports.statistics.drift import drift
from app.reports.statistics.estimate import jsonable
from app.reports.statistics.form import Form, form_audit
from app.reports.statistics.fractions import FEW, FEW_RATERS, ArmFraction, Replaced, with_replaced
from app.reports.statistics.held_out import Check, hypothesis_check
from app.reports.statistics.model import Effect, condition_terms, effects
from app.reports.statistics.permutation import CAVEAT
from app.reports.statistics.plan import Plan
from app.reports.statistics.primary import Comparison, primary
from app.reports.statistics.ratings import Ratings
from app.reports.statistics.repeats import Repeats, repeats
from app.reports.statistics.seeds import generator
from app.reports.statistics.sensitivity import Sensitivity, sensitivity
from app.reports.statistics.strictness import Rater, strictness
from app.reports.statistics.tables import AcrossSizes, ExactInSize, across_sizes, exact_in_sizes
from app.reports.statistics.times import Times, times
from app.reports.statistics.verdicts import complete, counted, of_kind, with_answers

AUDIT_RESAMPLES = 2_000  # the audit of form resamples pairs of neurons, which costs more than a mean


@dataclass(frozen=True)
class Analysis:
    """Everything a report says in numbers."""

    label: str
    """SIMULATED in a study flagged as simulated, else empty."""
    seed: int
    """Seed of every resampling."""
    plan: Plan
    caveats: tuple[str, ...]
    """Sentences a reader must have seen before the figures."""
    neurons: int
    raters: int
    verdicts: int
    """Verdicts on neurons that the plan counts."""
    cannot_decide: int
    """How many of all verdicts on neurons were CANNOT_DECIDE, whatever the plan makes of them."""
    arms: tuple[ArmFraction, ...]
    differences: tuple[Difference, ...]
    comparisons: tuple[Comparison, ...]
    replaced: tuple[Replaced, ...]
    """Three ways to count replaced neurons, a row an arm; empty when the counts were not given."""
    exact: tuple[ExactInSize, ...]
    across: tuple[AcrossSizes, ...]
    model: tuple[Effect, ...]
    """GEE: odds ratio of each condition against the baseline."""
    agreement: Agreement
    coefficients: Coefficients
    """Other coefficients of the same agreement."""
    repeats: Repeats
    strictness: tuple[Rater, ...]
    times: tuple[Times, ...]
    drift: tuple[Effect, ...]
    controls: tuple[Control, ...]
    false_positives: tuple[RaterControls, ...]
    sensitivity: tuple[Sensitivity, ...]
    blinding: Blinding | None
    """None when nobody was asked to guess."""
    form: tuple[Form, ...]
    """Empty when no features of pages were given."""
    check: Check | None
    """The hypothesis check; None when the design has none."""


def analyse(
    verdicts: pd.DataFrame,
    plan: Plan,
    seed: int,
    *,
    arms: pd.DataFrame | None = None,
    guesses: pd.DataFrame | None = None,
    pages: pd.DataFrame | None = None,
    held_out: pd.DataFrame | None = None,
) -> Analysis:
    """Analyse a study. The same tables, plan and seed give the same numbers.

    `verdicts`: the columns described in verdicts.py. `arms`, for replaced neurons: arm, units, live, replaced; and
    condition, because whoever guesses can name one of which no verdict counts.
    `guesses`, for the success of blinding: rater, condition (the truth), guess (a condition or UNKNOWN), neurons only.
    `pages`, for the audit of form: neuron, condition, numeric features named "group.feature".
    `held_out`, for the hypothesis check: the columns described in held_out.py.
    Raises ValueError when no verdict counts, and for a table that contradicts itself.
    """
    table = complete(verdicts)
    rows = counted(table, plan)
    if rows.empty:
        raise ValueError(f"No verdict of a {plan.rater_kind} rater on a neuron counts, so there is nothing to report.")
    ratings, main = primary(rows, plan, seed)
    level, count = plan.level, plan.resamples
    conditions = list(dict.fromkeys(arm.condition for arm in ratings.arms))
    choices = list(dict.fromkeys([*conditions, *(() if arms is None else arms.get("condition", ()))]))
    others = [name for name in conditions if name != plan.baseline]
    again = with_answers(of_kind(table, plan, "repeat"), plan)
    fake = with_answers(of_kind(table, plan, "mixed", "direction"), plan)
    on_neurons = of_kind(table, plan, "neuron")
    return Analysis(
        label="SIMULATED" if plan.simulated else "",
        seed=seed,
        plan=plan,
        caveats=caveats(ratings, plan),
        neurons=len(ratings.neurons_N),
        raters=len(ratings.raters_R),
        verdicts=len(rows),
        cannot_decide=int((on_neurons["verdict"] == "CANNOT_DECIDE").sum()),
        arms=main.arms,
        differences=main.differences,
        comparisons=main.comparisons,
        replaced=() if arms is None else _replaced(main.arms, arms),
        exact=tuple(row for name in others for row in exact_in_sizes(ratings, name, plan.baseline)),
        across=tuple(across_sizes(ratings, name, plan.baseline, level) for name in others),
        model=effects(rows, condition_terms(rows, plan.baseline), level) if others else (),
        agreement=agreement(ratings, level, count, generator(seed, "agreement")),
        coefficients=coefficients(ratings.yes_NR, ratings.seen_NR),
        repeats=repeats(rows, again, level, count, generator(seed, "repeats")),
        strictness=strictness(ratings, plan.baseline, level),
        times=times(rows, level),
        drift=drift(rows, plan.baseline, level),
        controls=controls(fake, level, count, generator(seed, "controls")),
        false_positives=false_positives(fake, level),
        sensitivity=sensitivity(table, plan, main.comparisons, seed),
        blinding=None if guesses is None else blinding(guesses, choices, level, count, generator(seed, "blinding")),
        form=() if pages is None else form_audit(pages, plan.baseline, level, AUDIT_RESAMPLES, generator(seed, "form")),
        check=None
        if held_out is None
        else hypothesis_check(held_out, plan.baseline, level, count, generator(seed, "check")),
    )


def caveats(ratings: Ratings, plan: Plan) -> tuple[str, ...]:
    """What a reader must know before the figures."""
    found = []
    if plan.simulated:
        found.append("SIMULATED: the raters are programs; no number here says anything about people or models.")
    replicates = len({(arm.condition, arm.size) for arm in ratings.arms}) < len(ratings.arms)
    found.append(REPLICATES if replicates else ONE_MODEL)
    if len(ratings.raters_R) < FEW_RATERS:
        found.append(FEW.format(raters=len(ratings.raters_R)))
    conditions = {arm.condition for arm in ratings.arms}
    if plan.baseline not in conditions:
        found.append(f"The plan compares with {plan.baseline}, and no verdict on it counts: there is no comparison.")
    elif len(conditions) > 1:
        found.append(CAVEAT)
    return tuple(found)


def _replaced(found: tuple[ArmFraction, ...], arms: pd.DataFrame) -> tuple[Replaced, ...]:
    counts = {int(arm): (int(units), int(live), int(out)) for arm, units, live, out in _counts(arms)}
    return tuple(with_replaced(row.arm.id, row.fraction, *counts[row.arm.id]) for row in found)


def _counts(arms: pd.DataFrame) -> list[tuple[int, int, int, int]]:
    return list(zip(arms["arm"], arms["units"], arms["live"], arms["replaced"], strict=True))


def to_json(analysis: Analysis) -> dict[str, Any]:
    """The analysis as `json.dumps` takes it. Raises ValueError should a number not be finite."""
    found: dict[str, Any] = jsonable(analysis)
    return found
