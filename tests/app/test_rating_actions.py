from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid, NotFound
from app.log import first_broken_line
from app.models import Assignment, AssignmentState, Event, Rating, RatingAction, Sitting, Study, StudyState
from app.rating import actions
from app.rating.queries import given_verdicts, wide_fragment
from app.settings import Settings
from tests.app.seated import NO, UNSURE, YES, Clock, Hand, faults, item_of, join, seated_study


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=4, seats=2)


Rater = Callable[[str], Hand]


@pytest.fixture
def rater(session: Session, settings: Settings, study: Study) -> Rater:
    return lambda name: Hand(session, settings, join(session, study, name))


def rows(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(Rating)).one()


def test_a_rater_begins_rates_their_share_and_is_thanked(session: Session, rater: Rater) -> None:
    hand = rater("A")
    assert hand.page.state == "begin"
    assert hand.page.share == 2
    page = hand.begin()
    assert (page.state, page.done, page.fragment) == ("item", 0, b"%d" % item_of(session, page.code))
    hand.give(YES, "commas")
    assert (hand.page.state, hand.page.done) == ("item", 1)
    hand.give(UNSURE)
    assert (hand.page.state, hand.page.done, hand.page.code, hand.page.fragment) == ("finished", 2, None, b"")
    assert hand.rater.finished_at is not None
    assert hand.begin().state == "finished"  # it stays there, whatever is pressed again


