"""A break is offered once after fifty minutes of work."""

from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Sitting, Study
from app.rating.actions import continue_sitting
from app.rating.sittings import BREAK_AFTER, REST, Stretch, is_break_due, stretched
from tests.app.rating.day.form import one
from tests.app.rating.day.test_pause import press_pause
from tests.app.seated import Clock, Hand


def test_a_stretch_of_work_ends_with_a_rest() -> None:
    at = datetime(2031, 3, 1, tzinfo=UTC)
    worked = Stretch(600.0, at)
    assert stretched(worked, at, at + timedelta(minutes=1), worked=True) == Stretch(660.0, at)
    assert stretched(worked, at, at + timedelta(minutes=4), worked=True) == Stretch(780.0, at)
    assert stretched(worked, at, at + timedelta(minutes=4), worked=False) == worked
    assert stretched(worked, at, at + REST, worked=True) == stretched(worked, at, at + REST, worked=False) == Stretch()


@pytest.mark.parametrize(
    ("seconds", "offered", "due"), [(2999.0, False, False), (3000.0, False, True), (9e9, True, False)]
)
def test_a_break_is_due_once_a_stretch(seconds: float, offered: bool, due: bool) -> None:
    assert timedelta(minutes=50) == BREAK_AFTER
    assert is_break_due(Stretch(seconds, datetime(2031, 3, 1, tzinfo=UTC) if offered else None)) is due


def work(hand: Hand, time: Clock, minutes: int) -> list[int | None]:
    """A verdict a minute; what the page after each offered. Whoever is offered a break goes on at once."""
    offers = []
    for _ in range(minutes):
        time.wait(minutes=1)
        hand.give()
        offers.append(hand.page.break_after_minutes)
        if offers[-1]:
            time.wait(seconds=1)
            continue_sitting(hand.session, hand.settings, hand.locked, restart_clock=True)
            assert (hand.page.break_after_minutes, hand.page.seconds) == (None, 0.0)
    return offers


def test_a_break_is_offered_once_after_fifty_minutes(hand: Hand, time: Clock) -> None:
    hand.begin()
    assert work(hand, time, 60) == [None] * 49 + [50] + [None] * 10


def test_a_rest_rearms_the_offer_and_a_moment_away_does_not(hand: Hand, time: Clock) -> None:
    hand.begin()
    assert work(hand, time, 30) == [None] * 30
    time.wait(minutes=6)  # a rest within the sitting
    assert work(hand, time, 10) == [None] * 10
    press_pause(hand)
    time.wait(minutes=1)  # a pause too short to rest
    hand.begin()
    assert work(hand, time, 40) == [None] * 40
    assert work(hand, time, 1) == [50], "the stretch went on through the short pause"


def test_reloading_keeps_the_offer_and_undo_goes_on(hand: Hand, time: Clock) -> None:
    hand.begin()
    for _ in range(50):
        time.wait(minutes=1)
        hand.give()
    assert hand.page.break_after_minutes == hand.page.break_after_minutes == 50
    time.wait(seconds=5)
    assert hand.undo().break_after_minutes is None
    assert hand.page.state == "item"


def test_the_break_page_offers_a_pause_and_goes_on(client: TestClient, session: Session, at_work: Study) -> None:
    session.scalars(select(Sitting)).one().unrested_seconds = BREAK_AFTER.total_seconds()
    session.flush()
    client.post("/rate/verdict", data=one(client))
    page = client.get("/rate").text
    assert "50 minutes without a break" in page
    assert "<li><input" not in page
    assert 'action="/rate/pause"' in page
    client.post("/rate/begin", data={"rested": "1"})
    assert client.get("/rate").text.count("<li><input") == 20
