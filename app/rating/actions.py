from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, NotFound
from app.models import (
    Assignment,
    AssignmentState,
    Rater,
    RaterPhase,
    Rating,
    RatingAction,
    Sitting,
    StudyState,
    Verdict,
)
from app.rating.assignment import lease_is_over, page_state, wants_more
from app.rating.claiming import keep_in_hand, place_is_left
from app.rating.locking import lock_rater, require_rating
from app.rating.presence import begin, offer_break, seen
from app.rating.queries import (
    GIVEN_STATES,
    count_done,
    day_is_full,
    holds_any,
    last_verdict,
    may_any_return,
    newest_sitting,
    standing_of,
)
from app.rating.versions import add_version, checked_text, record, versions_of, with_key
from app.settings import Settings

NEARLY_OVER = timedelta(minutes=1)
"""No transaction lasts as long: a lease that runs at least this much longer cannot be lost while one is at work."""
OLD_PAGE = "This page is older than your last step. Go to the current neuron and answer there."
ALREADY_GIVEN = {  # whole sentences, so that they can be translated
    Verdict.INTERPRETABLE: "This neuron already has your verdict: interpretable. It was not changed. "
    "Go on with the current neuron, or change that verdict in the list of yours.",
    Verdict.NOT_INTERPRETABLE: "This neuron already has your verdict: not interpretable. It was not changed. "
    "Go on with the current neuron, or change that verdict in the list of yours.",
    Verdict.CANNOT_DECIDE: "This neuron already has your verdict: cannot decide. It was not changed. "
    "Go on with the current neuron, or change that verdict in the list of yours.",
}


def continue_sitting(session: Session, settings: Settings, rater: Rater, *, restart_clock: bool = False) -> None:
    """Begin, or go on after a pause: opens a sitting and takes an item in hand.

    `restart_clock`: the rater took the break that was offered, while the next item was in hand but not shown.
    """
    at = clock.now()
    if lock_rater(session, rater) is not StudyState.OPEN or rater.phase is not RaterPhase.RATING:
        return  # the page says so
    newest, holds = newest_sitting(session, rater), holds_any(session, rater)
    if page_state(standing_of(session, settings, rater, at, sitting=newest, holds=holds)) in ("finished", "enough"):
        return
    sitting = begin(session, settings, rater, at)
    _take_next(session, settings, rater, sitting, at, restart_clock=restart_clock or sitting.started_at == at)


def submit(
    session: Session,
    settings: Settings,
    rater: Rater,
    assignment_code: str,
    verdict: Verdict,
    hypothesis: str,
    idempotency_key: str,
    *,
    lined_up: bool = False,
    widened: bool = False,
) -> Rating:
    """Store a verdict and take the next item in hand. The same form sent again changes nothing."""
    at = clock.now()
    state = lock_rater(session, rater)
    assignment = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    versions = versions_of(session, assignment, idempotency_key)
    repeated = with_key(versions, idempotency_key)
    if repeated or assignment.state in GIVEN_STATES:
        return _same(repeated or versions[-1], assignment, verdict, text)
    require_rating(rater, state)
    late, surplus = _late_and_surplus(session, rater, assignment, at)
    sitting = seen(session, settings, rater, at)
    rating = Rating(
        version=len(versions) + 1, action=RatingAction.GIVEN, verdict=verdict, hypothesis=text,
        idempotency_key=idempotency_key, lined_up=lined_up, widened=widened, late=late, surplus=surplus,
    )  # fmt: skip
    assignment.state = AssignmentState.SURPLUS if surplus else AssignmentState.RATED
    assignment.draft = ""
    if sitting is not None:
        offer_break(sitting)
        session.flush()
        _take_next(session, settings, rater, sitting, at, restart_clock=True)
    # The log is last: it locks the study, which others wait for.
    return add_version(session, rater, assignment, sitting, at, rating)


def undo(session: Session, settings: Settings, rater: Rater, assignment_code: str, idempotency_key: str) -> None:
    """Take back the last verdict: its item comes back in hand, with its place, and what was written."""
    at = clock.now()
    state = lock_rater(session, rater)
    assignment = own_assignment(session, rater, assignment_code)
    versions = versions_of(session, assignment, idempotency_key)
    if with_key(versions, idempotency_key):
        return
    require_rating(rater, state)
    last = last_verdict(session, rater)
    if last is None or last.code != assignment_code:
        raise Conflict("Only your last verdict can be taken back. Earlier ones can be changed in the list of yours.")
    sitting = seen(session, settings, rater, at)
    filled_a_place = assignment.state is AssignmentState.RATED
    assignment.leased_until = at + settings.lease if filled_a_place else at
    assignment.state = AssignmentState.HELD
    assignment.draft = last.hypothesis
    rater.finished_at = None
    withdrawn = Rating(
        version=len(versions) + 1, action=RatingAction.WITHDRAWN, verdict=None, idempotency_key=idempotency_key
    )
    add_version(session, rater, assignment, sitting, at, withdrawn)
    assignment.shown_at = at


