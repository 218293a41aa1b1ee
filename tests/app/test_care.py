"""What an administrator does for raters: lets in again, frees what is stuck; flags that say nothing of items."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, NotFound, Refused
from app.models import Assignment, AssignmentState, Event, Invitation, Rater, Rating, Seat, Study, StudyState
from app.raters import actions
from app.raters.leases import free_by_hand, held_by_raters
from app.raters.panel import Arrival
from app.raters.queries import rater_rows
from app.raters.reactivation import reactivate
from app.raters.room import Full
from app.raters.withdrawal import withdraw_consent
from app.raters.work import work_of
from app.reports.flow import _invited
from app.settings import Settings
from tests.app.seated import NO, YES, Clock, Hand, faults, item_of, join, seated_study
from tests.studies import make_administrator, make_study, sign_in


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=6, seats=2, share=6)


def shut_out(session: Session, study: Study, rater: Rater) -> None:
    actions.deactivate(session, study, rater.code, actor="Ada")


def let_in(session: Session, study: Study, rater: Rater) -> str | None:
    return reactivate(session, study, rater.code, actor="Ada")


def seat_of(session: Session, rater: Rater) -> int | None:
    return session.scalars(select(Seat.number).where(Seat.rater_id == rater.id)).one_or_none()


# ---- letting in again ---------------------------------------------------------------------------


def test_a_rater_comes_back_to_the_seat_they_left(session: Session, settings: Settings, study: Study) -> None:
    token = actions.invite(session, study, "Nadia", actor="Ada")
    join(session, study, "Omar")
    hand = Hand(session, settings, actions.join(session, token))
    hand.begin()
    hand.give()
    code = hand.page.code
    assert seat_of(session, hand.rater) == 2
    shut_out(session, study, session.scalars(select(Rater).where(Rater.name == "Omar")).one())
    shut_out(session, study, hand.rater)
    assert let_in(session, study, hand.rater) is None, "their own link works again"
    assert seat_of(session, hand.rater) == 2, "not the lowest free one: the one they left"
    assert actions.join(session, token) is hand.rater
    assert hand.begin().done == 1
    given = []
    while hand.page.code is not None:
        given.append(hand.page.code)
        hand.give()
    assert code in given, "what they had not judged is theirs again"
    assert len(given) == 5


def test_on_another_seat_nothing_that_was_judged_is_shown_again(
    session: Session, settings: Settings, time: Clock
) -> None:
    study = seated_study(session, items=12, seats=3, capacity=3, share=12)
    hand = Hand(session, settings, join(session, study, "Nadia"))
    hand.begin()
    for _ in range(5):
        hand.give()
    hand.skip()
    shut_out(session, study, hand.rater)
    other = Hand(session, settings, join(session, study, "Omar"))
    assert seat_of(session, other.rater) == 1
    let_in(session, study, hand.rater)
    assert seat_of(session, hand.rater) == 2
    time.wait(hours=1)
    hand.begin()
    while hand.page.state == "item":
        hand.give()
    judged = session.scalars(
        select(Assignment.item_id).where(Assignment.rater_id == hand.rater.id, Assignment.state == "rated")
    ).all()
    assert len(judged) == len(set(judged)) == 11, "all but the one they gave back as broken"
    given = session.scalars(
        select(Rating).join(Assignment).where(Assignment.rater_id == hand.rater.id, Rating.version == 1)
    ).all()
    assert len(given) == 11
    assert faults(session, time.now()) == []


def test_on_another_seat_a_rater_has_its_share_so_that_the_shares_still_add_up(
    session: Session, settings: Settings, time: Clock
) -> None:
    study = seated_study(session, items=9, seats=2)
    large, small = session.scalars(select(Seat).order_by(Seat.number))
    large.share, small.share = 5, 4
    kim, nadia = join(session, study, "Kim"), join(session, study, "Nadia")
    shut_out(session, study, nadia)
    omar = join(session, study, "Omar")
    shut_out(session, study, kim)
    let_in(session, study, nadia)
    assert (seat_of(session, nadia), nadia.share, omar.share) == (1, 5, 4)
    for rater in (nadia, omar):
        hand = Hand(session, settings, rater)
        hand.begin()
        while hand.page.state == "item":
            hand.give()
    assert len(session.scalars(select(Assignment).where(Assignment.state == "rated")).all()) == 9


def test_the_page_of_a_study_says_when_nobody_is_asked_for_what_is_missing(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    address, said = f"/studies/{study.code}", "Everybody who is in has finished, and 8 places have no verdict."
    hand = Hand(session, settings, join(session, study, "Nadia"))
    for _ in range(4):
        assert hand.begin().state == "item"
        assert "Everybody who is in" not in client.get(address).text
        hand = Hand(session, settings, session.scalars(select(Rater)).one())  # the request forgot the one before
        hand.give()
    page = client.get(address).text
    assert said in page
    assert "Or make a link for somebody new." in page
    actions.deactivate(session, session.get_one(Study, study.id), hand.rater.code, actor="Ada")
    assert said not in client.get(address).text


def test_nobody_is_let_in_again_where_no_seat_or_no_room_is_left(session: Session, study: Study) -> None:
    rater = join(session, study, "Nadia")
    shut_out(session, study, rater)
    for name in ("Omar", "Kim"):
        join(session, study, name)
    with pytest.raises(Full, match="All places of this study are taken"):
        let_in(session, study, rater)
    study.terms = {"most_raters": 2}
    session.flush()
    with pytest.raises(Full, match="as many raters as it takes"):
        let_in(session, study, rater)
    assert rater.deactivated_at is not None


def test_who_has_withdrawn_is_never_let_in_again(session: Session, settings: Settings, study: Study) -> None:
    rater = join(session, study, "Nadia")
    withdraw_consent(session, study, rater.code, actor="Ada", key_file=settings.key_file)
    with pytest.raises(Refused, match="withdrawn their consent"):
        let_in(session, study, rater)
    assert seat_of(session, rater) is None


def test_letting_in_somebody_who_is_in_changes_nothing(session: Session, study: Study) -> None:
    rater = join(session, study, "Nadia")
    assert let_in(session, study, rater) is None
    assert session.scalars(select(Event).where(Event.what == "rater let in again")).all() == []
    shut_out(session, study, rater)
    study.state = StudyState.CLOSED
    session.flush()
    with pytest.raises(Conflict, match="Open it again first"):
        let_in(session, study, rater)


def test_who_has_no_way_in_left_gets_a_link_of_their_own(session: Session, study: Study) -> None:
    shared = actions.invite(session, study, "Lab", actor="Ada", reusable=True)
    by_lab, by_panel = actions.join(session, shared), actions.join(session, shared, Arrival("p1"))
    for rater in (by_lab, by_panel):
        shut_out(session, study, rater)
    token = let_in(session, study, by_lab)
    assert token
    assert actions.join(session, token) is by_lab
    assert let_in(session, study, by_panel) is None
    assert actions.join(session, shared, Arrival("p1")) is by_panel
    (first, second) = session.scalars(
        select(Event).where(Event.what == "rater let in again").order_by(Event.line)
    ).all()
    assert (first.detail["link"], second.detail["link"]) == (True, False)
    assert token not in str(first.detail)


def test_who_was_invited_once_is_counted_once_however_often_they_are_let_in_again(
    session: Session, study: Study
) -> None:
    old = actions.invite(session, study, "Nadia", actor="Ada")
    rater = actions.join(session, old)
    assert _invited(session, study) == 1
    for _ in range(2):
        shut_out(session, study, rater)
        session.get_one(Invitation, rater.invitation_id).revoked_at = clock.now()
        token = let_in(session, study, rater)
        assert token
        assert actions.join(session, token) is rater
    assert _invited(session, study) == 1
    with pytest.raises(NotFound, match="leads nowhere"):
        actions.join(session, old)


# ---- what is stuck ------------------------------------------------------------------------------


def test_what_is_in_hand_is_listed_without_saying_which(
    session: Session, settings: Settings, study: Study, time: Clock
) -> None:
    hand = Hand(session, settings, join(session, study, "Nadia"))
    join(session, study, "Omar")
    hand.begin()
    began = time.now()
    time.wait(minutes=29)
    (held,) = held_by_raters(session, study)
    assert (held.rater, held.neurons, held.since, held.stuck) == ("Nadia", 1, began, False)
    assert (held.leased_until, held.last_seen_at) == (began + settings.lease, began)
    time.wait(minutes=1)
    assert [one.stuck for one in held_by_raters(session, study)] == [True]
    assert (hand.page.code or "no code") not in repr(held)


def test_a_neuron_freed_by_hand_goes_to_somebody_else_and_nothing_is_lost(
    session: Session, settings: Settings, time: Clock
) -> None:
    study = seated_study(session, items=1, seats=2, share=1)
    first, second = (Hand(session, settings, join(session, study, name)) for name in ("Nadia", "Omar"))
    code = first.begin().code
    assert second.begin().state == "waiting"
    time.wait(minutes=1)
    assert free_by_hand(session, study, first.rater.code, actor="Ada") == 1
    with pytest.raises(Conflict, match="nothing in hand"):
        free_by_hand(session, study, first.rater.code, actor="Ada")
    assert second.begin().state == "item"
    late = first.give(code=code)
    assert (late.late, late.surplus) == (True, True)
    second.give(NO)
    states = session.scalars(select(Assignment.state).order_by(Assignment.id)).all()
    assert states == [AssignmentState.SURPLUS, AssignmentState.RATED]
    (event,) = session.scalars(select(Event).where(Event.what == "neurons freed")).all()
    assert event.detail == {"rater": first.rater.code, "neurons": 1}
    assert faults(session, time.now()) == []


def test_a_freed_neuron_that_nobody_takes_is_theirs_again_with_what_they_wrote(
    session: Session, settings: Settings, time: Clock
) -> None:
    from app.rating.actions import save_draft

    study = seated_study(session, items=1, seats=1)
    hand = Hand(session, settings, join(session, study))
    code = hand.begin().code or ""
    save_draft(session, settings, hand.locked, code, "half")
    free_by_hand(session, study, hand.rater.code, actor="Ada")
    assert hand.page.state == "begin"
    assert (hand.begin().code, hand.page.draft) == (code, "half")


# ---- flags --------------------------------------------------------------------------------------


def test_a_slip_that_was_taken_back_is_no_hurry(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=6, seats=1)
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    for _ in range(6):
        time.wait(seconds=1)
        hand.give(NO)
        hand.undo()
        time.wait(seconds=3)
        hand.give(YES)
    assert work_of(session, study)[hand.rater.id].quick == 0
    assert rater_rows(session, study)[0].flags == []


def test_flags_and_lists_name_no_item_and_no_verdict(session: Session, settings: Settings, time: Clock) -> None:
    study = seated_study(session, items=20, seats=1)
    hand = Hand(session, settings, join(session, study))
    items = {item_of(session, hand.begin().code)}
    while hand.page.state == "item":
        items.add(item_of(session, hand.page.code))
        time.wait(seconds=2)
        hand.give(NO)
    (row,) = rater_rows(session, study)
    said = [flag.message % flag.values for flag in row.flags]
    assert said == ["20 verdicts under 8 s", "the same verdict 20 times out of 20"]
    assert "INTERPRETABLE" not in repr(row)
    codes = session.scalars(select(Assignment.code)).all()
    assert not [code for code in codes if code in repr(row)]


# ---- pages --------------------------------------------------------------------------------------


def test_the_page_of_a_study_lists_and_frees_and_lets_in(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    lab = actions.join(session, actions.invite(session, study, "Lab", actor="Ada", reusable=True))
    hand = Hand(session, settings, lab)
    code = hand.begin().code or ""
    rater, base = lab.code, f"/studies/{study.code}/raters/{lab.code}"
    assert client.post(f"{base}/free").status_code == client.post(f"{base}/reactivate").status_code == 401
    sign_in(client, session, make_administrator(session, "Reader", may_manage=False))
    assert client.post(f"{base}/free").status_code == client.post(f"{base}/reactivate").status_code == 403
    looked = client.get(f"/studies/{study.code}").text
    acts = re.findall(r'<form[^>]* action="([^"]+)"', looked)
    assert acts == ["/sign-out"], "who may only look is offered nothing that would be refused"
    assert "It ends by itself after 30 min without a sign of life" in looked
    sign_in(client, session)
    page = client.get(f"/studies/{study.code}").text
    assert "Neurons in hand" in page
    assert code not in page
    assert f"{base}/free" in html.unescape(page)
    assert client.post(f"{base}/free").status_code == 303
    assert client.post(f"{base}/free").status_code == 409
    assert "Neurons in hand" not in client.get(f"/studies/{study.code}").text
    client.post(f"{base}/deactivate")
    assert f"{base}/reactivate" in html.unescape(client.get(f"/studies/{study.code}").text)
    answer = client.post(f"{base}/reactivate")
    found = re.search(r'value="http://testserver(/join/[\w-]{43})"', answer.text)
    assert found
    assert client.get(found[1]).status_code == 200
    assert session.scalars(select(Rater.code).where(Rater.deactivated_at.is_(None))).all() == [rater]
    for act in ("free", "reactivate"):
        assert client.post(f"/studies/{study.code}/raters/nobody/{act}").status_code == 404
        assert client.post(f"/studies/nowhere/raters/{rater}/{act}").status_code == 404
