"""The section on machine raters: each by itself, and beside people only where it is compared with them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.machines.queries import Summary
from app.machines.verdicts import Said, said_by_machines
from app.models import Arm, Item, OpenedItem, Study
from app.reports.record import seed_of
from app.reports.speech import say

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.figures import Figure
    from app.reports.statistics.estimate import Estimate
    from app.reports.statistics.machines import MachineFigures
    from app.reports.statistics.plan import Plan

KIND = "machine"


@dataclass(frozen=True)
class OfAll:
    """What the rule rater found in all neurons of an arm that can be shown, not only in those that were drawn."""

    arm: str
    condition: str
    fraction: "Estimate"
    """Wilson."""
    one_token: "Estimate"
    """The share that a single token explains; a list of tokens may be several rules joined by “or”."""


@dataclass(frozen=True)
class MachineReport:
    """One machine rater."""

    name: str
    model: str
    figures: "MachineFigures | None"
    """None where it has no verdict on a neuron."""
    of_all: list[OfAll]
    """Empty but for the rule rater."""
    settings: dict[str, Any]
    used: Summary | None


def machine_reports(session: Session, study: Study, people: "pd.DataFrame", plan: "Plan") -> list[MachineReport]:
    """A report for every machine rater of the study. `people` is the table of verdicts."""
    from app.reports.statistics.machines import machine_figures

    said = said_by_machines(session, study)
    if not said:
        return []
    units, seed = _units(session, study), seed_of(study.seal_root)
    return [
        MachineReport(
            name=one.name,
            model=one.model,
            figures=machine_figures(table_of(one, units), people, plan, seed, one.code),
            of_all=_of_all(one, study, plan.level),
            settings=one.rules.arms[0]["settings"] if one.rules else one.settings,
            used=one.used,
        )
        for one in said
    ]


def table_of(said: Said, units: "dict[str, dict[str, Any]]") -> "pd.DataFrame":
    """A machine's verdicts with the columns of app/reports/statistics/verdicts.py."""
    import pandas as pd

    rows = [units[code] | {"verdict": verdict} for code, verdict in sorted(said.verdicts.items()) if code in units]
    columns = ["neuron", "arm", "condition", "size", "model_seed", "kind", "layer", "item", "verdict"]
    return pd.DataFrame(rows, columns=columns).assign(rater=0, rater_kind=KIND)


def machines_figure(reports: list[MachineReport], baseline: str, stamp: str) -> "Figure | None":
    """Each machine's fraction in each condition; None where no machine has a verdict."""
    from app.reports.figures.machines import draw_machines

    shown = [report for report in reports if report.figures]
    if not shown:
        return None
    fractions = {one.name if one.model else say(one.name): one.figures.arms for one in shown if one.figures}
    return draw_machines(fractions, baseline, stamp)


def _units(session: Session, study: Study) -> dict[str, dict[str, Any]]:
    """What each item was, by its code; items of one neuron share a number."""
    numbers = {arm.id: number for number, arm in enumerate(study.arms)}
    statement = (
        select(Item, OpenedItem, Arm)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Item.study_id == study.id)
        .order_by(Item.code)
    )
    seen: dict[tuple[int, str, int, int], int] = {}
    units = {}
    for item, opened, arm in session.execute(statement):
        unit = (arm.id, opened.unit_kind, opened.layer, opened.index)
        units[item.code] = {
            "neuron": seen.setdefault(unit, len(seen)), "arm": numbers[arm.id], "condition": arm.condition,
            "size": arm.size, "model_seed": arm.seed, "kind": item.kind.value, "layer": opened.layer, "item": item.code,
        }  # fmt: skip
    return units


def _of_all(said: Said, study: Study, level: float) -> list[OfAll]:
    from app.reports.statistics.fractions import wilson

    if said.rules is None:
        return []
    return [
        OfAll(
            arm.name,
            arm.condition,
            wilson(found["interpretable"], found["judged"], level),
            wilson(found["by_kind"].get("token", 0), found["judged"], level),
        )
        for arm, found in zip(study.arms, said.rules.arms, strict=True)
    ]
