"""What raters do before and after rating. Each answer is given once; the same form sent again changes nothing."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, Invalid
from app.models import CheckAnswer, Guess, Item, PracticeAnswer, Rater, RaterPhase, StudyState, Verdict
from app.phases.chained import CHECKED, GUESSED, PRACTISED, answer_digest
from app.phases.queries import (
    Step,
    check_steps,
    conditions_of,
    current,
    guess_steps,
    practice_steps,
    seconds_since_step,
)
from app.rating.assignment import page_state
from app.rating.locked import lock_loaded, require_open
from app.rating.phases import next_phase
from app.rating.presence import begin, seen
from app.rating.queries import design_of, newest_sitting, standing_of
from app.rating.versions import checked_text, record
from app.settings import Settings

UNKNOWN = "UNKNOWN"
"""What a form says for “don't know”."""
OLD_PAGE = "This page is older than your last step. Go on here."
GIVEN = "You have answered this one already, and your first answer stays. Go on here."
NOT_NOW = "You are at another part of the study. Go on there."
STILL_RATING = "There are neurons left for you to rate. Rate them first."


def answer_practice(
    session: Session, settings: Settings, rater: Rater, number: int, verdict: Verdict, hypothesis: str
) -> None:
    """A verdict on a practice item; what it should have been is shown next."""
    at, state = clock.now(), lock_loaded(session, rater)
    text = checked_text(hypothesis)
    steps = _steps_at(session, rater, state, RaterPhase.PRACTICE)
    given = _given(steps, number)
    if isinstance(given, PracticeAnswer):
        if (given.verdict, given.hypothesis) != (verdict, text):
            raise Conflict(GIVEN)
        return
    answer = PracticeAnswer(verdict=verdict, hypothesis=text, at=at)
    _keep(session, settings, rater, steps[number - 1].item_id, answer, at)
    _chain(session, rater, PRACTISED, number, steps, verdict.value)


def read_lesson(session: Session, settings: Settings, rater: Rater, number: int) -> None:
    """The rater has read what a practice item teaches. After the last one, rating begins."""
    at, state = clock.now(), lock_loaded(session, rater)
    if rater.phase is not RaterPhase.PRACTICE:
        return  # the same form again
    steps = _steps_at(session, rater, state, RaterPhase.PRACTICE)
    if not 1 <= number <= len(steps):
        raise Conflict(OLD_PAGE)
    answer = steps[number - 1].answer
    if not isinstance(answer, PracticeAnswer):
        raise Conflict(OLD_PAGE)
    seen(session, settings, rater, at, newest_sitting(session, rater))
    rater.stepped_at = at
    answer.read_at = answer.read_at or at
    if current(steps) is None:
        rater.trained_at = at
        _enter(session, rater, RaterPhase.RATING, at)


def leave_rating(session: Session, settings: Settings, rater: Rater) -> None:
    """On to what comes after rating. Verdicts can neither be given nor changed from here on."""
    at, state = clock.now(), lock_loaded(session, rater)
    if rater.phase is not RaterPhase.RATING:
        return
    require_open(state)
    if page_state(standing_of(session, settings, rater, at)) != "finished":
        raise Conflict(STILL_RATING)
    if _next_phase(session, rater) is None:
        raise Conflict(NOT_NOW)
    begin(session, settings, rater, at)  # also after a pause: the rater goes on by their own act
    _go_on(session, rater, at)


def answer_check(session: Session, settings: Settings, rater: Rater, number: int, fires: Sequence[int]) -> None:
    """In which of the held-out snippets the neuron fires, by the rater's own rule."""
    at, state = clock.now(), lock_loaded(session, rater)
    ticked = sorted(set(fires))
    snippets = int(design_of(session, rater).get("check_snippets", 0))
    strange = [one for one in ticked if not 1 <= one <= snippets]
    if strange:
        raise Invalid(
            "A page of the check has %(n)s snippets, and none is number %(number)s. Go back and tick again.",
            n=snippets, number=strange[0],
        )  # fmt: skip
    steps = _steps_at(session, rater, state, RaterPhase.CHECK)
    given = _given(steps, number)
    if isinstance(given, CheckAnswer):
        if given.fires != ticked:
            raise Conflict(GIVEN)
        return
    _keep(session, settings, rater, steps[number - 1].item_id, CheckAnswer(fires=ticked, at=at), at)
    _chain(session, rater, CHECKED, number, steps, " ".join(map(str, ticked)))
    if number == len(steps):
        _go_on(session, rater, at)


