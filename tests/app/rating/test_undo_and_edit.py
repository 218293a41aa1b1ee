"""A verdict taken back or changed: both versions are kept."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import Rating, RatingAction
from app.rating import actions
from app.rating.queries import given_verdicts
from app.settings import Settings
from tests.app.rating.counted import ByName, rows
from tests.app.seated import NO, UNSURE, YES


def test_undo_brings_the_neuron_and_the_words_back_and_keeps_both_versions(session: Session, rater: ByName) -> None:
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


def test_an_undo_sent_twice_undoes_once_and_an_older_verdict_is_not_undone(session: Session, rater: ByName) -> None:
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


def test_an_old_page_sent_after_undo_changes_nothing(session: Session, rater: ByName) -> None:
    hand = rater("A")
    code = hand.begin().code
    hand.give(YES, code=code, key="k1")
    hand.undo()
    hand.give(YES, code=code, key="k1")
    assert hand.page.done == 0
    with pytest.raises(Conflict, match="older than your last step"):
        hand.give(NO, code=code, key="k1")
    assert rows(session) == 2


def test_undo_after_the_last_verdict_gives_work_again(rater: ByName) -> None:
    hand = rater("A")
    hand.begin()
    hand.give()
    hand.give()
    page = hand.undo()
    assert (page.state, page.done) == ("item", 1)
    assert hand.rater.finished_at is None
    hand.give()
    assert hand.page.state == "finished"


def test_editing_adds_a_version_and_a_second_tab_is_told(session: Session, settings: Settings, rater: ByName) -> None:
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


def test_progress_is_counted_from_the_rows(session: Session, settings: Settings, rater: ByName) -> None:
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
