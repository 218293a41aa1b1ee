"""A verdict is given once, by whoever holds the neuron, and stays as it was given."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid, NotFound
from app.log import first_broken_line
from app.models import Assignment, Event, Study, StudyState
from app.rating import actions
from app.rating.queries import given_verdicts, wide_fragment
from app.settings import Settings
from tests.app.rating.counted import ByName, rows
from tests.app.seated import NO, UNSURE, YES, Clock, item_of


def test_a_rater_begins_rates_their_share_and_is_thanked(session: Session, rater: ByName) -> None:
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


def test_reading_a_page_writes_nothing(session: Session, rater: ByName) -> None:
    hand = rater("A")
    hand.begin()
    session.flush()
    _ = hand.page
    assert not session.new
    assert not session.dirty


def test_the_same_form_twice_gives_one_row_and_the_same_answer(session: Session, rater: ByName) -> None:
    hand = rater("A")
    code = hand.begin().code
    first = hand.give(YES, "commas\r\nand dots", code=code, key="k1")
    second = hand.give(YES, "commas\r\nand dots", code=code, key="k1")
    assert first.id == second.id
    assert rows(session) == 1
    assert hand.page.done == 1


def test_a_second_tab_that_says_the_same_is_answered_and_one_that_differs_is_told(
    session: Session, rater: ByName
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


def test_a_key_that_was_used_for_another_neuron_is_refused(session: Session, rater: ByName) -> None:
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


def test_another_raters_assignment_is_not_there(rater: ByName, session: Session, settings: Settings) -> None:
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


def test_going_on_beyond_ones_share(rater: ByName) -> None:
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
    session: Session, settings: Settings, study: Study, rater: ByName, state: StudyState
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
    session: Session, settings: Settings, rater: ByName, time: Clock
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


def test_a_hypothesis_that_is_too_long_is_refused_with_its_length(rater: ByName) -> None:
    hand = rater("A")
    hand.begin()
    with pytest.raises(Invalid, match="2001 characters; at most 2000"):
        hand.give(YES, "x" * 2001)
    assert hand.give(YES, "é" * 2000).hypothesis == "é" * 2000


def test_the_log_holds_digests_and_no_words(session: Session, study: Study, rater: ByName) -> None:
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
    session: Session, settings: Settings, rater: ByName, time: Clock
) -> None:
    hand = rater("A")
    code = hand.begin().code
    assert code is not None
    time.wait(seconds=47.5)
    rating = actions.submit(session, settings, hand.locked, code, YES, "", "k", lined_up=True, widened=False)
    assert (rating.seconds, rating.lined_up, rating.widened, rating.at) == (47.5, True, False, time.now())
