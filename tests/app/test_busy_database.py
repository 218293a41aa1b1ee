"""Another program holds the database for too long, or it is away: a sentence and a time to come back, and no fault."""

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select

from app.main import create_app
from app.models import Rating
from app.raters.actions import invite
from app.settings import Settings
from app.store import sqlite
from app.store.db import transaction
from tests.studies import make_study

SOMEBODY = {"cookie": "glance_rater=xxxxxxxxxxxxxxxxxxxx"}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 200)


@pytest.fixture
def rater(impatient: None, own_engine: Engine, settings: Settings) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """At the first neuron, and what their form would send."""
    if own_engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL has many writers")
    with transaction(own_engine) as session:
        token = invite(session, make_study(session, settings), "Bo", actor="Ada")
    app = create_app(settings.model_copy(update={"database_url": str(own_engine.url)}))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.post(f"/join/{token}", data={"consent": "yes"})
        client.post("/rate/begin")
        form = dict(re.findall(r'name="(assignment|key)" value="([^"]+)"', client.get("/rate").text))
        yield client, form | {"verdict": "INTERPRETABLE"}


@pytest.mark.parametrize("path", ["/rate/verdict", "/rate/draft", "/rate/skip", "/rate/begin"])
@pytest.mark.parametrize("code", ["en", "zh-Hans"])
def test_while_another_program_holds_the_lock_whoever_writes_is_told_when_to_come_back(
    rater: tuple[TestClient, dict[str, str]], own_engine: Engine, path: str, code: str
) -> None:
    client, form = rater
    client.cookies.set("glance_language", code)
    with closing(sqlite3.connect(own_engine.url.database or "", isolation_level=None)) as other:
        other.execute("begin immediate")
        begun = time.monotonic()
        answer = client.post(path, data=form)
        assert time.monotonic() - begun < 15
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        assert {"en": "The database is busy", "zh-Hans": "数据库正忙"}[code] in answer.text
        assert client.get("/rate").status_code == 200, "whoever reads goes on"
        other.execute("rollback")
    assert client.post("/rate/verdict", data=form).status_code == 200
    with transaction(own_engine) as session:
        assert session.scalars(select(func.count(Rating.id))).one() == 1


def test_a_database_that_is_away_is_no_fault_of_ours(settings: Settings) -> None:
    url = "postgresql+psycopg://somebody:hidden@127.0.0.1:1/none"
    with TestClient(create_app(settings.model_copy(update={"database_url": url}))) as client:
        answer = client.get("/rate", headers=SOMEBODY)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert "cannot be reached" in answer.text
    assert "hidden" not in answer.text


def test_what_we_asked_wrongly_stays_a_fault_of_ours(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    empty = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path_factory.mktemp('empty')}/empty.db"})
    with TestClient(create_app(empty), raise_server_exceptions=False) as client:
        answer = client.get("/rate", headers=SOMEBODY)
    assert (answer.status_code, "retry-after" in answer.headers) == (500, False)
