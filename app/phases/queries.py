"""What raters see before and after rating. Only reads; the order of everything is the rater's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import and_, select
from sqlalchemy.orm import Session, aliased

from app import clock
from app.models import (
    Arm,
    Assignment,
    CheckAnswer,
    Guess,
    Item,
    ItemContent,
    ItemKind,
    Lesson,
    Phase,
    PracticeAnswer,
    Rater,
    Rating,
    Study,
    StudyState,
    Verdict,
)
from app.phases.order import Named, first_open, in_own_order
from app.rating.queries import design_of, newest_sitting, standing_verdicts

Answer = TypeVar("Answer", PracticeAnswer, CheckAnswer, Guess)


class Step(NamedTuple):
    """One item of a phase, and what this rater has said of it so far."""

    item_id: int
    answer: PracticeAnswer | CheckAnswer | Guess | None


@dataclass(frozen=True, kw_only=True)
class PhasePage:
    """What every page of a phase shows."""

    open: bool
    """The study takes answers."""
    number: int
    """The how-manieth of this rater, from 1."""
    of: int
    resting: Literal["paused", "sent away"] | None
    """The last sitting was ended, by the rater or by an administrator, and no other has begun."""
    fragment: bytes
    """The item's HTML, padded."""
    seconds: float
    """Since the rater's last step."""


@dataclass(frozen=True, kw_only=True)
class PracticePage(PhasePage):
    answer: PracticeAnswer | None
    """Given, and what it should have been not yet read."""
    lesson: Lesson | None
    """Known to this page only once there is an answer."""


@dataclass(frozen=True, kw_only=True)
class CheckPage(PhasePage):
    """A neuron that the rater called interpretable, and held-out snippets."""

    hypothesis: str
    rated: bytes
    """The snippets that it was rated on."""


@dataclass(frozen=True, kw_only=True)
class GuessPage(PhasePage):
    code: str
    """The rater's assignment of it, by which its wider text is asked for."""
    conditions: list[str]
    """What there is to choose from, by name."""


# ---- steps --------------------------------------------------------------------------------------


def practice_steps(session: Session, rater: Rater) -> list[Step]:
    items = select(Item.id, Item.code).where(Item.study_id == rater.study_id, Item.phase == Phase.PRACTICE)
    return _steps(session, rater, [Named(*row) for row in session.execute(items)], PracticeAnswer)


def check_steps(session: Session, rater: Rater) -> list[Step]:
    """The checks of the neurons that the rater called interpretable and that have one."""
    check = aliased(Item)
    statement = (
        standing_verdicts(rater)
        .join(check, and_(check.repeat_of == Assignment.item_id, check.phase == Phase.CHECK))
        .with_only_columns(check.id, check.code, maintain_column_froms=True)
        .order_by(None)
        .where(Rating.verdict == Verdict.INTERPRETABLE)
    )
    return _steps(session, rater, [Named(*row) for row in session.execute(statement)], CheckAnswer)


def guess_steps(session: Session, rater: Rater) -> list[Step]:
    """A sample of the neurons that the rater judged; neither controls nor repeats."""
    statement = (
        standing_verdicts(rater)
        .join(Item, Item.id == Assignment.item_id)
        .with_only_columns(Item.id, Item.code, maintain_column_froms=True)
        .order_by(None)
        .where(Item.kind == ItemKind.NEURON)
    )
    wanted = int(design_of(session, rater).get("guesses", 0))
    return _steps(session, rater, [Named(*row) for row in session.execute(statement)], Guess)[:wanted]


def _steps(session: Session, rater: Rater, items: Sequence[Named], of: type[Answer]) -> list[Step]:
    mine = select(of).where(of.rater_id == rater.id).execution_options(populate_existing=True)
    answers = {answer.item_id: answer for answer in session.scalars(mine)}
    return [Step(item, answers.get(item)) for item in in_own_order(rater.code, items)]


def current(steps: Sequence[Step]) -> int | None:
    """The step that the rater is at; a practice item is done once its answer was read."""
    return first_open([_is_done(step.answer) for step in steps])


def _is_done(answer: PracticeAnswer | CheckAnswer | Guess | None) -> bool:
    if isinstance(answer, PracticeAnswer):
        return answer.read_at is not None
    return answer is not None


# ---- pages --------------------------------------------------------------------------------------


def practice_page(session: Session, rater: Rater) -> PracticePage | None:
    """None where nothing is left."""
    steps = practice_steps(session, rater)
    number = current(steps)
    if number is None:
        return None
    item, answer = steps[number - 1]
    lesson = session.get_one(Lesson, item) if answer is not None else None
    known = answer if isinstance(answer, PracticeAnswer) else None
    return PracticePage(**_common(session, rater, number, steps), answer=known, lesson=lesson)


def check_page(session: Session, rater: Rater) -> CheckPage | None:
    steps = check_steps(session, rater)
    number = current(steps)
    if number is None:
        return None
    about = select(Item.repeat_of).where(Item.id == steps[number - 1].item_id).scalar_subquery()
    statement = (
        standing_verdicts(rater)
        .join(ItemContent, ItemContent.item_id == Assignment.item_id)
        .with_only_columns(Rating.hypothesis, ItemContent.fragment, maintain_column_froms=True)
        .order_by(None)
        .where(Assignment.item_id == about)
    )
    hypothesis, rated = session.execute(statement).one()
    return CheckPage(**_common(session, rater, number, steps), hypothesis=hypothesis, rated=rated)


def guess_page(session: Session, rater: Rater) -> GuessPage | None:
    steps = guess_steps(session, rater)
    number = current(steps)
    if number is None:
        return None
    mine = select(Assignment.code).where(
        Assignment.rater_id == rater.id, Assignment.item_id == steps[number - 1].item_id
    )
    common = _common(session, rater, number, steps)
    return GuessPage(**common, code=session.scalars(mine).one(), conditions=conditions_of(session, rater))


def _common(session: Session, rater: Rater, number: int, steps: Sequence[Step]) -> dict[str, Any]:
    state = session.scalars(select(Study.state).where(Study.id == rater.study_id)).one()
    return {
        "open": state is StudyState.OPEN,
        "number": number,
        "of": len(steps),
        "resting": _resting(session, rater),
        "fragment": session.get_one(ItemContent, steps[number - 1].item_id).fragment,
        "seconds": seconds_since_step(rater, clock.now()),
    }


def _resting(session: Session, rater: Rater) -> Literal["paused", "sent away"] | None:
    sitting = newest_sitting(session, rater)
    if sitting is None or not (sitting.paused or sitting.ended_by):
        return None
    return "paused" if sitting.paused else "sent away"


def seconds_since_step(rater: Rater, at: datetime) -> float:
    return max(0.0, (at - (rater.stepped_at or at)).total_seconds())


def wide_practice(session: Session, rater: Rater, number: int) -> bytes | None:
    """Of the item at hand and those before it."""
    steps = practice_steps(session, rater)
    if not 1 <= number <= (current(steps) or 0):
        return None
    return session.get_one(ItemContent, steps[number - 1].item_id).wide_fragment


def conditions_of(session: Session, rater: Rater) -> list[str]:
    return sorted(set(session.scalars(select(Arm.condition).where(Arm.study_id == rater.study_id))))
