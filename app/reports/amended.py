"""What was done to a study before it was unblinded, as its report tells it: amendments, items opened early."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Amendment, Arm, Study
from app.reports.formats import moment
from app.reports.record import seed_of
from app.reports.standing import raters_in_order
from app.studies.early import opened_early
from app.studies.plans import changed

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.plan import Plan
    from app.reports.statistics.primary import Comparison


@dataclass(frozen=True)
class Change:
    """One field of the plan that an amendment changed."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Made:
    """One amendment."""

    number: int
    at: str
    actor: str
    reason: str
    digest: str
    verdicts: int
    """How many there were by then."""
    changes: list[Change]


@dataclass(frozen=True)
class Amended:
    """The amendments, and what the plan that was sealed says."""

    made: list[Made]
    verdicts: int
    """How many verdicts on neurons the sealed plan counts."""
    comparisons: "tuple[Comparison, ...]"
    """The main difference under the sealed plan; empty where it counts no verdict."""
    differs: bool
    """Whether the amended plan counts other verdicts or counts them otherwise."""


@dataclass(frozen=True)
class EarlyItem:
    """An item that was opened before the study was."""

    code: str
    at: str
    actor: str
    reason: str
    arm: str
    kind: str
    layer: int
    neuron: int


def plans_of(session: Session, study: Study, made: list[Amendment]) -> "tuple[Plan, Plan]":
    """The plan that was sealed and the one at unblinding. What kind of rater counts is the study's own flag.

    A plan keeps raters that are left out by their codes; the statistics number them as their letters do.
    """
    from app.reports.statistics.plan import Plan

    numbers = {rater.code: number for number, (rater, _) in enumerate(raters_in_order(session, study))}
    found = []
    for values in (study.plan, made[-1].plan if made else study.plan):
        left_out = frozenset(numbers.get(one, one) for one in values.get("excluded_raters", ()))
        found.append(Plan.of({**values, "excluded_raters": left_out, "simulated": study.simulated}))
    return found[0], found[1]


def amended(table: "pd.DataFrame", study: Study, made: list[Amendment], sealed: "Plan", now: "Plan") -> Amended:
    """The amendments beside the plan that was sealed, under which the main difference is computed again."""
    from app.reports.statistics.primary import primary
    from app.reports.statistics.verdicts import complete, counted

    whole = complete(table)
    rows, others = counted(whole, sealed), counted(whole, now)
    found = primary(rows, sealed, seed_of(study.seal_root))[1].comparisons if len(rows) else ()
    columns = ["rater", "neuron", "interpretable"]
    same = replace(sealed, excluded_raters=now.excluded_raters, question=now.question) == now
    differs = not same or not rows[columns].reset_index(drop=True).equals(others[columns].reset_index(drop=True))
    before = [study.plan, *(one.plan for one in made)]
    return Amended([_made(one, earlier) for one, earlier in zip(made, before, strict=False)], len(rows), found, differs)


def _made(one: Amendment, before: dict[str, Any]) -> Made:
    changes = [Change(name, *both) for name, both in changed(before, one.plan).items()]
    return Made(one.number, moment(one.at), one.actor, one.reason, one.plan_digest, one.verdicts, changes)


def early_items(session: Session, study: Study) -> list[EarlyItem]:
    """Every item that was opened early, and what it is."""
    arms = session.scalars(select(Arm.name).where(Arm.study_id == study.id).order_by(Arm.id)).all()
    return [
        EarlyItem(
            code, moment(one.at), one.actor, one.reason, arms[one.key["arm"]], one.key["kind"], one.key["layer"],
            one.key["number"],
        )
        for one, code in opened_early(session, study)
    ]  # fmt: skip
