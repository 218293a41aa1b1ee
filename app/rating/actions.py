from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, NotFound
from app.models import AssignmentState, RaterPhase, RatingAction, StudyState, Verdict
from app.rating.assignment import lease_is_over, page_state, wants_more
from app.rating.claiming import Own, change, keep_in_hand, own, place_is_left
from app.rating.locked import LockedRater, SomeRater, change_rater, require_rating
from app.rating.presence import begin, end, offer_break, seen
from app.rating.queries import count_done, day_is_full, last_verdict, may_any_return, standing_of
from app.rating.sittings import NewestSitting, seconds_between
from app.rating.statements import GIVEN_STATES
from app.rating.versions import Version, add_version, checked_text, record, versions_of, with_key
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


def continue_sitting(session: Session, settings: Settings, rater: LockedRater, *, restart_clock: bool = False) -> None:
    """Begin, or go on after a pause: opens a sitting and takes an item in hand.

    `restart_clock`: the rater took the break that was offered, while the next item was in hand but not shown.
    """
    at = clock.now()
    if rater.study_state is not StudyState.OPEN or rater.phase is not RaterPhase.RATING:
        return  # the page says so
    if page_state(standing_of(session, settings, rater, at)) in ("finished", "enough"):
        return
    sitting = begin(session, settings, rater, at)
    _take_next(session, settings, rater, sitting, at, restart_clock=restart_clock or sitting.started_at == at)


def submit(
    session: Session,
    settings: Settings,
    rater: LockedRater,
    assignment_code: str,
    verdict: Verdict,
    hypothesis: str,
    idempotency_key: str,
    *,
    lined_up: bool = False,
    widened: bool = False,
) -> Version:
    """Store a verdict and take the next item in hand. The same form sent again changes nothing."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    versions = versions_of(session, assignment.id, idempotency_key)
    repeated = with_key(versions, idempotency_key)
    if repeated or assignment.state in GIVEN_STATES:
        return _same(repeated or versions[-1], assignment, verdict, text)
    require_rating(rater)
    in_time = _in_time(assignment, at)
    late, surplus = (False, False) if in_time else _late_and_surplus(session, rater, assignment, at)
    sitting = seen(session, settings, rater, at, newest)
    change(session, assignment.id, state=AssignmentState.SURPLUS if surplus else AssignmentState.RATED, draft="")
    if sitting is not None:
        offer_break(session, sitting)
        _take_next(session, settings, rater, sitting, at, restart_clock=True, wait=in_time)
    given = Version(
        assignment_id=assignment.id, version=len(versions) + 1, action=RatingAction.GIVEN, verdict=verdict,
        hypothesis=text, idempotency_key=idempotency_key, sitting_id=sitting.id if sitting else None, at=at,
        seconds=seconds_between(assignment.shown_at, at),
        lined_up=lined_up, widened=widened, late=late, surplus=surplus,
    )  # fmt: skip
    # The log is last: it locks the study, which others wait for.
    return add_version(session, rater, assignment.code, given)


def undo(session: Session, settings: Settings, rater: LockedRater, assignment_code: str, idempotency_key: str) -> None:
    """Take back the last verdict: its item comes back in hand, with its place, and what was written."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    versions = versions_of(session, assignment.id, idempotency_key)
    if with_key(versions, idempotency_key):
        return
    require_rating(rater)
    last = last_verdict(session, rater)
    if last is None or last.code != assignment_code:
        raise Conflict("Only your last verdict can be taken back. Earlier ones can be changed in the list of yours.")
    sitting = seen(session, settings, rater, at, newest)
    filled_a_place = assignment.state is AssignmentState.RATED
    leased_until = at + settings.lease if filled_a_place else at
    change(
        session, assignment.id,
        state=AssignmentState.HELD, leased_until=leased_until, shown_at=at, draft=last.hypothesis,
    )  # fmt: skip
    if rater.finished_at is not None:
        rater = change_rater(session, rater, finished_at=None)
    withdrawn = Version(
        assignment_id=assignment.id, version=len(versions) + 1, action=RatingAction.WITHDRAWN, verdict=None,
        idempotency_key=idempotency_key, sitting_id=sitting.id if sitting else None, at=at,
        seconds=seconds_between(assignment.shown_at, at),
    )  # fmt: skip
    add_version(session, rater, assignment.code, withdrawn)


