"""Pause: a rater ends their sitting by their own act, and comes back to the same neuron."""

from sqlalchemy.orm import Session

from app import clock
from app.models import StudyState
from app.rating.actions import keep_draft, own_assignment
from app.rating.locked import LockedRater
from app.rating.presence import end, seen
from app.rating.sittings import is_over
from app.rating.statements import GIVEN_STATES
from app.rating.versions import checked_text
from app.settings import Settings


def pause(session: Session, settings: Settings, rater: LockedRater, assignment_code: str, hypothesis: str) -> None:
    """The neuron stays in hand, as long as any other; what is being written is kept. Twice changes nothing."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    if rater.study_state is not StudyState.OPEN or newest is None:
        return  # the page says so
    if is_over(newest.last_seen_at, newest.ended_at, at, settings.idle):
        return
    if assignment.state not in GIVEN_STATES:
        keep_draft(session, settings, assignment, text, at)
    sitting = seen(session, settings, rater, at, newest)
    if sitting is not None:
        end(session, sitting, at, paused=True)
