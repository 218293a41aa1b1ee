"""Guesses and answers of the hypothesis check as the tables that the statistics take. Only once it is unblinded."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.models import Arm, CheckAnswer, Guess, Item, OpenedItem, Rater, Study
from app.phases.actions import UNKNOWN
from app.reports.rows import bands_shown
from app.reports.standing import raters_in_order
from app.studies.early import opened_early

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.plan import Plan

Selected = TypeVar("Selected", bound=Select[*tuple[Any, ...]])


class LeftOut(NamedTuple):
    """What the plan leaves out of every figure: of the fractions, and so of the check and the guesses too."""

    raters: frozenset[int]
    """Ids of raters."""
    items: frozenset[int]
    """Ids of items that were opened early."""


def left_out(session: Session, study: Study, plan: "Plan", numbers: Iterable[int]) -> LeftOut:
    """`numbers` are the raters whom the plan leaves out, numbered as their letters."""
    ids = [rater.id for rater, _ in raters_in_order(session, study)]
    early = () if plan.opened_early_counts else opened_early(session, study)
    return LeftOut(frozenset(ids[number] for number in numbers), frozenset(one.opening.item_id for one in early))


def guesses(session: Session, study: Study, plan: "Plan", out: LeftOut) -> "pd.DataFrame | None":
    """rater, condition (the truth) and guess, a row a guess; None where the design asks for none."""
    import pandas as pd

    if not study.design.get("guesses"):
        return None
    statement = (
        select(Rater.code, Arm.condition, Guess.condition)
        .join(Rater, Rater.id == Guess.rater_id)
        .join(OpenedItem, OpenedItem.item_id == Guess.item_id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .join(Item, Item.id == Guess.item_id)
        .where(Item.id.not_in(out.items))
        .order_by(Rater.code, Item.code)
    )
    rows = [(rater, truth, said or UNKNOWN) for rater, truth, said in session.execute(_of(statement, study, plan, out))]
    return pd.DataFrame(rows, columns=["rater", "condition", "guess"])


def held_out(session: Session, study: Study, plan: "Plan", out: LeftOut) -> "pd.DataFrame | None":
    """A row a held-out snippet that a rater judged; None where the design has no check. `arm` numbers the arms."""
    import pandas as pd

    if not study.design.get("check_snippets"):
        return None
    statement = (
        select(CheckAnswer, Rater.code, Item.code, OpenedItem, Arm)
        .join(Rater, Rater.id == CheckAnswer.rater_id)
        .join(Item, Item.id == CheckAnswer.item_id)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Item.repeat_of.not_in(out.items))
        .order_by(Item.code, Rater.code)
    )
    arms = {arm.id: number for number, arm in enumerate(study.arms)}
    rows = [
        (rater, neuron, arms[arm.id], arm.condition, band, number in answer.fires)
        for answer, rater, neuron, opened, arm in session.execute(_of(statement, study, plan, out))
        for number, band in enumerate(bands_shown(opened), start=1)
    ]
    return pd.DataFrame(rows, columns=["rater", "neuron", "arm", "condition", "band", "fires"])


def _of(statement: Selected, study: Study, plan: "Plan", out: LeftOut) -> Selected:
    """Of the raters who enter the figures of the study."""
    return statement.where(Rater.study_id == study.id, Rater.kind == plan.rater_kind, Rater.id.not_in(out.raters))
