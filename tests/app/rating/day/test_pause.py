"""A pause ends the sitting, judges nothing and leads back to the same neuron."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict, NotFound
from app.models import Assignment, AssignmentState, Rater, Rating, Sitting, Study
from app.raters import actions as raters
from app.raters.queries import sitting_rows
from app.rating.actions import save_draft
from app.rating.pausing import pause
from app.rating.stays import own_stays
from app.settings import Settings
from tests.app.rating.day.form import one
from tests.app.seated import Clock, Hand, faults
from tests.studies import open_rater


def press_pause(hand: Hand, code: str | None = None, hypothesis: str = "") -> None:
    pause(hand.session, hand.settings, hand.locked, code or hand.page.code or "", hypothesis)


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


def test_raters_see_their_own_sessions_only(client: TestClient, session: Session, at_work: Study) -> None:
    client.post("/rate/verdict", data=one(client))
    client.post("/rate/pause", data=one(client))
    page = client.get("/rate/sessions").text
    assert "paused" in page
    assert '<td class="num" data-what="Verdicts">1</td>' in page
    settings = client.app.state.settings  # type: ignore[attr-defined]
    client.app.state.settings = settings.model_copy(update={"idle_minutes": 45})  # type: ignore[attr-defined]
    assert "or after 45 minutes without a sign of life" in client.get("/rate/sessions").text
    client.cookies.clear()
    assert client.get("/rate/sessions").status_code == 401
    open_rater(client, session, session.get_one(Study, at_work.id), "Kim")
    assert "No sessions yet." in client.get("/rate/sessions").text
    assert len(session.scalars(select(Rater)).all()) == 2