def edit(
    session: Session,
    settings: Settings,
    rater: Rater,
    assignment_code: str,
    version: int,
    verdict: Verdict,
    hypothesis: str,
    idempotency_key: str,
) -> Rating:
    """Change a verdict given earlier; `version` is the one the rater was looking at. Both are kept."""
    at = clock.now()
    state = lock_rater(session, rater)
    assignment = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    versions = versions_of(session, assignment, idempotency_key)
    repeated = with_key(versions, idempotency_key)
    if repeated:
        return _same(repeated, assignment, verdict, text)
    require_rating(rater, state)
    if assignment.state not in GIVEN_STATES or versions[-1].version != version:
        raise Conflict("This verdict was changed meanwhile, perhaps in another tab. Look at it again before you edit.")
    newest = versions[-1]
    if (newest.verdict, newest.hypothesis) == (verdict, text):
        return newest
    edited = Rating(
        version=version + 1, action=RatingAction.EDITED, verdict=verdict, hypothesis=text,
        idempotency_key=idempotency_key, late=newest.late, surplus=newest.surplus,
    )  # fmt: skip
    return add_version(session, rater, assignment, seen(session, settings, rater, at), at, edited)


def save_draft(session: Session, settings: Settings, rater: Rater, assignment_code: str, hypothesis: str) -> None:
    """Keep what is being written. Writing is a sign of life, so the lease runs on."""
    at = clock.now()
    state = lock_rater(session, rater)
    assignment = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    require_rating(rater, state)
    if assignment.state in GIVEN_STATES:
        raise Conflict(OLD_PAGE)
    keep_draft(settings, assignment, text, at)
    seen(session, settings, rater, at)


def keep_draft(settings: Settings, assignment: Assignment, text: str, at: datetime) -> None:
    assignment.draft = text
    if assignment.state is AssignmentState.HELD and assignment.leased_until - at > NEARLY_OVER:
        assignment.leased_until = at + settings.lease


def skip(session: Session, settings: Settings, rater: Rater, assignment_code: str) -> None:
    """The item could not be shown: its place goes back, and this rater is not offered it again."""
    at = clock.now()
    state = lock_rater(session, rater)
    assignment = own_assignment(session, rater, assignment_code)
    if assignment.state is AssignmentState.SKIPPED:
        return
    require_rating(rater, state)
    if assignment.state in GIVEN_STATES:
        raise Conflict(OLD_PAGE)
    assignment.state = AssignmentState.SKIPPED
    session.flush()
    sitting = seen(session, settings, rater, at)
    if sitting is not None:
        _take_next(session, settings, rater, sitting, at, restart_clock=True)
    record(session, rater, "item skipped", assignment=assignment.code)


def go_on(session: Session, settings: Settings, rater: Rater) -> None:
    """Rate beyond one's share."""
    at = clock.now()
    require_rating(rater, lock_rater(session, rater))
    if rater.share is not None:
        rater.share = None
        session.flush()
        record(session, rater, "went on beyond the share")
    _take_next(session, settings, rater, begin(session, settings, rater, at), at, restart_clock=True)


def own_assignment(session: Session, rater: Rater, code: str) -> Assignment:
    mine = select(Assignment).where(Assignment.rater_id == rater.id, Assignment.code == code)
    assignment = session.scalars(mine.execution_options(populate_existing=True)).one_or_none()
    if assignment is None:
        raise NotFound()
    return assignment


def _same(stored: Rating, assignment: Assignment, verdict: Verdict, hypothesis: str) -> Rating:
    """A form sent twice is answered as the first time; one that says something else is told."""
    if (stored.verdict, stored.hypothesis) == (verdict, hypothesis):
        return stored
    if assignment.state not in GIVEN_STATES or stored.verdict is None:
        raise Conflict(OLD_PAGE)
    raise Conflict(ALREADY_GIVEN[stored.verdict])


def _late_and_surplus(session: Session, rater: Rater, assignment: Assignment, at: datetime) -> tuple[bool, bool]:
    held = assignment.state is AssignmentState.HELD
    if held and assignment.leased_until - at > NEARLY_OVER:
        return False, False
    surplus = not place_is_left(session, rater, assignment.item_id, at)
    return surplus or not held or lease_is_over(assignment.leased_until, at), surplus


def _take_next(
    session: Session, settings: Settings, rater: Rater, sitting: Sitting, at: datetime, *, restart_clock: bool
) -> None:
    hand = keep_in_hand(session, settings, rater, at)
    if hand is not None:
        if restart_clock:
            hand.shown_at = at
    elif not (wants_more(count_done(session, rater), rater.share) and may_any_return(session, rater)):
        rater.finished_at = rater.finished_at or at
        sitting.ended_at = at
    elif day_is_full(session, rater, at):
        sitting.ended_at = at  # nothing more is given today
