"""Pause before and after rating: a rater ends their sitting by their own act, and comes back to the same page."""

from sqlalchemy.orm import Session

from app import clock
from app.models import Rater, RaterPhase, StudyState
from app.rating.locked import lock_loaded
from app.rating.presence import begin, end, seen
from app.rating.queries import newest_sitting
from app.settings import Settings

PAUSABLE = (RaterPhase.PRACTICE, RaterPhase.CHECK, RaterPhase.GUESSES)


def pause(session: Session, settings: Settings, rater: Rater) -> None:
    """Nothing is answered. Twice changes nothing, and neither does it where an administrator ended the sitting."""
    at, state = clock.now(), lock_loaded(session, rater)
    if state is not StudyState.OPEN or rater.phase not in PAUSABLE:
        return  # the page says so
    sitting = seen(session, settings, rater, at, newest_sitting(session, rater))
    if sitting is not None:
        end(session, sitting, at, paused=True)


def go_on(session: Session, settings: Settings, rater: Rater) -> None:
    """Open a new sitting. The time of the answer at hand starts again: the page was not shown meanwhile."""
    at, state = clock.now(), lock_loaded(session, rater)
    if state is not StudyState.OPEN or rater.phase not in PAUSABLE:
        return
    if begin(session, settings, rater, at).started_at == at:
        rater.stepped_at = at
