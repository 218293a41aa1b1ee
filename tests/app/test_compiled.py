"""Statements run on the driver's cursor: the same values, rows and errors as through SQLAlchemy."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import Engine, bindparam, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Assignment, AssignmentState, Event, Item, ItemContent, Rater, Rating, Sitting, Study
from app.models.base import new_code
from app.store.compiled import Compiled
from app.store.db import transaction
from tests.app.seated import Hand, join, seated_study

MODELS = [Study, Rater, Sitting, Assignment, Rating, Item, ItemContent, Event]
PARIS = timezone(timedelta(hours=1))


@pytest.fixture
def study(session: Session, settings: Any) -> Study:
    """With a verdict, so that every kind of column has something in it."""
    study = seated_study(session)
    hand = Hand(session, settings, join(session, study))
    hand.begin()
    hand.give(hypothesis="逗号, 100 % of %(them)s")
    return study


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_read_as_sqlalchemy_reads_them(session: Session, study: Study, model: Any) -> None:
    statement = select(*model.__table__.columns)
    rows = Compiled(statement).rows(session)
    assert rows
    assert rows == [tuple(row) for row in session.execute(statement)]
    assert all(isinstance(row, tuple) for row in rows)


def test_values_are_sent_as_sqlalchemy_sends_them(session: Session, study: Study) -> None:
    detail = {"words": "“ö”", "list": [1, 2.5, None, True]}
    at = datetime(2031, 3, 1, 9, 0, 0, 123456, tzinfo=PARIS)
    values = {
        "study_id": study.id,
        "line": 99,
        "at": at,
        "actor": "a%sb",
        "what": "?",
        "detail": detail,
        "previous": "0" * 64,
    }
    Compiled(insert(Event)).run(session, **values, hash="1" * 64)
    event = session.scalars(select(Event).where(Event.line == 99)).one()
    assert (event.actor, event.what, event.detail, event.at) == ("a%sb", "?", detail, at)
    assert event.at.tzinfo is UTC or event.at.utcoffset() == timedelta(0)


def test_one_statement_takes_now_these_values_and_now_others(session: Session, study: Study) -> None:
    change = Compiled(update(Assignment).where(Assignment.code == bindparam("which")))
    code = session.scalars(select(Assignment.code)).first()
    change.run(session, which=code, draft="a")
    change.run(session, which=code, state=AssignmentState.SKIPPED, leased_until=now())
    session.expire_all()
    changed = session.scalars(select(Assignment).where(Assignment.code == code)).one()
    assert (changed.draft, changed.state) == ("a", AssignmentState.SKIPPED)


def test_what_the_session_holds_goes_first(session: Session, study: Study) -> None:
    study.name = "Renamed"
    assert Compiled(select(Study.name).where(Study.id == bindparam("study"))).one(session, study=study.id) == (
        "Renamed",
    )


def test_a_value_of_its_own_and_a_row_that_is_not_there(session: Session, study: Study) -> None:
    held = Compiled(select(Assignment.id).where(Assignment.state.in_([literal("released", Assignment.state.type)])))
    assert held.row(session) is None
    with pytest.raises(LookupError, match="no row"):
        held.one(session)
    assert Compiled(select(literal(7))).one(session) == (7,)


def test_what_an_insert_returns(session: Session, study: Study) -> None:
    open_sitting = Compiled(insert(Sitting).returning(Sitting.id, Sitting.started_at, Sitting.paused))
    at, rater = now(), session.scalars(select(Rater.id)).one()
    values = {
        "code": new_code(),
        "rater_id": rater,
        "started_at": at,
        "last_seen_at": at,
        "active_seconds": 0.5,
        "paused": True,
    }
    number, started, paused = open_sitting.one(session, **values, unrested_seconds=0.0)
    assert (started, paused) == (at, True)
    assert session.get_one(Sitting, number).active_seconds == 0.5


def test_errors_are_those_of_sqlalchemy(session: Session, study: Study) -> None:
    add = Compiled(insert(Event))
    line = session.scalars(select(Event)).first()
    assert line is not None
    values = {name: getattr(line, name) for name in ("study_id", "line", "at", "actor", "what", "detail", "previous")}
    with pytest.raises(IntegrityError), session.begin_nested():
        add.run(session, **values, hash="2" * 64)
    assert Compiled(select(Event.line).limit(1)).row(session), "the transaction goes on"


def test_a_transaction_within_a_transaction_is_undone_alone(session: Session, study: Study) -> None:
    rename = Compiled(update(Study).where(Study.id == bindparam("number")))
    name = Compiled(select(Study.name).where(Study.id == bindparam("number")))
    rename.run(session, number=study.id, name="Before")
    with session.begin_nested() as within:
        rename.run(session, number=study.id, name="Within")
        within.rollback()
    assert name.one(session, number=study.id) == ("Before",)
    with session.begin_nested():
        rename.run(session, number=study.id, name="After")
    assert name.one(session, number=study.id) == ("After",)


def test_a_connection_that_broke_is_not_used_again(own_engine: Engine) -> None:
    if own_engine.dialect.name != "postgresql":
        pytest.skip("SQLite has no server that could go away")
    number, broken = Compiled(select(func.pg_backend_pid())), []

    def act() -> None:
        with transaction(own_engine) as session, own_engine.connect() as other:
            broken.append(number.one(session)[0])
            other.execute(select(func.pg_terminate_backend(broken[0]))).all()
            number.one(session)

    with pytest.raises(OperationalError):
        act()
    with transaction(own_engine) as session:
        assert number.one(session)[0] not in broken


@pytest.mark.parametrize(
    "act",
    [
        lambda session: Compiled(insert(Assignment)).run(session, rater_id=1, item_id=1),
        lambda session: Compiled(select(Study.id).where(Study.id == bindparam("study"))).rows(session),
        lambda session: Compiled(select(Study.id)).rows(session, study=1),
    ],
    ids=["a default of the model's", "a value that is missing", "a value that nobody asked for"],
)
def test_a_statement_without_its_values_is_refused(session: Session, act: Callable[[Session], object]) -> None:
    with pytest.raises(ValueError, match="every value has to be given"):
        act(session)