def stop_checking(session: Session, settings: Settings, rater: Rater) -> None:
    """Enough: the neurons that were not checked stay without. Their order was drawn, so nothing is chosen by it."""
    at, state = clock.now(), lock_loaded(session, rater)
    if rater.phase is RaterPhase.CHECK:
        require_open(state)
        seen(session, settings, rater, at, newest_sitting(session, rater))
        _go_on(session, rater, at)


def guess(session: Session, settings: Settings, rater: Rater, number: int, condition: str) -> None:
    """Which condition an item is from; UNKNOWN for “don't know”."""
    at, state = clock.now(), lock_loaded(session, rater)
    if condition not in (UNKNOWN, *conditions_of(session, rater)):
        raise Invalid(
            "“%(condition)s” is none of the kinds of model in this study. Go back and choose one.", condition=condition
        )
    said = None if condition == UNKNOWN else condition
    steps = _steps_at(session, rater, state, RaterPhase.GUESSES)
    given = _given(steps, number)
    if isinstance(given, Guess):
        if given.condition != said:
            raise Conflict(GIVEN)
        return
    _keep(session, settings, rater, steps[number - 1].item_id, Guess(condition=said, at=at), at)
    _chain(session, rater, GUESSED, number, steps, condition)
    if number == len(steps):
        _go_on(session, rater, at)


def _steps_at(session: Session, rater: Rater, state: StudyState, phase: RaterPhase) -> list[Step]:
    require_open(state)
    if rater.phase is not phase:
        raise Conflict(NOT_NOW)
    return STEPS[phase](session, rater)


STEPS = {RaterPhase.PRACTICE: practice_steps, RaterPhase.CHECK: check_steps, RaterPhase.GUESSES: guess_steps}


def _given(steps: Sequence[Step], number: int) -> PracticeAnswer | CheckAnswer | Guess | None:
    """The answer that there is. Raises Conflict where the page is not about the rater's own step."""
    if 1 <= number <= len(steps) and (steps[number - 1].answer is not None or number == current(steps)):
        return steps[number - 1].answer
    raise Conflict(OLD_PAGE)


def _keep(
    session: Session,
    settings: Settings,
    rater: Rater,
    item_id: int,
    answer: PracticeAnswer | CheckAnswer | Guess,
    at: datetime,
) -> None:
    seen(session, settings, rater, at, newest_sitting(session, rater))
    answer.rater_id, answer.item_id, answer.seconds = rater.id, item_id, seconds_since_step(rater, at)
    rater.stepped_at = at
    session.add(answer)
    session.flush()


def _chain(session: Session, rater: Rater, what: str, number: int, steps: Sequence[Step], said: str) -> None:
    """A line of the log: no answer can be changed, added or taken away unseen."""
    item = session.get_one(Item, steps[number - 1].item_id)
    record(session, rater, what, number=number, of=len(steps), digest=answer_digest(rater.code, item.code, said))


def _next_phase(session: Session, rater: Rater) -> RaterPhase | None:
    return next_phase(rater.phase, design_of(session, rater))


def _go_on(session: Session, rater: Rater, at: datetime) -> None:
    """Enter the next phase in which there is something for this rater to do."""
    while (following := _next_phase(session, rater)) is not None:
        _enter(session, rater, following, at)
        if following not in STEPS or STEPS[following](session, rater):
            return


def _enter(session: Session, rater: Rater, phase: RaterPhase, at: datetime) -> None:
    rater.phase, rater.stepped_at = phase, at
    session.flush()
    record(session, rater, "phase entered", phase=phase.value)
