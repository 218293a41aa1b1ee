"""A neuron that was skipped, left behind or freed goes to somebody else, and nothing is lost."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Assignment, AssignmentState, Sitting
from tests.app.rating.counted import ByName
from tests.app.seated import NO, UNSURE, YES, Clock, faults, item_of


def test_a_skip_gives_the_place_back_and_an_undecided_verdict_fills_it(session: Session, rater: ByName) -> None:
    mine, theirs = rater("A"), rater("B")
    broken = item_of(session, mine.begin().code)
    code = mine.page.code
    mine.skip()
    mine.skip(code)  # sent twice
    assert item_of(session, mine.page.code) != broken
    mine.give(UNSURE)
    mine.give(UNSURE)
    theirs.begin()
    seen = []
    while theirs.page.state == "item":
        seen.append(item_of(session, theirs.page.code))
        theirs.give()
    assert broken in seen
    assert len(seen) == 2
    assert session.scalars(select(func.count()).where(Assignment.state == AssignmentState.RATED)).one() == 4


def test_a_neuron_left_behind_is_offered_again_and_its_late_verdict_is_kept(
    session: Session, rater: ByName, time: Clock
) -> None:
    slow, quick = rater("A"), rater("B")
    left = item_of(session, slow.begin().code)
    code = slow.page.code
    time.wait(minutes=31)
    quick.rater.share = None
    quick.begin()
    seen = []
    while quick.page.state == "item":
        seen.append(item_of(session, quick.page.code))
        quick.give()
    assert left in seen
    late = slow.give(YES, "late", code=code)
    assert (late.late, late.surplus) == (True, True)
    assert slow.give(YES, "late", code=code).id == late.id
    assert session.scalars(select(Assignment.state).where(Assignment.code == code)).one() is AssignmentState.SURPLUS
    assert slow.page.done == 1
    assert faults(session, time.now()) == []


def test_a_late_verdict_counts_where_nobody_took_the_place(session: Session, rater: ByName, time: Clock) -> None:
    hand = rater("A")
    code = hand.begin().code
    time.wait(hours=3)
    rating = hand.give(code=code)
    assert (rating.late, rating.surplus) == (True, False)
    assert hand.page.state == "item"  # and goes on, in a new sitting
    assert session.scalars(select(func.count()).select_from(Sitting)).one() == 2


def test_undoing_a_surplus_verdict_takes_no_place(session: Session, rater: ByName, time: Clock) -> None:
    slow, quick = rater("A"), rater("B")
    code = slow.begin().code
    time.wait(minutes=31)
    quick.rater.share = None
    quick.begin()
    while quick.page.state == "item":
        quick.give()
    slow.give(code=code)
    slow.undo()
    assert faults(session, time.now()) == []
    again = slow.give(NO, code=code)
    assert (again.late, again.surplus) == (True, True)
    assert faults(session, time.now()) == []


def test_coming_back_resumes_at_the_same_neuron_or_at_the_next_one_if_it_is_gone(
    session: Session, rater: ByName, time: Clock
) -> None:
    slow, quick = rater("A"), rater("B")
    kept = slow.begin().code
    time.wait(hours=20)
    assert slow.page.state == "begin"
    assert slow.begin().code == kept
    assert slow.page.seconds == 0  # the soft clock starts again
    time.wait(minutes=-5)
    assert slow.page.seconds == 0, "the server's clock was set back"
    time.wait(minutes=5)
    time.wait(hours=20)
    quick.rater.share = None
    quick.begin()
    while quick.page.code is not None and item_of(session, quick.page.code) != item_of(session, kept):
        quick.give()
    quick.give()
    assert slow.begin().code != kept


def test_a_neuron_that_was_lost_may_be_taken_again_under_the_same_code(
    session: Session, rater: ByName, time: Clock
) -> None:
    slow, quick = rater("A"), rater("B")
    slow.rater.share = quick.rater.share = None
    lost = slow.begin().code
    time.wait(minutes=31)
    quick.begin()
    while item_of(session, quick.page.code) != item_of(session, lost):
        quick.give()
    held = quick.page.code
    assert slow.begin().code != lost
    quick.skip(held)
    slow.begin()
    while slow.page.state == "item" and slow.page.code != lost:
        slow.give()
    assert slow.page.code == lost
    assert faults(session, time.now()) == []


def test_others_hold_what_is_left_then_one_comes_back(session: Session, rater: ByName, time: Clock) -> None:
    mine, theirs = rater("A"), rater("B")
    mine.rater.share = None
    theirs.begin()
    mine.begin()
    while mine.page.state == "item":
        mine.give()
    assert mine.page.state == "waiting"
    assert mine.begin().state == "waiting"
    theirs.skip()
    assert mine.page.state == "begin"  # its button claims; a page that is only read does not
    assert mine.begin().state == "item"


def test_somebody_who_finished_has_work_again_when_a_place_is_released(rater: ByName, time: Clock) -> None:
    mine, theirs = rater("A"), rater("B")
    mine.rater.share = 4
    theirs.begin()
    theirs.give()
    theirs.give()
    mine.begin()
    while mine.page.state == "item":
        mine.give()
    assert mine.page.state == "finished"
    assert mine.rater.finished_at is not None
    theirs.undo()
    theirs.skip()
    assert mine.page.state == "begin"
    assert mine.begin().state == "item"
    assert mine.rater.finished_at is None
    mine.give()
    assert mine.page.state == "finished"