def edit(
    session: Session,
    settings: Settings,
    rater: LockedRater,
    assignment_code: str,
    version: int,
    verdict: Verdict,
    hypothesis: str,
    idempotency_key: str,
) -> Version:
    """Change a verdict given earlier; `version` is the one the rater was looking at. Both are kept."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    versions = versions_of(session, assignment.id, idempotency_key)
    repeated = with_key(versions, idempotency_key)
    if repeated:
        return _same(repeated, assignment, verdict, text)
    require_rating(rater)
    if assignment.state not in GIVEN_STATES or versions[-1].version != version:
        raise Conflict("This verdict was changed meanwhile, perhaps in another tab. Look at it again before you edit.")
    standing = versions[-1]
    if (standing.verdict, standing.hypothesis) == (verdict, text):
        return standing
    sitting = seen(session, settings, rater, at, newest)
    edited = Version(
        assignment_id=assignment.id, version=version + 1, action=RatingAction.EDITED, verdict=verdict,
        hypothesis=text, idempotency_key=idempotency_key, sitting_id=sitting.id if sitting else None, at=at,
        seconds=seconds_between(assignment.shown_at, at), late=standing.late, surplus=standing.surplus,
    )  # fmt: skip
    return add_version(session, rater, assignment.code, edited)


def save_draft(session: Session, settings: Settings, rater: LockedRater, assignment_code: str, hypothesis: str) -> None:
    """Keep what is being written. Writing is a sign of life, so the lease runs on."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    text = checked_text(hypothesis)
    require_rating(rater)
    if assignment.state in GIVEN_STATES:
        raise Conflict(OLD_PAGE)
    keep_draft(session, settings, assignment, text, at)
    seen(session, settings, rater, at, newest)


def keep_draft(session: Session, settings: Settings, assignment: Own, text: str, at: datetime) -> None:
    runs_on = assignment.state is AssignmentState.HELD and assignment.leased_until - at > NEARLY_OVER
    change(session, assignment.id, draft=text, leased_until=at + settings.lease if runs_on else assignment.leased_until)


def skip(session: Session, settings: Settings, rater: LockedRater, assignment_code: str) -> None:
    """The item could not be shown: its place goes back, and this rater is not offered it again."""
    at = clock.now()
    assignment, newest = own_assignment(session, rater, assignment_code)
    if assignment.state is AssignmentState.SKIPPED:
        return
    require_rating(rater)
    if assignment.state in GIVEN_STATES:
        raise Conflict(OLD_PAGE)
    change(session, assignment.id, state=AssignmentState.SKIPPED)
    sitting = seen(session, settings, rater, at, newest)
    if sitting is not None:
        _take_next(session, settings, rater, sitting, at, restart_clock=True)
    record(session, rater, "item skipped", assignment=assignment.code)


def go_on(session: Session, settings: Settings, rater: LockedRater) -> None:
    """Rate beyond one's share."""
    at = clock.now()
    require_rating(rater)
    if rater.share is not None:
        rater = change_rater(session, rater, share=None)
        record(session, rater, "went on beyond the share")
    _take_next(session, settings, rater, begin(session, settings, rater, at), at, restart_clock=True)


def own_assignment(session: Session, rater: SomeRater, code: str) -> tuple[Own, NewestSitting | None]:
    """With the rater's newest sitting."""
    found = own(session, rater, code)
    if found is None:
        raise NotFound()
    return found


def _same(stored: Version, assignment: Own, verdict: Verdict, hypothesis: str) -> Version:
    """A form sent twice is answered as the first time; one that says something else is told."""
    if (stored.verdict, stored.hypothesis) == (verdict, hypothesis):
        return stored
    if assignment.state not in GIVEN_STATES or stored.verdict is None:
        raise Conflict(OLD_PAGE)
    raise Conflict(ALREADY_GIVEN[stored.verdict])


def _in_time(assignment: Own, at: datetime) -> bool:
    return assignment.state is AssignmentState.HELD and assignment.leased_until - at > NEARLY_OVER


def _late_and_surplus(session: Session, rater: SomeRater, assignment: Own, at: datetime) -> tuple[bool, bool]:
    """Of a verdict that may not be in time. Its item stays locked."""
    surplus = not place_is_left(session, rater, assignment.item_id, at)
    held = assignment.state is AssignmentState.HELD
    return surplus or not held or lease_is_over(assignment.leased_until, at), surplus


def _take_next(
    session: Session,
    settings: Settings,
    rater: LockedRater,
    sitting: NewestSitting,
    at: datetime,
    *,
    restart_clock: bool,
    wait: bool = True,
) -> None:
    if keep_in_hand(session, settings, rater, at, restart_clock=restart_clock, wait=wait):
        return
    if not (wants_more(count_done(session, rater), rater.share) and may_any_return(session, rater)):
        if rater.finished_at is None:
            change_rater(session, rater, finished_at=at)
        end(session, sitting, at)
    elif day_is_full(session, rater, at):
        end(session, sitting, at)  # nothing more is given today
