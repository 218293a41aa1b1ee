"""The act of unblinding: what takes long is done before it holds the writer, and looked at again where it matters."""

import sqlite3
from functools import partial

import pytest
from sqlalchemy import Engine, select, text, update
from sqlalchemy.orm import Session

from app.db import reading, transaction
from app.errors import Conflict
from app.models import Event, Item, ItemKey, OpenedItem, Study, StudyState
from app.settings import Settings
from app.studies import actions, beforehand
from app.studies.opening import open_study
from app.studies.serving import serving_seconds
from tests.studies import PASSWORD, make_administrator, make_study


@pytest.fixture
def code(own_engine: Engine, settings: Settings) -> str:
    """Of a closed study, in a database that commits."""
    with transaction(own_engine) as session:
        study = make_study(session, settings)
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

    monkeypatch.setattr(beforehand, "open_study", opening)
    monkeypatch.setattr(beforehand, "serving_seconds", measuring)
    assert unblind(own_engine, settings, code) is StudyState.UNBLINDED
    assert wrote == ["while opening", "while measuring"]
    with reading(own_engine) as session:
        assert all(session.scalars(select(OpenedItem.serving_seconds)).all())


@pytest.mark.parametrize("what", ["capacity", "leaf", "secret"])
def test_what_was_changed_in_the_meantime_is_opened_again_and_found(
    own_engine: Engine, settings: Settings, code: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    changes = {
        "capacity": update(Item).values(capacity=2),
        "leaf": update(ItemKey).values(leaf="0" * 64),
        "secret": update(Study).values(sealed_secret=b"\0" * 60),
    }
    look = beforehand.look

    def overtaken(session: Session, with_settings: Settings, study: Study) -> beforehand.Look:
        found = look(session, with_settings, study)
        monkeypatch.setattr(actions, "look", look)
        with transaction(own_engine) as other:
            other.execute(changes[what])
        return found

    monkeypatch.setattr(actions, "look", overtaken)
    with pytest.raises((Conflict, actions.AppError)):
        unblind(own_engine, settings, code)
    with reading(own_engine) as session:
        assert session.scalars(select(Study.state)).one() is StudyState.CLOSED
        assert session.scalars(select(OpenedItem)).all() == []
        assert session.scalars(select(Event.what).order_by(Event.line.desc())).first() == "unblinding refused"


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
