"""However raters come and go, and whatever administrators do: nobody is sent home while a place waits for them."""

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from app import clock
from app.errors import AppError
from app.log import first_broken_line
from app.models import (
    Assignment,
    AssignmentState,
    Event,
    Item,
    Placement,
    Rater,
    Seat,
    Sitting,
    Study,
    Verdict,
)
from app.raters import actions as raters
from app.raters.leases import free_by_hand
from app.raters.reactivation import reactivate
from app.rating import actions, pausing
from app.rating.statements import GIVEN_STATES
from app.settings import Settings
from app.store.db import transaction
from app.studies.actions import close_study, reopen_study
from tests.app.rating.test_claiming_at_once import at_once, begin, give, look
from tests.app.seated import Clock, Hand, faults, join, stopped_clock
from tests.studies import make_administrator, make_study

SEATS = 3
ACTS = 240
"""Of one example: several for every place."""
ROUNDS = 20


def could_still_take(session: Session, study: Study, at: datetime) -> list[tuple[str, int]]:
    """Raters whose share is not done, and the items with a free place that they never judged or gave back.

    Worked out from the tables alone, by none of the statements that give raters their work.
    """
    assignments = session.scalars(select(Assignment).execution_options(populate_existing=True)).all()
    taken = Counter(
        one.item_id
        for one in assignments
        if one.state is AssignmentState.RATED or (one.state is AssignmentState.HELD and one.leased_until > at)
    )
    capacity = {item.id: item.capacity for item in session.scalars(select(Item).where(Item.study_id == study.id))}
    seated = select(Rater, Placement.item_id).join(Seat, Seat.rater_id == Rater.id)
    had = {(one.rater_id, one.item_id) for one in assignments if one.state is not AssignmentState.RELEASED}
    given = Counter(one.rater_id for one in assignments if one.state in GIVEN_STATES)
    return [
        (rater.name, item_id)
        for rater, item_id in session.execute(seated.join(Placement, Placement.seat_id == Seat.id))
        if taken[item_id] < capacity[item_id] and (rater.id, item_id) not in had
        if rater.share is None or given[rater.id] < rater.share
    ]


class Turmoil:
    """A study at work, with an administrator who does everything that can be done to raters."""

    def __init__(
        self, session: Session, settings: Settings, its_clock: Clock, drawn: random.Random, study: Study
    ) -> None:
        self.session, self.settings, self.time, self.drawn, self.study = session, settings, its_clock, drawn, study
        self.ada = make_administrator(session)
        self.hands: list[Hand] = []
        for _ in range(SEATS):
            self.come()

    @property
    def hand(self) -> Hand:
        return self.drawn.choice(self.hands)

    # ---- what raters do -------------------------------------------------------------------------

    def come(self) -> None:
        rater = join(self.session, self.study, f"Rater {len(self.hands) + 1}")
        self.hands.append(Hand(self.session, self.settings, rater))

    def begin(self) -> None:
        self.hand.begin()

    def give(self) -> None:
        hand = self.hand
        if hand.rater.deactivated_at is None and hand.page.code:
            hand.give()

    def give_on_an_old_page(self) -> None:
        hand = self.hand
        mine = select(Assignment.code).where(Assignment.rater_id == hand.rater.id).order_by(Assignment.id)
        hand.give(code=self.drawn.choice(self.session.scalars(mine).all() or ["none"]))

    def undo(self) -> None:
        self.hand.undo()

    def skip(self) -> None:
        if self.drawn.random() < 0.2:  # each takes a neuron from its rater for good
            self.hand.skip()

    def pause(self) -> None:
        hand = self.hand
        pausing.pause(self.session, self.settings, hand.locked, hand.page.code or "", "half a rule")

    def go_on(self) -> None:
        if self.drawn.random() < 0.05 and self.hand.page.may_go_on:
            actions.go_on(self.session, self.settings, self.hand.locked)

    # ---- what the administrator does, and time ----------------------------------------------------

    def free(self) -> None:
        free_by_hand(self.session, self.study, self.hand.rater.code, actor="Ada")

    def end_a_sitting(self) -> None:
        raters.end_sitting(self.session, self.study, self.any_sitting(), actor="Ada")

    def reopen_a_sitting(self) -> None:
        raters.reopen_sitting(self.session, self.study, self.any_sitting(), actor="Ada")

    def shut_out(self) -> None:
        if self.drawn.random() < 0.3:
            raters.deactivate(self.session, self.study, self.hand.rater.code, actor="Ada")

    def let_in(self) -> None:
        out = [hand for hand in self.hands if hand.rater.deactivated_at is not None]
        if out:
            reactivate(self.session, self.study, self.drawn.choice(out).rater.code, actor="Ada")

    def close(self) -> None:
        if self.drawn.random() < 0.3:
            close_study(self.session, self.study.code, self.ada)

    def open_again(self) -> None:
        reopen_study(self.session, self.study.code, self.ada)

    def wait(self) -> None:
        self.time.wait(minutes=self.drawn.choice([1, 10, 29.5, 31]))

    def any_sitting(self) -> str:
        codes = self.session.scalars(select(Sitting.code).order_by(Sitting.id)).all()
        return self.drawn.choice(codes) if codes else "none"

    # ---- the course of things -----------------------------------------------------------------------

    def attempt(self, act: Callable[[], object]) -> None:
        """What is refused with a sentence is undone, as a request would be."""
        savepoint = self.session.begin_nested()
        try:
            act()
        except AppError:
            savepoint.rollback()
            self.session.expire_all()
        else:
            savepoint.commit()

    def stir(self, seldom: list[Callable[[], object]]) -> None:
        often = [self.begin, self.give, self.give] * 3
        for _ in range(ACTS):
            self.attempt(self.drawn.choice([*often, *seldom]))

    def settle(self) -> None:
        """The study is open, its seats are taken, and all who are in work until nothing is left for them."""
        self.attempt(self.open_again)
        for _ in range(SEATS):
            self.attempt(self.come)
        for _ in range(ROUNDS):
            states = {self.work(hand) for hand in self.hands if hand.rater.deactivated_at is None}
            if states <= {"finished"}:
                return
            self.time.wait(minutes=31)  # what is in hands that do not come back is free again
        pytest.fail(f"After {ROUNDS} rounds some are still {states}.")

    def work(self, hand: Hand) -> str:
        hand.begin()
        while hand.page.state == "item":
            hand.give()
        return hand.page.state

    @property
    def keeping_all(self) -> list[Callable[[], object]]:
        """What takes no place from the raters it was dealt to."""
        return [
            self.give_on_an_old_page, self.undo, self.pause, self.free, self.end_a_sitting, self.reopen_a_sitting,
            self.close, self.open_again, self.wait,
        ]  # fmt: skip

    @property
    def everything(self) -> list[Callable[[], object]]:
        return [*self.keeping_all, self.come, self.skip, self.go_on, self.shut_out, self.let_in]


