"""From the database to the table of verdicts that the statistics take. Only once the study is unblinded."""

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Refused
from app.models import (
    Arm,
    Assignment,
    Item,
    ItemContent,
    ItemKind,
    OpenedItem,
    Phase,
    Rater,
    Rating,
    RatingAction,
    Sitting,
    Study,
    StudyState,
)
from app.reports.form_features import form_of
from app.reports.standing import raters_in_order
from app.studies.early import opened_early
from app.studies.queries import find_study
from app.words.said import N_

if TYPE_CHECKING:
    import pandas as pd

NOT_YET = N_(
    "This study is not unblinded, so there is no report yet: until then nobody sees a verdict by arm, "
    "administrators included. Close the study and unblind it first."
)


def unblinded_study(session: Session, code: str) -> Study:
    """The study with its arms. Raises Refused before it is unblinded."""
    study = find_study(session, code)
    if study.state != StudyState.UNBLINDED:
        raise Refused(NOT_YET)
    return study


class Given(NamedTuple):
    """The versions of one rater's verdict on one item, first to last, and what they are about."""

    ratings: list[Rating]
    assignment: Assignment
    item: Item
    opened: OpenedItem
    arm: Arm
    rater: Rater


def given(session: Session, study: Study) -> list[Given]:
    """Everything raters said of items in the phase of rating, by rater and position."""
    if study.state != StudyState.UNBLINDED:
        raise Refused(NOT_YET)
    statement = (
        select(Rating, Assignment, Item, OpenedItem, Arm, Rater)
        .join(Assignment, Assignment.id == Rating.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Item.study_id == study.id, Item.phase == Phase.RATING)
        .order_by(Rater.id, Assignment.position, Rating.version)
    )
    found: dict[int, Given] = {}
    for rating, assignment, item, opened, arm, rater in session.execute(statement):
        one = found.setdefault(assignment.id, Given([], assignment, item, opened, arm, rater))
        one.ratings.append(rating)
    return list(found.values())


def sitting_numbers(session: Session, study: Study) -> dict[int, int]:
    """The how-manieth of its rater every sitting was, from 1, by its id."""
    statement = (
        select(Sitting.id, Sitting.rater_id)
        .join(Rater, Rater.id == Sitting.rater_id)
        .where(Rater.study_id == study.id)
        .order_by(Sitting.rater_id, Sitting.started_at, Sitting.id)
    )
    seen: dict[int, int] = {}
    numbers: dict[int, int] = {}
    for sitting, rater in session.execute(statement):
        seen[rater] = numbers[sitting] = seen.get(rater, 0) + 1
    return numbers


def verdicts(session: Session, study: Study) -> "pd.DataFrame":
    """A row for each verdict that stands, with the columns of app/reports/statistics/verdicts.py.

    Arms, raters and neurons are numbered from 0 in an order that is the same in every database that holds the
    study: arms as in its list, raters as their letters, neurons by the codes of their items.
    """
    import pandas as pd

    numbers = Numbers(
        {arm.id: number for number, arm in enumerate(study.arms)},
        {rater.id: number for number, (rater, _) in enumerate(raters_in_order(session, study))},
        sitting_numbers(session, study),
        {one.opening.item_id for one in opened_early(session, study)},
    )
    found = [one for one in given(session, study) if one.ratings[-1].action != RatingAction.WITHDRAWN]
    rows = [_row(one, numbers) for one in found]
    by_code = {unit_of(one): 0 for one in sorted(found, key=lambda one: one.item.code)}
    units = {unit: number for number, unit in enumerate(by_code)}
    table = pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "neuron"])
    table["neuron"] = [units[unit_of(one)] for one in found]
    return table.astype(COLUMNS).sort_values(["rater", "position"], ignore_index=True)


class Numbers(NamedTuple):
    """What stands for database ids in the table."""

    arms: dict[int, int]
    raters: dict[int, int]
    sittings: dict[int, int]
    opened_early: set[int]
    """Items, by their ids."""


def unit_of(one: Given) -> tuple[int, str, int, int]:
    """The same for a neuron and its repeat."""
    return one.arm.id, one.opened.unit_kind, one.opened.layer, one.opened.index


def _row(one: Given, numbers: Numbers) -> dict[str, Any]:
    last = one.ratings[-1]
    # An edit comes later and at leisure: time and circumstances are those of the giving that it edits.
    giving = next(rating for rating in reversed(one.ratings) if rating.action == RatingAction.GIVEN)
    return {
        "arm": numbers.arms[one.arm.id], "condition": one.arm.condition, "size": one.arm.size,
        "model_seed": one.arm.seed, "rater": numbers.raters[one.rater.id], "rater_kind": one.rater.kind.value,
        "kind": one.item.kind.value, "verdict": str(last.verdict), "first_verdict": str(one.ratings[0].verdict),
        "position": one.assignment.position, "seconds": giving.seconds,
        "sitting": numbers.sittings.get(giving.sitting_id or 0, 1), "late": giving.late, "surplus": giving.surplus,
        "layer": one.opened.layer, "item": one.item.code,
        "opened_early": one.item.id in numbers.opened_early, "shading": one.opened.shading,
    }  # fmt: skip


SERVING = "timing.serving"
"""A feature of the audit: seconds the server took over an item."""


def pages(session: Session, study: Study) -> "pd.DataFrame":
    """The form of every neuron's page as raters were sent it, for the audit of blinding."""
    import pandas as pd

    statement = (
        select(OpenedItem, Arm, ItemContent.fragment)
        .join(Item, Item.id == OpenedItem.item_id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .join(ItemContent, ItemContent.item_id == Item.id)
        .where(Item.study_id == study.id, Item.kind == ItemKind.NEURON)
        .order_by(Item.code)
    )
    rows = [
        {"neuron": number, "condition": arm.condition, **form_of(fragment), SERVING: opened.serving_seconds}
        for number, (opened, arm, fragment) in enumerate(session.execute(statement))
    ]
    # A study unblinded before this was measured, or a sample: the group is left out, or made of those measured.
    table = pd.DataFrame(rows)
    return table.dropna(axis=1, how="all").dropna()


COLUMNS = {
    "neuron": "int64", "arm": "int64", "condition": "object", "size": "int64", "model_seed": "int64",
    "rater": "int64", "rater_kind": "object", "kind": "object", "verdict": "object", "first_verdict": "object",
    "position": "int64", "seconds": "float64", "sitting": "int64", "late": "bool", "surplus": "bool",
    "layer": "int64", "item": "object", "opened_early": "bool", "shading": "object",
}  # fmt: skip
