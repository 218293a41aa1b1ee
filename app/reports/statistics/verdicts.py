"""The table of verdicts that comes in, and the part of it that a plan counts.

A row is one rater's verdict on one item (its last version). Columns:

neuron        int    the unit rated: the same number for every rater of that unit (items of one unit share it)
arm           int    the model
condition     str    the arm's condition, such as "gelu"
size          int    the arm's non-embedding parameters
model_seed    int    training seed of the arm: replicate models differ only here
rater         int
rater_kind    str    human, simulated or machine; one kind enters an analysis
kind          str    neuron, mixed, direction or repeat
verdict       str    INTERPRETABLE, NOT_INTERPRETABLE or CANNOT_DECIDE: the last version before the lock
and these may be left out:
first_verdict str    the first version (default: verdict)
position      int    place in the rater's order, from 1 (default: order of rows)
seconds       float  active seconds the verdict took; nan when unknown
sitting       int    number of the rater's sitting, from 1 (default 1)
late          bool   given after its lease had run out (default False)
surplus       bool   late, and its place had gone to somebody else meanwhile (default False)
layer         int    the neuron's layer (default 0)
opened_early  bool   its item was opened before the study was (default False)
shading       str    level or rank: by what the snippets of its item were shaded (default level)
"""

from typing import Any

import numpy as np
import pandas as pd

from app.reports.statistics.exclusions import raters_left_out, too_quick
from app.reports.statistics.plan import Plan

VERDICTS = ("INTERPRETABLE", "NOT_INTERPRETABLE", "CANNOT_DECIDE")
NEEDED = ("neuron", "arm", "condition", "size", "model_seed", "rater", "rater_kind", "kind", "verdict")
DEFAULTS: dict[str, Any] = {
    "seconds": np.nan, "sitting": 1, "late": False, "surplus": False, "layer": 0, "opened_early": False,
    "shading": "level",
}  # fmt: skip


def complete(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The table with every column there. Raises ValueError naming what is missing or wrong."""
    missing = [name for name in NEEDED if name not in verdicts.columns]
    if missing:
        raise ValueError(f"The table of verdicts lacks the columns {', '.join(missing)}.")
    table = verdicts.reset_index(drop=True)
    for name, value in DEFAULTS.items():
        if name not in table.columns:
            table = table.assign(**{name: value})
    if "first_verdict" not in table.columns:
        table = table.assign(first_verdict=table["verdict"])
    if "position" not in table.columns:
        table = table.assign(position=table.groupby("rater").cumcount() + 1)
    table = table.assign(first_verdict=table["first_verdict"].fillna(table["verdict"]))
    _refuse_unknown(table)
    return table


def _refuse_unknown(table: pd.DataFrame) -> None:
    for column in ("verdict", "first_verdict"):
        strange = sorted(set(table[column]) - set(VERDICTS))
        if strange:
            raise ValueError(f"The column {column} holds {strange[0]!r}; it must be one of {', '.join(VERDICTS)}.")


def of_kind(table: pd.DataFrame, plan: Plan, *kinds: str) -> pd.DataFrame:
    """Rows of these kinds of item by raters of the plan's kind, without what the plan's exclusions leave out.

    `table` is the whole complete table: whether a rater is left out may depend on all of their verdicts.
    """
    keep = table["kind"].isin(kinds) & (table["rater_kind"] == plan.rater_kind)
    if not plan.opened_early_counts:
        keep &= ~table["opened_early"].astype(bool)
    return table[keep & ~table["rater"].isin(raters_left_out(table, plan))]


def with_answers(table: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Rows that the plan counts, with `interpretable` 0.0 or 1.0 by its rules."""
    said = table["verdict"] if plan.version == "last" else table["first_verdict"]
    cannot = {"no": 0.0, "yes": 1.0, "left_out": np.nan}[plan.cannot_decide]
    answer = said.map({"INTERPRETABLE": 1.0, "NOT_INTERPRETABLE": 0.0, "CANNOT_DECIDE": cannot})
    keep = answer.notna()
    if not plan.late_counts:
        keep &= ~table["late"].astype(bool)
    if not plan.surplus_counts:
        keep &= ~table["surplus"].astype(bool)
    if plan.least_seconds:
        keep &= ~too_quick(table, plan)
    return table.assign(interpretable=answer.astype(float))[keep]


def counted(table: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The verdicts on neurons that enter the fractions."""
    return with_answers(of_kind(table, plan, "neuron"), plan)
