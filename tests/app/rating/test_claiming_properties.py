"""Whatever raters do, in whatever order: no item gets more verdicts than it has places, and none is lost."""

from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import HealthCheck, strategies
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.log import first_broken_line
from app.models import Assignment, AssignmentState, Event, Rating, Verdict
from app.rating import actions
from app.rating.statements import GIVEN_STATES
from app.settings import Settings
from tests.app.seated import Clock, Hand, faults, join, seated_study, stopped_clock

RATERS = strategies.integers(0, 2)
CHOICES = strategies.integers(0, 10_000)


class Raters(RuleBasedStateMachine):
    """Three raters on three items of one place each, and a clock that runs as it likes."""

    def __init__(self, engine: Engine, app_settings: Settings, time: Clock) -> None:
        super().__init__()
        self.time, self.settings = time, app_settings
        self.connection = engine.connect()
        self.transaction = self.connection.begin()
        self.session = Session(self.connection, join_transaction_mode="create_savepoint", expire_on_commit=False)
        study = seated_study(self.session, items=3, seats=3, capacity=1, share=3)
        self.hands = [Hand(self.session, app_settings, join(self.session, study, name)) for name in "ABC"]
        self.sent: list[tuple[int, str, Verdict, str]] = []
        self.acknowledged = 0

    def teardown(self) -> None:
        assert first_broken_line(self.session.scalars(select(Event).order_by(Event.line))) is None
        self.session.close()
        self.transaction.rollback()
        self.connection.close()

    def attempt(self, act: Callable[[], object]) -> None:
        """What is refused with a sentence is undone, as a request would be."""
        savepoint = self.session.begin_nested()
        try:
            act()
        except Conflict:
            savepoint.rollback()
            self.session.expire_all()
        else:
            savepoint.commit()

    def any_assignment(self, hand: Hand, choice: int) -> str | None:
        mine = select(Assignment.code).where(Assignment.rater_id == hand.rater.id).order_by(Assignment.id)
        codes = self.session.scalars(mine).all()
        return codes[choice % len(codes)] if codes else None

    @rule(who=RATERS)
    def begin(self, who: int) -> None:
        self.hands[who].begin()

    @rule(who=RATERS, verdict=strategies.sampled_from(Verdict))
    def rate_what_is_shown(self, who: int, verdict: Verdict) -> None:
        page = self.hands[who].page
        if page.code is not None:
            self.send(who, page.code, verdict, f"key {self.acknowledged}")
            assert self.hands[who].page.code != page.code

    @rule(who=RATERS, choice=CHOICES, verdict=strategies.sampled_from(Verdict))
    def send_an_old_page(self, who: int, choice: int, verdict: Verdict) -> None:
        code = self.any_assignment(self.hands[who], choice)
        if code is not None:
            self.attempt(lambda: self.send(who, code, verdict, f"key {self.acknowledged}"))

    @rule(choice=CHOICES)
    def send_a_form_again(self, choice: int) -> None:
        if self.sent:
            who, code, verdict, key = self.sent[choice % len(self.sent)]
            before = self.count_ratings()
            self.hands[who].give(verdict, code=code, key=key)
            assert self.count_ratings() == before

    @rule(who=RATERS)
    def undo(self, who: int) -> None:
        if self.hands[who].page.last_verdict is not None:
            self.hands[who].undo(key=f"key {self.acknowledged}")
            self.acknowledged += 1

    @rule(who=RATERS, choice=CHOICES)
    def skip(self, who: int, choice: int) -> None:
        code = self.any_assignment(self.hands[who], choice)
        if code is not None:
            self.attempt(lambda: self.hands[who].skip(code))

    @rule(who=RATERS)
    def go_on(self, who: int) -> None:
        actions.go_on(self.session, self.settings, self.hands[who].locked)

    @rule(minutes=strategies.sampled_from([1, 16, 31]))
    def wait(self, minutes: int) -> None:
        self.time.wait(minutes=minutes)

    @invariant()
    def nothing_is_wrong(self) -> None:
        self.session.flush()
        assert faults(self.session, self.time.now()) == []

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.count_ratings() == self.acknowledged

    @invariant()
    def nobody_waits_for_what_cannot_come(self) -> None:
        """With everything given, everybody is thanked; and whoever is offered work can take it."""
        for hand in self.hands:
            mine = select(func.count()).where(Assignment.rater_id == hand.rater.id)
            done = self.session.scalars(mine.where(Assignment.state.in_(GIVEN_STATES))).one()
            held = self.session.scalars(mine.where(Assignment.state == AssignmentState.HELD)).one()
            page = hand.page
            assert page.done == done
            assert page.state != "item" or held
            assert page.state not in ("finished", "waiting") or not held

    def send(self, who: int, code: str, verdict: Verdict, key: str) -> None:
        rating = self.hands[who].give(verdict, code=code, key=key)
        if rating.idempotency_key == key:  # else the same verdict was there already
            self.acknowledged += 1
            self.sent.append((who, code, verdict, key))

    def count_ratings(self) -> int:
        return self.session.scalars(select(func.count()).select_from(Rating)).one()


@pytest.mark.slow
def test_no_order_of_events_breaks_a_promise(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = stopped_clock(monkeypatch)
    run_state_machine_as_test(
        lambda: Raters(engine, settings, time),
        settings=hypothesis.settings(
            max_examples=30,
            stateful_step_count=60,
            deadline=None,
            derandomize=True,
            phases=[hypothesis.Phase.generate],  # a failure prints its steps; shrinking them takes minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
