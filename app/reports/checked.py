"""How far the hypothesis check reached, arm by arm: which neurons had held-out text, and which of them were checked."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Arm, Item, ItemKind, OpenedItem, Study

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CheckedArm:
    """The neurons of one arm on their way to the check."""

    arm: str
    condition: str
    shown: int
    """Neurons that became items."""
    without: int
    """Of these, neurons that fired too seldom in the held-out text, so that there is no check of them."""
    called: int
    """Neurons with a check that a rater who counts called interpretable: those that could be checked."""
    checked: int
    """Neurons with an answer that counts."""


def checked_arms(
    session: Session, study: Study, rows: "pd.DataFrame", answers: "pd.DataFrame | None"
) -> tuple[CheckedArm, ...]:
    """A row an arm in the order of the study's list; none where the design has no check.

    `rows` are the counted verdicts on neurons (columns arm, item, verdict), `answers` the table of `held_out`.
    """
    if answers is None:
        return ()
    shown, checks = (_by_arm(session, study, kind) for kind in (ItemKind.NEURON, ItemKind.CHECK))
    about = set(_with_check(session, study))
    called = rows[(rows["verdict"] == "INTERPRETABLE") & rows["item"].isin(about)].groupby("arm")["item"].nunique()
    checked = answers.groupby("arm")["neuron"].nunique()
    return tuple(
        CheckedArm(
            arm.name, arm.condition, shown[arm.id], shown[arm.id] - checks[arm.id],
            int(called.get(number, 0)), int(checked.get(number, 0)),
        )
        for number, arm in enumerate(study.arms)
    )  # fmt: skip


def _by_arm(session: Session, study: Study, kind: ItemKind) -> Counter[int]:
    statement = (
        select(OpenedItem.arm_id, func.count())
        .join(Item, Item.id == OpenedItem.item_id)
        .join(Arm, Arm.id == OpenedItem.arm_id)
        .where(Item.study_id == study.id, Item.kind == kind)
        .group_by(OpenedItem.arm_id)
    )
    return Counter(dict(session.execute(statement).all()))


def _with_check(session: Session, study: Study) -> list[str]:
    """The codes of the items whose neuron has a check."""
    about = select(Item.repeat_of).where(Item.study_id == study.id, Item.kind == ItemKind.CHECK)
    return list(session.scalars(select(Item.code).where(Item.id.in_(about))))
