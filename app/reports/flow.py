"""What became of the neurons that were drawn and of the people who were invited, step by step."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Invitation, Item, ItemKind, Rater, RaterKind, Study
from app.reports.checked import CheckedArm, checked_arms
from app.studies.draw import SHOWN, neurons_of

if TYPE_CHECKING:
    import pandas as pd

    from app.reports.statistics.plan import Plan

WHY_REPLACED = {
    "dead": "never fired",
    "never_positive": "never positive",
    "too_few": "too few snippets",
    "not_finite": "activations that are no number",
}
"""The states of a neuron that cannot be shown, in words."""


@dataclass(frozen=True)
class Flow:
    """Counts at each step, from the draw to the analysis."""

    drawn: int
    """Neurons drawn, those that were replaced included."""
    replaced: dict[str, int]
    """Why drawn neurons were replaced by the next of their layer: reason, how many."""
    shown: int
    """Neurons that became items."""
    controls: int
    repeats: int
    with_verdict: int
    """Neurons with at least one verdict of the kind of rater that counts."""
    analysed: int
    """Neurons that enter the fractions."""
    invited: int
    """Single-use links made, and people who came by a reusable one."""
    consented: int
    trained: int
    """Raters who finished the practice items."""
    rated: int
    """Raters with a verdict that stands."""
    raters_analysed: int
    left_out: dict[str, int]
    """Why raters were left out by the plan: reason, how many."""
    deactivated: int
    """Raters whom an administrator deactivated; their verdicts count all the same."""
    withdrawn: int
    other_kinds: int
    """Raters of a kind that enters no figure of this study."""
    verdicts_on_controls: int
    verdicts_on_repeats: int
    checks: tuple[CheckedArm, ...]
    """How far the hypothesis check reached, a row an arm; empty where the design has none."""

    @property
    def with_check(self) -> int:
        """Neurons of all arms of which there is held-out text to check them on."""
        return sum(arm.shown - arm.without for arm in self.checks)

    @property
    def checked(self) -> int:
        """Neurons of all arms that were checked."""
        return sum(arm.checked for arm in self.checks)


def flow(
    session: Session, study: Study, table: "pd.DataFrame", plan: "Plan", held_out: "pd.DataFrame | None" = None
) -> Flow:
    """Count the steps; `table` is the table of verdicts, `held_out` that of the hypothesis check."""
    from app.reports.statistics.exclusions import raters_left_out
    from app.reports.statistics.verdicts import complete, counted, of_kind

    kinds = _items_by_kind(session, study)
    replaced = Counter(WHY_REPLACED.get(why, why) for why in _replaced(study))
    raters = session.scalars(select(Rater).where(Rater.study_id == study.id)).all()
    counting = [rater for rater in raters if rater.kind == RaterKind(plan.rater_kind)]
    whole = complete(table)
    # Whoever rated is counted before anybody is left out.
    rows = whole[(whole["kind"] == "neuron") & (whole["rater_kind"] == plan.rater_kind)]
    used = counted(whole, plan)
    return Flow(
        drawn=kinds[ItemKind.NEURON] + replaced.total(),
        replaced=dict(sorted(replaced.items())),
        shown=kinds[ItemKind.NEURON],
        controls=kinds[ItemKind.MIXED] + kinds[ItemKind.DIRECTION],
        repeats=kinds[ItemKind.REPEAT],
        with_verdict=rows["neuron"].nunique(),
        analysed=used["neuron"].nunique(),
        invited=_invited(session, study),
        consented=len(counting),
        trained=sum(rater.trained_at is not None for rater in counting),
        rated=rows["rater"].nunique(),
        raters_analysed=used["rater"].nunique(),
        left_out=dict(sorted(Counter(raters_left_out(whole, plan).values()).items())),
        deactivated=sum(rater.deactivated_at is not None and rater.withdrawn_at is None for rater in counting),
        withdrawn=sum(rater.withdrawn_at is not None for rater in counting),
        other_kinds=len(raters) - len(counting),
        verdicts_on_controls=len(of_kind(whole, plan, "mixed", "direction")),
        verdicts_on_repeats=len(of_kind(whole, plan, "repeat")),
        checks=checked_arms(session, study, used, held_out),
    )


def offered(study: Study) -> "pd.DataFrame":
    """For each arm, numbered as in its study: all its units, those that can be shown, the drawn ones that cannot."""
    import pandas as pd

    replaced = Counter(str(one["arm"]) for one in (study.opened or {}).get("replaced", []))
    rows = [
        (
            number,
            arm.condition,
            sum(map(len, neurons)),
            sum(layer.count(SHOWN) for layer in neurons),
            replaced[arm.name],
        )
        for number, arm in enumerate(study.arms)
        for neurons in [[neurons_of(layer) for layer in arm.offer]]
    ]
    return pd.DataFrame(rows, columns=["arm", "condition", "units", "live", "replaced"])


def _items_by_kind(session: Session, study: Study) -> Counter[ItemKind]:
    counts = select(Item.kind, func.count()).where(Item.study_id == study.id).group_by(Item.kind)
    return Counter(dict(session.execute(counts).all()))


def _replaced(study: Study) -> list[str]:
    """The state of each neuron that was drawn and replaced."""
    return [str(one["why"]) for one in (study.opened or {}).get("replaced", [])]


def _invited(session: Session, study: Study) -> int:
    single = select(func.count(Invitation.id)).where(Invitation.study_id == study.id, Invitation.reusable.is_(False))
    known = select(Invitation.id).where(Invitation.study_id == study.id, Invitation.reusable.is_(False))
    came = select(func.count(Rater.id)).where(
        Rater.study_id == study.id, Rater.invitation_id.is_(None) | Rater.invitation_id.not_in(known)
    )
    return (session.scalar(single) or 0) + (session.scalar(came) or 0)
