"""Who and what the plan leaves out, by rules that were written down before the first verdict."""

import numpy as np
import pandas as pd

from app.reports.statistics.plan import Plan

NAMED = "named in the plan"
FEW_VERDICTS = "too few verdicts"
FALSE_POSITIVES = "called too many controls interpretable"


def raters_left_out(table: pd.DataFrame, plan: Plan) -> dict[int, str]:
    """The raters of the plan's kind whose verdicts do not count, each with the first rule that leaves them out.

    `table` is a complete table. A rater without a verdict on a control cannot be judged by controls, and stays.
    """
    rows = table[table["rater_kind"] == plan.rater_kind]
    found = {int(rater): NAMED for rater in rows["rater"].unique() if int(rater) in plan.excluded_raters}
    if plan.fewest_verdicts:
        counts = rows[rows["kind"] == "neuron"].groupby("rater").size()
        few = {int(r): FEW_VERDICTS for r in rows["rater"].unique() if counts.get(r, 0) < plan.fewest_verdicts}
        found = few | found
    if plan.most_false_positives < 1:
        fake = rows[rows["kind"].isin(("mixed", "direction"))]
        shares = (fake["verdict"] == "INTERPRETABLE").groupby(fake["rater"]).mean()
        found = {int(r): FALSE_POSITIVES for r in shares.index[shares > plan.most_false_positives]} | found
    return found


def too_quick(table: pd.DataFrame, plan: Plan) -> "pd.Series[bool]":
    """Which rows took less time than the plan asks for; a time that is not known is no reason."""
    return table["seconds"].astype(float).fillna(np.inf) < plan.least_seconds
