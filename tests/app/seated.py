"""A study whose items have no text, and raters on its seats: for tests about who gets which item, and when."""

import random
import secrets
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.log import FIRST
from app.models import (
    Assignment,
    AssignmentState,
    Item,
    ItemContent,
    ItemKind,
    Placement,
    Rater,
    RaterKind,
    Rating,
    RatingAction,
    Seat,
    Study,
    Verdict,
)
from app.raters import actions as raters
from app.rating import actions
from app.rating.locked import LockedRater, lock_rater
from app.rating.queries import RatingPage, rating_page
from app.rating.versions import Version
from app.settings import Settings

YES, NO, UNSURE = Verdict.INTERPRETABLE, Verdict.NOT_INTERPRETABLE, Verdict.CANNOT_DECIDE


@dataclass
class Clock:
    """The server's clock in the hand of a test."""

    at: datetime = field(default_factory=lambda: datetime(2031, 3, 1, 9, 0, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at

    def wait(self, **how_long: float) -> None:
        self.at += timedelta(**how_long)


def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock()
    monkeypatch.setattr(clock, "now", stopped.now)
    return stopped


def seated_study(
    session: Session,
    *,
    items: int = 4,
    seats: int = 2,
    capacity: int = 1,
    share: int | None = None,
    name: str = "Small",
) -> Study:
    """Items in the same number of places, dealt to seats in a drawn order; shares add up to all places."""
    digest = secrets.token_hex(32)
    study = Study(
        name=name, design={}, plan={}, plan_digest=digest, sources=[], seal_root=digest, sealed_parts={},
        sealed_secret=b"", log_head=FIRST, log_lines=0,
    )  # fmt: skip
    session.add(study)
    session.flush()
    rows = [
        Item(study_id=study.id, kind=ItemKind.NEURON, capacity=capacity, content_digest=digest) for _ in range(items)
    ]
    session.add_all(rows)
    session.flush()
    session.add_all(ItemContent(item_id=row.id, fragment=b"%d" % row.id, wide_fragment=b"wide") for row in rows)
    for number in range(1, seats + 1):
        own = -(-items * capacity // seats) if share is None else share
        seat = Seat(study_id=study.id, number=number, share=own)
        session.add(seat)
        session.flush()
        order = random.Random(number).sample(rows, items)
        session.add_all(
            Placement(seat_id=seat.id, item_id=row.id, position=at, unit_tag=f"{row.id:064d}", kind=row.kind)
            for at, row in enumerate(order, start=1)
        )
    session.flush()
    return study


def join(session: Session, study: Study, name: str = "Rater", kind: RaterKind | None = None) -> Rater:
    return raters.join(session, raters.invite(session, study, name, actor="Ada", kind=kind))


@dataclass
class Hand:
    """A rater at work, without HTTP."""

    session: Session
    settings: Settings
    rater: Rater

    @property
    def locked(self) -> LockedRater:
        """As each of their requests begins."""
        return lock_rater(self.session, self.rater.id)

    @property
    def page(self) -> RatingPage:
        return rating_page(self.session, self.settings, self.rater)

    def begin(self) -> RatingPage:
        actions.continue_sitting(self.session, self.settings, self.locked)
        return self.page

    def give(
        self, verdict: Verdict = YES, hypothesis: str = "", *, code: str | None = None, key: str | None = None
    ) -> Version:
        code = code or self.page.code
        assert code is not None
        key = key or secrets.token_hex(16)
        return actions.submit(self.session, self.settings, self.locked, code, verdict, hypothesis, key)

    def undo(self, code: str | None = None, key: str | None = None) -> RatingPage:
        last = self.page.last_verdict
        code = code or (last.code if last else "")
        actions.undo(self.session, self.settings, self.locked, code, key or secrets.token_hex(16))
        return self.page

    def skip(self, code: str | None = None) -> RatingPage:
        actions.skip(self.session, self.settings, self.locked, code or self.page.code or "")
        return self.page


def item_of(session: Session, code: str | None) -> int:
    """The item behind an assignment."""
    return session.scalars(select(Assignment.item_id).where(Assignment.code == code)).one()


def faults(session: Session, at: datetime) -> list[str]:
    """Everything that may never be true of the assignments and ratings in the database."""
    found: list[str] = []
    capacities = {row.id: row.capacity for row in session.execute(select(Item.id, Item.capacity))}
    assignments = session.scalars(select(Assignment).execution_options(populate_existing=True)).all()
    filled = Counter(a.item_id for a in assignments if a.state is AssignmentState.RATED)
    running = Counter(a.item_id for a in assignments if a.state is AssignmentState.HELD and a.leased_until > at)
    found += [f"item {i} has too many verdicts" for i, n in filled.items() if n > capacities[i]]
    found += [f"item {i} is promised too often" for i, n in (filled + running).items() if n > capacities[i]]
    twice = Counter((a.rater_id, a.item_id) for a in assignments)
    found += [f"rater and item {pair} are together twice" for pair, n in twice.items() if n > 1]
    for assignment in assignments:
        versions = session.scalars(
            select(Rating).where(Rating.assignment_id == assignment.id).order_by(Rating.version)
        ).all()
        if [v.version for v in versions] != list(range(1, len(versions) + 1)):
            found.append(f"versions of assignment {assignment.id} have gaps")
        stands = bool(versions) and versions[-1].action is not RatingAction.WITHDRAWN
        if stands != (assignment.state in (AssignmentState.RATED, AssignmentState.SURPLUS)):
            found.append(f"assignment {assignment.id} is {assignment.state} against its versions")
        if stands and versions[-1].surplus != (assignment.state is AssignmentState.SURPLUS):
            found.append(f"assignment {assignment.id} is {assignment.state}, its newest version says otherwise")
    return found
