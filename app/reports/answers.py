"""Guesses and answers of the hypothesis check as the tables that the statistics take. Only once it is unblinded."""

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, CheckAnswer, Guess, Item, OpenedItem, Rater, Study
from app.phases.actions import UNKNOWN
from app.reports.rows import bands_shown

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.plan import Plan


def guesses(session: Session, study: Study, plan: "Plan") -> "pd.DataFrame | None":
    """rater, condition (the truth) and guess, a row a guess; None where the design asks for none."""
    import pandas as pd

    if not study.design.get("guesses"):
        return None
    statement = (
        select(Rater.code, Arm.condition, Guess.condition)
        .join(Rater, Rater.id == Guess.rater_id)
        .join(OpenedItem, OpenedItem.item_id == Guess.item_id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Rater.study_id == study.id, Rater.kind == plan.rater_kind)
        .join(Item, Item.id == Guess.item_id)
        .order_by(Rater.code, Item.code)
    )
    rows = [(rater, truth, said or UNKNOWN) for rater, truth, said in session.execute(statement)]
    return pd.DataFrame(rows, columns=["rater", "condition", "guess"])


def held_out(session: Session, study: Study, plan: "Plan") -> "pd.DataFrame | None":
    """A row a held-out snippet that a rater judged; None where the design has no check."""
    import pandas as pd

    if not study.design.get("check_snippets"):
        return None
    statement = (
        select(CheckAnswer, Rater.code, Item.code, OpenedItem, Arm.condition)
        .join(Rater, Rater.id == CheckAnswer.rater_id)
        .join(Item, Item.id == CheckAnswer.item_id)
        .join(OpenedItem, OpenedItem.item_id == Item.id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Rater.study_id == study.id, Rater.kind == plan.rater_kind)
        .order_by(Item.code, Rater.code)
    )
    rows = [
        (rater, neuron, condition, band, number in answer.fires)
        for answer, rater, neuron, opened, condition in session.execute(statement)
        for number, band in enumerate(bands_shown(opened), start=1)
    ]
    return pd.DataFrame(rows, columns=["rater", "neuron", "condition", "band", "fires"])
