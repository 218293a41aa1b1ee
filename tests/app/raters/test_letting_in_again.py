"""A rater who was shut out is let in again, to their seat or another, and the shares still add up."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.errors import Conflict, NotFound, Refused
from app.models import Assignment, Event, Invitation, Rater, Rating, Seat, Study, StudyState
from app.raters import actions
from app.raters.panel import Arrival
from app.raters.room import Full
from app.raters.withdrawal import withdraw_consent
from app.reports.flow import _invited
from app.settings import Settings
from tests.app.raters.care import let_in, seat_of, shut_out
from tests.app.seated import Clock, Hand, faults, join, seated_study


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