def test_reading_a_page_writes_nothing(session: Session, rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    session.flush()
    _ = hand.page
    assert not session.new
    assert not session.dirty


def test_the_same_form_twice_gives_one_row_and_the_same_answer(session: Session, rater: Rater) -> None:
    hand = rater("A")
    code = hand.begin().code
    first = hand.give(YES, "commas\r\nand dots", code=code, key="k1")
    second = hand.give(YES, "commas\r\nand dots", code=code, key="k1")
    assert first.id == second.id
    assert rows(session) == 1
    assert hand.page.done == 1


def test_a_second_tab_that_says_the_same_is_answered_and_one_that_differs_is_told(
    session: Session, rater: Rater
) -> None:
    hand = rater("A")
    code = hand.begin().code
    hand.give(NO, "", code=code)
    hand.give(NO, "", code=code)
    with pytest.raises(Conflict, match="already has your verdict: not interpretable"):
        hand.give(YES, "", code=code)
    with pytest.raises(Conflict, match="already has your verdict"):
        hand.give(NO, "but now with a reason", code=code)
    assert rows(session) == 1


def test_a_key_that_was_used_for_another_neuron_is_refused(session: Session, rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    hand.give(key="k1")
    with pytest.raises(Conflict, match="another neuron"):
        hand.give(key="k1")
    other = rater("B")
    other.begin()
    with pytest.raises(Conflict, match="another neuron"):
        other.give(key="k1")
    assert rows(session) == 1


def test_another_raters_assignment_is_not_there(rater: Rater, session: Session, settings: Settings) -> None:
    mine, theirs = rater("A"), rater("B")
    code = mine.begin().code
    theirs.begin()
    assert code is not None
    with pytest.raises(NotFound):
        theirs.give(code=code)
    with pytest.raises(NotFound):
        theirs.skip(code)
    with pytest.raises(NotFound):
        theirs.undo(code)
    with pytest.raises(NotFound):
        actions.save_draft(session, settings, theirs.locked, code, "text")
    assert wide_fragment(session, theirs.rater, code) is None
    assert wide_fragment(session, mine.rater, code) == b"wide"


def test_undo_brings_the_neuron_and_the_words_back_and_keeps_both_versions(session: Session, rater: Rater) -> None:
    hand = rater("A")
    first = hand.begin().code
    hand.give(YES, "commas")
    second = hand.page.code
    page = hand.undo()
    assert (page.code, page.draft, page.done, page.last_verdict) == (first, "commas", 0, None)
    hand.give(NO)
    assert hand.page.code == second  # it stayed in hand meanwhile
    given = session.scalars(select(Rating).order_by(Rating.id)).all()
    assert [(r.version, r.action, r.verdict) for r in given] == [
        (1, RatingAction.GIVEN, YES),
        (2, RatingAction.WITHDRAWN, None),
        (3, RatingAction.GIVEN, NO),
    ]


def test_an_undo_sent_twice_undoes_once_and_an_older_verdict_is_not_undone(session: Session, rater: Rater) -> None:
    hand = rater("A")
    first = hand.begin().code
    hand.give()
    hand.give()
    with pytest.raises(Conflict, match="Only your last verdict"):
        hand.undo(first)
    hand.undo(key="u1")
    again = hand.page.code
    hand.undo(again, key="u1")
    assert rows(session) == 3
    assert hand.page.code == again


def test_an_old_page_sent_after_undo_changes_nothing(session: Session, rater: Rater) -> None:
    hand = rater("A")
    code = hand.begin().code
    hand.give(YES, code=code, key="k1")
    hand.undo()
    hand.give(YES, code=code, key="k1")
    assert hand.page.done == 0
    with pytest.raises(Conflict, match="older than your last step"):
        hand.give(NO, code=code, key="k1")
    assert rows(session) == 2


def test_undo_after_the_last_verdict_gives_work_again(rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    hand.give()
    hand.give()
    page = hand.undo()
    assert (page.state, page.done) == ("item", 1)
    assert hand.rater.finished_at is None
    hand.give()
    assert hand.page.state == "finished"


def test_editing_adds_a_version_and_a_second_tab_is_told(session: Session, settings: Settings, rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    hand.give(YES, "commas")
    seen = given_verdicts(session, hand.rater)[0]
    actions.edit(session, settings, hand.locked, seen.code, seen.version, NO, "", "e1")
    actions.edit(session, settings, hand.locked, seen.code, seen.version, NO, "", "e1")
    with pytest.raises(Conflict, match="changed meanwhile"):
        actions.edit(session, settings, hand.locked, seen.code, seen.version, UNSURE, "", "e2")
    now = given_verdicts(session, hand.rater)[0]
    assert (now.verdict, now.version, now.edited, hand.page.done) == (NO, 2, True, 1)
    unchanged = actions.edit(session, settings, hand.locked, seen.code, now.version, NO, "", "e3")
    assert unchanged.version == 2
    assert rows(session) == 2


def test_a_skip_gives_the_place_back_and_an_undecided_verdict_fills_it(session: Session, rater: Rater) -> None:
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
    session: Session, rater: Rater, time: Clock
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


def test_a_late_verdict_counts_where_nobody_took_the_place(session: Session, rater: Rater, time: Clock) -> None:
    hand = rater("A")
    code = hand.begin().code
    time.wait(hours=3)
    rating = hand.give(code=code)
    assert (rating.late, rating.surplus) == (True, False)
    assert hand.page.state == "item"  # and goes on, in a new sitting
    assert session.scalars(select(func.count()).select_from(Sitting)).one() == 2


def test_undoing_a_surplus_verdict_takes_no_place(session: Session, rater: Rater, time: Clock) -> None:
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
    session: Session, rater: Rater, time: Clock
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
    session: Session, rater: Rater, time: Clock
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


def test_others_hold_what_is_left_then_one_comes_back(session: Session, rater: Rater, time: Clock) -> None:
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


def test_somebody_who_finished_has_work_again_when_a_place_is_released(rater: Rater, time: Clock) -> None:
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


def test_going_on_beyond_ones_share(rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    hand.give()
    hand.give()
    assert (hand.page.state, hand.page.may_go_on) == ("finished", True)
    actions.go_on(hand.session, hand.settings, hand.locked)
    assert (hand.page.state, hand.page.share) == ("item", None)
    hand.give()
    hand.give()
    assert (hand.page.state, hand.page.done, hand.page.may_go_on) == ("finished", 4, False)


@pytest.mark.parametrize("state", [StudyState.CLOSED, StudyState.UNBLINDED])
def test_after_closing_no_verdict_is_taken_and_nothing_is_lost(
    session: Session, settings: Settings, study: Study, rater: Rater, state: StudyState
) -> None:
    hand = rater("A")
    hand.begin()
    hand.give(key="k1")
    first = given_verdicts(session, hand.rater)[0]
    page = hand.page
    assert page.code is not None
    actions.save_draft(session, settings, hand.locked, page.code, "half a thought")
    study.state = state
    session.flush()
    assert (hand.page.state, hand.page.last_verdict) == ("closed", None)
    refused = [
        lambda: hand.give(code=page.code),
        lambda: hand.undo(first.code),
        lambda: hand.skip(page.code),
        lambda: actions.edit(session, settings, hand.locked, first.code, first.version, NO, "", "e"),
        lambda: actions.save_draft(session, settings, hand.locked, page.code or "", "more"),
        lambda: actions.go_on(session, settings, hand.locked),
    ]
    for act in refused:
        with pytest.raises(Conflict, match="closed"):
            act()
    assert rows(session) == 1
    assert hand.give(code=first.code, key="k1").version == 1  # what was stored is answered as before
    assert hand.begin().state == "closed"
    draft = session.scalars(select(Assignment.draft).where(Assignment.code == page.code)).one()
    assert draft == "half a thought"


def test_a_draft_is_kept_and_prolongs_the_lease(
    session: Session, settings: Settings, rater: Rater, time: Clock
) -> None:
    hand = rater("A")
    code = hand.begin().code
    assert code is not None
    text = "line one\nline “two”, =1+1 🐟"
    time.wait(minutes=20)
    actions.save_draft(session, settings, hand.locked, code, text)
    assert hand.page.draft == text
    lease = session.scalars(select(Assignment.leased_until).where(Assignment.code == code)).one()
    assert lease == time.now() + timedelta(minutes=30)
    hand.give(YES, text)
    assert given_verdicts(session, hand.rater)[0].hypothesis == text
    with pytest.raises(Conflict, match="older"):
        actions.save_draft(session, settings, hand.locked, code, "too late")


def test_a_hypothesis_that_is_too_long_is_refused_with_its_length(rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    with pytest.raises(Invalid, match="2001 characters; at most 2000"):
        hand.give(YES, "x" * 2001)
    assert hand.give(YES, "é" * 2000).hypothesis == "é" * 2000


def test_progress_is_counted_from_the_rows(session: Session, settings: Settings, rater: Rater) -> None:
    hand = rater("A")
    hand.rater.share = None
    hand.begin()
    hand.give()
    hand.give()
    hand.skip()
    seen = given_verdicts(session, hand.rater)[0]
    actions.edit(session, settings, hand.locked, seen.code, seen.version, NO, "", "e1")
    hand.undo(seen.code)
    assert hand.page.done == 1
    assert len(given_verdicts(session, hand.rater)) == 1


def test_the_log_holds_digests_and_no_words(session: Session, study: Study, rater: Rater) -> None:
    hand = rater("A")
    hand.begin()
    hand.give(YES, "a rule that nobody may read")
    hand.undo()
    hand.skip()
    events = session.scalars(select(Event).where(Event.study_id == study.id).order_by(Event.line)).all()
    assert [e.what for e in events][-3:] == ["verdict given", "verdict withdrawn", "item skipped"]
    assert first_broken_line(events) is None
    assert "nobody may read" not in str([e.detail for e in events])
    assert "INTERPRETABLE" not in str([e.detail for e in events])


def test_how_it_was_looked_at_is_stored_with_the_verdict(
    session: Session, settings: Settings, rater: Rater, time: Clock
) -> None:
    hand = rater("A")
    code = hand.begin().code
    assert code is not None
    time.wait(seconds=47.5)
    rating = actions.submit(session, settings, hand.locked, code, YES, "", "k", lined_up=True, widened=False)
    assert (rating.seconds, rating.lined_up, rating.widened, rating.at) == (47.5, True, False, time.now())
