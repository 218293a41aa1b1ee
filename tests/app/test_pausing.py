"""The rater's day: pause, breaks, what was done today, and their own sessions."""

from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, NotFound
from app.models import Assignment, AssignmentState, Rater, Rating, Sitting, Study
from app.raters import actions as raters
from app.raters.queries import sitting_rows
from app.rating.actions import continue_sitting, save_draft
from app.rating.day import day_start, minutes_east_of, zone_name
from app.rating.pausing import pause
from app.rating.queries import Today, rating_page
from app.rating.sittings import BREAK_AFTER, REST, Stretch, is_break_due, stretched
from app.rating.stays import own_stays
from app.settings import Settings
from tests.app.crawl import CODE, KEY
from tests.app.seated import Clock, Hand, faults, seated_study
from tests.studies import make_study, open_rater


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=99, seats=2, share=99)


def press_pause(hand: Hand, code: str | None = None, hypothesis: str = "") -> None:
    pause(hand.session, hand.settings, hand.locked, code or hand.page.code or "", hypothesis)


# ---- pause --------------------------------------------------------------------------------------


def test_a_pause_ends_the_sitting_and_leads_back_to_the_same_neuron(hand: Hand, time: Clock) -> None:
    hand.begin()
    time.wait(minutes=1)
    hand.give()
    code = hand.page.code
    time.wait(minutes=2)
    press_pause(hand, hypothesis="half a thou")
    assert (hand.page.state, hand.page.paused, hand.page.sent_away) == ("begin", True, False)
    time.wait(minutes=20)
    assert hand.begin().code == code
    assert (hand.page.draft, hand.page.paused, hand.page.seconds) == ("half a thou", False, 0.0)
    assert [(s.paused, s.verdicts, s.active_minutes) for s in own_stays(hand.session, hand.settings, hand.rater)] == [
        (False, 0, 0.0),
        (True, 1, 3.0),
    ]
    assert faults(hand.session, time.now()) == []


def test_a_pause_has_a_mark_of_its_own(hand: Hand, study: Study, time: Clock) -> None:
    hand.begin()
    press_pause(hand)
    time.wait(minutes=1)
    sitting = hand.session.scalars(select(Sitting)).one()
    assert (sitting.paused, sitting.ended_by) == (True, None)
    (row,) = sitting_rows(hand.session, hand.settings, study)
    assert (row.state, row.paused, row.ended_by, row.may_reopen) == ("ended", True, None, False)
    with pytest.raises(Conflict, match="has paused"):
        raters.reopen_sitting(hand.session, study, sitting.code, actor="Ada")


def test_a_paused_neuron_keeps_its_lease_and_comes_back_when_it_is_over(
    hand: Hand, session: Session, settings: Settings, study: Study, time: Clock
) -> None:
    hand.begin()
    time.wait(minutes=20)
    press_pause(hand)
    held = session.scalars(select(Assignment)).one()
    assert held.state is AssignmentState.HELD
    assert held.leased_until == time.now() + settings.lease
    time.wait(hours=40)
    assert hand.begin().code == held.code, "nobody took it, so it is still theirs"


def test_a_verdict_from_another_tab_after_a_pause_is_stored_and_opens_no_sitting(hand: Hand, time: Clock) -> None:
    code = hand.begin().code
    time.wait(minutes=1)
    press_pause(hand)
    save_draft(hand.session, hand.settings, hand.locked, code or "", "a draft that was on its way")
    assert hand.page.paused
    hand.give(code=code)
    assert (hand.page.state, hand.page.done, hand.page.paused) == ("begin", 1, True)
    assert len(hand.session.scalars(select(Sitting)).all()) == 1


def test_pause_twice_or_after_the_sitting_is_over_changes_nothing(hand: Hand, time: Clock) -> None:
    code = hand.begin().code
    press_pause(hand, code)
    time.wait(minutes=1)
    press_pause(hand, code, "later")
    assert hand.begin().draft == ""
    time.wait(hours=2)
    press_pause(hand, code)
    assert not hand.page.paused, "it had ended by itself"
    with pytest.raises(NotFound):
        press_pause(hand, "of-nobody")


# ---- breaks -------------------------------------------------------------------------------------


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


# ---- the day ------------------------------------------------------------------------------------


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


# ---- pages --------------------------------------------------------------------------------------


def one(client: TestClient) -> dict[str, str]:
    page = client.get("/rate").text
    code, key = CODE.search(page), KEY.search(page)
    assert code
    assert key
    return {"assignment": code[1], "key": key[1], "verdict": "INTERPRETABLE"}


@pytest.fixture
def at_work(client: TestClient, session: Session, settings: Settings) -> Study:
    study = make_study(session, settings)
    open_rater(client, session, study)
    client.post("/rate/begin")
    return study


def test_pause_takes_the_whole_form_and_judges_nothing(client: TestClient, session: Session, at_work: Study) -> None:
    page = client.get("/rate").text
    assert 'formaction="/rate/pause"' in page
    form = one(client) | {"hypothesis": "half"}
    assert client.post("/rate/pause", data=form).headers["location"] == "/rate"
    page = client.get("/rate").text
    assert "Your session has ended, as you wished." in page
    assert session.scalars(select(Rating)).all() == []
    client.post("/rate/begin")
    assert "half</textarea>" in client.get("/rate").text
    fragment = client.post("/rate/pause", data=form, headers={"HX-Request": "true"})
    assert "<html" not in fragment.text
    assert 'data-state="begin"' in fragment.text


@pytest.mark.parametrize(
    ("form", "status"),
    [({}, 422), ({"assignment": "no code!"}, 422), ({"assignment": "nowhere"}, 404), ({"hypothesis": "\x00"}, 422)],
)
def test_a_bad_pause_is_refused(client: TestClient, at_work: Study, form: dict[str, str], status: int) -> None:
    assert client.post("/rate/pause", data=form).status_code == status
    client.cookies.clear()
    assert client.post("/rate/pause", data={"assignment": "nowhere"}).status_code == 401


def test_what_was_done_today_stands_beside_the_share(client: TestClient, session: Session, at_work: Study) -> None:
    client.post("/rate/verdict", data=one(client))
    assert "1 today</span>" in client.get("/rate").text
    session.get_one(Study, at_work.id).terms = {"day_goal": 30}
    session.flush()
    client.cookies.set("glance_east", "480")
    page = client.get("/rate").text
    assert "1 of 30 today</span>" in page
    assert "Your day begins at 00:00, UTC+08:00." in page


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


def test_raters_see_their_own_sessions_only(client: TestClient, session: Session, at_work: Study) -> None:
    client.post("/rate/verdict", data=one(client))
    client.post("/rate/pause", data=one(client))
    page = client.get("/rate/sessions").text
    assert "paused" in page
    assert '<td class="num">1</td>' in page
    settings = client.app.state.settings  # type: ignore[attr-defined]
    client.app.state.settings = settings.model_copy(update={"idle_minutes": 45})  # type: ignore[attr-defined]
    assert "or after 45 minutes without a sign of life" in client.get("/rate/sessions").text
    client.cookies.clear()
    assert client.get("/rate/sessions").status_code == 401
    open_rater(client, session, session.get_one(Study, at_work.id), "Kim")
    assert "No sessions yet." in client.get("/rate/sessions").text
    assert len(session.scalars(select(Rater)).all()) == 2
