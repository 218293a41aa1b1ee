"""The act of unblinding: what takes long is done before it holds the writer, and looked at again where it matters."""

import sqlite3
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, delete, select, text, update
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.log import append, first_broken_line
from app.models import Event, Item, ItemKey, OpenedItem, Rater, Rating, Study, StudyState, Verdict
from app.settings import Settings
from app.store.db import reading, transaction
from app.studies import actions, beforehand, so_far
from app.studies.opening import open_study
from app.studies.serving import serving_seconds
from tests.app.seated import Hand, join
from tests.studies import PASSWORD, make_administrator, make_study


@pytest.fixture
def code(own_engine: Engine, settings: Settings) -> str:
    """Of a closed study, in a database that commits."""
    with transaction(own_engine) as session:
        study = make_study(session, settings)
        hand = Hand(session, settings, join(session, study))
        hand.begin()
        hand.give()
        actions.close_study(session, study.code, make_administrator(session))
        return study.code


def unblind(engine: Engine, settings: Settings, code: str) -> StudyState:
    return actions.unblind(
        partial(transaction, engine), partial(reading, engine), settings, code, "Ada",
        password=PASSWORD, typed_name="Winter study", reason="all verdicts are in",
    )  # fmt: skip


def write_at_once(engine: Engine) -> None:
    """Take the writer, or the study's row, without any patience; fails where somebody holds it."""
    if engine.dialect.name == "sqlite":
        connection = sqlite3.connect(str(engine.url.database), timeout=0, isolation_level=None)
        connection.execute("begin immediate")
        connection.close()
        return
    with engine.begin() as connection:
        connection.execute(text("select id from study for update nowait"))


def test_nobody_who_writes_waits_while_items_are_opened_and_measured(
    own_engine: Engine, settings: Settings, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote: list[str] = []

    def opening(session: Session, with_settings: Settings, study: Study) -> object:
        write_at_once(own_engine)
        wrote.append("while opening")
        return open_study(session, with_settings, study)

    def measuring(session: Session, items: dict[int, object]) -> dict[int, float]:
        write_at_once(own_engine)
        wrote.append("while measuring")
        return serving_seconds(session, items)

    def reading_what_was_said(session: Session, study: Study) -> so_far.SoFar:
        write_at_once(own_engine)
        wrote.append("while reading")
        return really(session, study)

    really = so_far.read
    monkeypatch.setattr(beforehand, "open_study", opening)
    monkeypatch.setattr(beforehand, "serving_seconds", measuring)
    monkeypatch.setattr(beforehand, "read", reading_what_was_said)
    monkeypatch.setattr(so_far, "read", reading_what_was_said)
    assert unblind(own_engine, settings, code) is StudyState.UNBLINDED
    assert wrote == ["while opening", "while measuring", "while reading"]
    with reading(own_engine) as session:
        assert all(session.scalars(select(OpenedItem.serving_seconds)).all())


CREATED = Event.line == 1
CHANGES: dict[str, Any] = {
    "capacity": update(Item).values(capacity=2),
    "leaf": update(ItemKey).values(leaf="0" * 64),
    "secret": update(Study).values(sealed_secret=b"\0" * 60),
    "a line's detail": update(Event).where(CREATED).values(detail={"root": "another"}),
    "a line's actor": update(Event).where(CREATED).values(actor="Bob"),
    "a line's time": update(Event).where(CREATED).values(at=datetime(2031, 3, 1, tzinfo=UTC)),
    "a line that is gone": delete(Event).where(Event.what == "study closed"),
    "a verdict": update(Rating).values(verdict=Verdict.CANNOT_DECIDE),
    "a verdict's seconds": update(Rating).values(seconds=1.0),
    "a verdict that is gone": delete(Rating),
    "whose verdict it is": update(Rater).values(code="another"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_in_the_meantime_is_opened_again_and_found(
    own_engine: Engine, settings: Settings, code: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    look = beforehand.look

    def overtaken(session: Session, with_settings: Settings, study: Study) -> beforehand.Look:
        found = look(session, with_settings, study)
        monkeypatch.setattr(actions, "look", look)
        with transaction(own_engine) as other:
            other.execute(CHANGES[what])
        return found

    monkeypatch.setattr(actions, "look", overtaken)
    with pytest.raises((Conflict, actions.AppError)):
        unblind(own_engine, settings, code)
    with reading(own_engine) as session:
        assert session.scalars(select(Study.state)).one() is StudyState.CLOSED
        assert session.scalars(select(OpenedItem)).all() == []
        assert session.scalars(select(Event.what).order_by(Event.line.desc())).first() == "unblinding refused"


def test_what_was_added_to_the_log_in_the_meantime_is_read_and_nothing_else_again(
    own_engine: Engine, settings: Settings, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = beforehand.look

    def overtaken(session: Session, with_settings: Settings, study: Study) -> beforehand.Look:
        found = look(session, with_settings, study)
        with transaction(own_engine) as other:
            append(other, study.id, "Bob", "unblinding refused", why="another password")
        monkeypatch.setattr(so_far, "read", lambda *_: pytest.fail("nothing that was read has changed"))
        return found

    monkeypatch.setattr(actions, "look", overtaken)
    assert unblind(own_engine, settings, code) is StudyState.UNBLINDED
    with reading(own_engine) as session:
        events = session.scalars(select(Event).order_by(Event.line)).all()
        assert [event.what for event in events][-2:] == ["unblinding refused", "study unblinded"]
        assert first_broken_line(events) is None


def test_a_study_that_was_opened_again_in_the_meantime_stays_blind(
    own_engine: Engine, settings: Settings, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = beforehand.look

    def overtaken(session: Session, with_settings: Settings, study: Study) -> beforehand.Look:
        found = look(session, with_settings, study)
        with transaction(own_engine) as other:
            actions.reopen_study(other, code, make_administrator(other, "Bob"))
        return found

    monkeypatch.setattr(actions, "look", overtaken)
    with pytest.raises(Conflict, match="still open"):
        unblind(own_engine, settings, code)
