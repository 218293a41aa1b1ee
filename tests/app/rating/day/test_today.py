"""What was done today, on the rater's clock, and how much a day may hold."""

from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import Study
from app.rating.day import day_start, minutes_east_of, zone_name
from app.rating.queries import Today, rating_page
from app.rating.stays import own_stays
from tests.app.rating.day.form import one
from tests.app.seated import Clock, Hand, faults


@pytest.mark.parametrize(
    ("kept", "minutes"),
    [(None, 0), ("", 0), ("480", 480), ("-210", -210), ("840", 840), ("841", 0), ("-721", 0), ("x", 0), ("1e2", 0),
     ("--1", 0), ("٣", 0), ("9" * 5000, 0)],
)  # fmt: skip
def test_a_clock_that_cannot_be_is_utc(kept: str | None, minutes: int) -> None:
    assert minutes_east_of(kept) == minutes


def test_the_day_begins_at_the_raters_midnight() -> None:
    at = datetime(2031, 3, 1, 17, 30, tzinfo=UTC)
    assert day_start(at) == datetime(2031, 3, 1, tzinfo=UTC)
    assert day_start(at, 480) == datetime(2031, 3, 1, 16, tzinfo=UTC)
    assert day_start(at, -210) == datetime(2031, 3, 1, 3, 30, tzinfo=UTC)
    assert [zone_name(minutes) for minutes in (0, 480, -210)] == ["UTC", "UTC+08:00", "UTC−03:30"]


def test_today_counts_verdicts_that_stand_since_midnight(hand: Hand, study: Study, time: Clock) -> None:
    hand.begin()  # nine in the morning, UTC
    hand.give()
    time.wait(hours=6, minutes=59)
    hand.begin()
    hand.give()
    time.wait(minutes=2)  # past four in the afternoon: midnight in UTC+08:00
    hand.give()
    hand.undo()
    hand.give()
    assert rating_page(hand.session, hand.settings, hand.rater).today == Today(3, None)
    assert rating_page(hand.session, hand.settings, hand.rater, 480).today == Today(1, None)
    study.terms = {"day_goal": 60}
    hand.session.flush()
    assert rating_page(hand.session, hand.settings, hand.rater).today == Today(3, 60)


def test_a_limit_a_day_gives_nothing_more_until_the_next(hand: Hand, study: Study, time: Clock) -> None:
    study.terms = {"most_a_day": 3}
    hand.session.flush()
    hand.begin()
    for _ in range(3):
        time.wait(minutes=1)
        hand.give()
    assert (hand.page.state, hand.page.done, hand.page.code) == ("enough", 3, None)
    assert hand.begin().state == "enough"
    assert [s.ended_at is not None for s in own_stays(hand.session, hand.settings, hand.rater)] == [True]
    assert hand.rater.finished_at is None
    assert hand.undo().state == "item", "the last verdict can still be taken back, and given again"
    hand.give()
    assert hand.page.state == "enough"
    time.wait(hours=15)
    assert hand.page.state == "begin"
    assert hand.begin().state == "item"
    assert faults(hand.session, time.now()) == []


def test_a_finished_share_is_finished_even_where_the_day_is_full(hand: Hand, study: Study) -> None:
    study.terms = {"most_a_day": 2}
    hand.rater.share = 2
    hand.session.flush()
    hand.begin()
    hand.give()
    hand.give()
    assert hand.page.state == "finished"


def test_what_was_done_today_stands_beside_the_share(client: TestClient, session: Session, at_work: Study) -> None:
    client.post("/rate/verdict", data=one(client))
    assert "1 today</span>" in client.get("/rate").text
    session.get_one(Study, at_work.id).terms = {"day_goal": 30}
    session.flush()
    client.cookies.set("glance_east", "480")
    page = client.get("/rate").text
    assert "1 of 30 today</span>" in page
    assert "Your day begins at 00:00, UTC+08:00." in page


def test_a_full_day_says_when_to_come_back(client: TestClient, session: Session, at_work: Study) -> None:
    session.get_one(Study, at_work.id).terms = {"most_a_day": 1}
    session.flush()
    client.post("/rate/verdict", data=one(client))
    client.cookies.set("glance_east", "480")
    page = client.get("/rate").text
    assert "That is all for today" in page
    assert "08:00 on." in page
    assert "Undo" in page
    assert client.post("/rate/begin").status_code == 303
    assert "That is all for today" in client.get("/rate").text
