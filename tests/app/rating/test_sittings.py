from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, NotFound
from app.models import Sitting, Study
from app.raters import actions
from app.raters.queries import sitting_rows
from app.rating.sittings import is_over, worked_seconds
from app.settings import Settings
from tests.app.seated import Clock, Hand, seated_study


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=9, seats=2, share=9)


Rows = Callable[[], list[tuple[str, int, float, str | None]]]


@pytest.fixture
def rows(session: Session, settings: Settings, study: Study) -> Rows:
    """State, verdicts, active minutes and who ended it, the newest first."""
    return lambda: [
        (row.state, row.verdicts, row.active_minutes, row.ended_by) for row in sitting_rows(session, settings, study)
    ]


def test_half_an_hour_without_a_sign_of_life_is_an_end() -> None:
    seen = Clock().now()
    idle = timedelta(minutes=30)
    assert not is_over(seen, None, seen + timedelta(minutes=29, seconds=59), idle)
    assert is_over(seen, None, seen + idle, idle)
    assert is_over(seen, seen, seen, idle)


def test_a_gap_counts_as_work_up_to_three_minutes_and_never_backwards() -> None:
    seen = Clock().now()
    assert worked_seconds(seen, seen + timedelta(seconds=70)) == 70
    assert worked_seconds(seen, seen + timedelta(minutes=25)) == 180
    assert worked_seconds(seen, seen - timedelta(seconds=5)) == 0


def test_active_time_is_the_sum_of_capped_gaps(hand: Hand, time: Clock, rows: Rows) -> None:
    hand.begin()
    time.wait(minutes=1)
    hand.give()
    time.wait(minutes=20)
    hand.give()
    assert rows() == [("in", 2, 4.0, None)]
    time.wait(minutes=4)
    assert rows() == [("idle", 2, 4.0, None)]
    time.wait(minutes=26)
    assert rows() == [("ended", 2, 4.0, None)]


def test_a_sitting_ends_by_itself_and_the_next_sign_of_life_opens_another(
    hand: Hand, time: Clock, rows: Rows, session: Session
) -> None:
    code = hand.begin().code
    time.wait(minutes=1)
    hand.give()
    last = time.now()
    code = hand.page.code
    time.wait(hours=20)
    assert hand.page.state == "begin"
    hand.give(code=code)
    assert [row[:2] for row in rows()] == [("in", 1), ("ended", 1)]
    ended = session.scalars(select(Sitting.ended_at).where(Sitting.ended_at.is_not(None))).one()
    assert ended == last  # when the rater was last seen, not when the next one began
    assert hand.page.state == "item"


def test_beginning_twice_opens_one_sitting(hand: Hand, rows: Rows) -> None:
    assert hand.begin().code == hand.begin().code
    assert len(rows()) == 1


def test_an_administrator_ends_a_sitting_and_the_rater_loses_nothing(
    hand: Hand, study: Study, session: Session, time: Clock, rows: Rows
) -> None:
    code = hand.begin().code
    sitting = session.scalars(select(Sitting.code)).one()
    time.wait(minutes=1)
    actions.end_sitting(session, study, sitting, actor="Ada")
    assert (hand.page.state, hand.page.sent_away) == ("begin", True)
    hand.give(code=code)  # the page was open: its verdict is stored, and no sitting is opened behind Ada's back
    assert (hand.page.state, hand.page.done, hand.page.sent_away) == ("begin", 1, True)
    assert [row[0] for row in rows()] == ["ended"]
    assert hand.begin().state == "item"
    assert not hand.page.sent_away
    assert [(row[0], row[3]) for row in rows()] == [("in", None), ("ended", "Ada")]
    with pytest.raises(Conflict, match="ended already"):
        actions.end_sitting(session, study, sitting, actor="Ada")


def test_an_administrator_reopens_the_newest_sitting_only(
    hand: Hand, study: Study, session: Session, time: Clock, rows: Rows, settings: Settings
) -> None:
    hand.begin()
    first = session.scalars(select(Sitting.code)).one()
    time.wait(minutes=2)
    hand.give()
    actions.end_sitting(session, study, first, actor="Ada")
    time.wait(minutes=10)
    assert [row.may_reopen for row in sitting_rows(session, settings, study)] == [True]
    actions.reopen_sitting(session, study, first, actor="Ada")
    assert (hand.page.state, hand.page.sent_away) == ("item", False)
    time.wait(minutes=1)
    hand.give()
    assert rows() == [("in", 2, 3.0, None)]  # the ten minutes between do not count
    time.wait(hours=1)
    hand.begin()
    assert [row.may_reopen for row in sitting_rows(session, settings, study)] == [True, False]
    with pytest.raises(Conflict, match="newer session"):
        actions.reopen_sitting(session, study, first, actor="Ada")


def test_the_last_verdict_ends_the_sitting(hand: Hand, rows: Rows) -> None:
    hand.rater.share = 2
    hand.begin()
    hand.give()
    hand.give()
    assert [row[:2] for row in rows()] == [("ended", 2)]
    hand.begin()
    assert len(rows()) == 1


def test_another_studys_sitting_is_not_there(hand: Hand, session: Session) -> None:
    hand.begin()
    other = seated_study(session, name="Other")
    code = session.scalars(select(Sitting.code)).one()
    with pytest.raises(NotFound):
        actions.end_sitting(session, other, code, actor="Ada")