@pytest.fixture
def turmoil(
    session: Session, settings: Settings, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Turmoil:
    """60 places, dealt to three seats: each neuron to two of them."""
    stopped = stopped_clock(monkeypatch)
    study = make_study(session, settings, neurons_per_arm=15, seats=SEATS, verdicts_per_neuron=2, snippets=6)
    return Turmoil(session, settings, stopped, random.Random(request.param), study)


@pytest.mark.parametrize("turmoil", range(8), indirect=True)
def test_nobody_is_sent_home_while_a_place_waits_for_them(session: Session, turmoil: Turmoil) -> None:
    turmoil.stir(turmoil.everything)
    turmoil.settle()
    assert could_still_take(session, turmoil.study, turmoil.time.now()) == []
    for hand in turmoil.hands:  # whoever has done their share may fill what the others cannot
        if hand.rater.deactivated_at is None and hand.page.may_go_on:
            actions.go_on(session, turmoil.settings, hand.locked)
    turmoil.settle()
    assert could_still_take(session, turmoil.study, turmoil.time.now()) == []
    assert faults(session, turmoil.time.now()) == []
    assert first_broken_line(session.scalars(select(Event).order_by(Event.line))) is None


@pytest.mark.parametrize("turmoil", range(8), indirect=True)
def test_who_loses_a_neuron_takes_no_place_of_others_so_every_place_is_filled(
    session: Session, turmoil: Turmoil
) -> None:
    """A place dealt to one rater and taken by another leaves one that only somebody could fill who judged that neuron
    already: before raters looked among their own first, most of these ended 55 to 59 of 60.
    """
    turmoil.stir(turmoil.keeping_all)
    turmoil.settle()
    assert Counter(session.scalars(select(Assignment.state))) == {AssignmentState.RATED: 60}
    of_seat = select(Assignment.id).join(Seat, Seat.rater_id == Assignment.rater_id)
    placed = of_seat.join(Placement, (Placement.seat_id == Seat.id) & (Placement.item_id == Assignment.item_id))
    assert len(session.scalars(placed.where(Placement.position <= Seat.share)).all()) == 60


def test_raters_at_the_same_instant_fill_every_place(own_engine: Engine, settings: Settings) -> None:
    """The last neurons of each are the last of another too, and all of them come at once."""
    with transaction(own_engine) as session:
        design: dict[str, Any] = {"neurons_per_arm": 6, "seats": 6, "verdicts_per_neuron": 5, "snippets": 6}
        study = make_study(session, settings, **design)
        crew = [join(session, study, f"Rater {number}").id for number in range(6)]
    at_once([lambda rater=rater: rate_unsteadily(own_engine, settings, rater) for rater in crew])  # type: ignore[misc]
    with transaction(own_engine) as session:
        states = Counter(session.scalars(select(Assignment.state)))
        assert faults(session, clock.now()) == []
    assert states[AssignmentState.RATED] == 60, states


def rate_unsteadily(engine: Engine, settings: Settings, rater_id: int) -> None:
    """Until nothing is left: now and then the neuron in hand is freed, and the verdict on it comes late."""
    drawn = random.Random(rater_id)
    for number in range(200):
        begin(engine, settings, rater_id)
        page = look(engine, settings, rater_id)
        if page.state == "finished":
            return
        if page.code is None:
            time.sleep(0.01)
            continue
        if drawn.random() < 0.3:
            with transaction(engine) as session:
                rater = session.get_one(Rater, rater_id)
                free_by_hand(session, session.get_one(Study, rater.study_id), rater.code, actor="Ada")
        give(engine, settings, rater_id, page.code, f"{rater_id} {number}", Verdict.CANNOT_DECIDE)
    pytest.fail(f"Rater {rater_id} never finished.")
