"""What a verdict and a page ask of the database: few statements, and no more of them as a study fills."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, Engine, Select, event, text
from sqlalchemy.orm import Session

from app import clock
from app.main import create_app
from app.raters.actions import invite
from app.rating.statements import FREE, FREE_OF_SEAT, FREE_OF_SEAT_ONWARD, FREE_ONWARD
from app.settings import Settings
from app.store.db import open_engine, transaction
from tests.app.seated import join, seated_study

MOST_FOR_A_VERDICT, MOST_FOR_A_PAGE = 14, 2
"""As the driver is given them, without BEGIN and COMMIT."""
AROUND = ("BEGIN", "COMMIT", "ROLLBACK", "SELECT 1", "pragma")
FIELD = re.compile(r'name="(assignment|key)" value="([^"]+)"')


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    """The statements that the driver is given, whoever gives them."""
    said: list[str] = []

    class Noting(psycopg.Cursor[Any]):
        def execute(self, query: Any, *args: Any, **more: Any) -> Self:
            said.append(query)
            return super().execute(query, *args, **more)

    def listen(connection: Any, *_: object) -> None:
        if engine.dialect.name == "sqlite":
            connection.set_trace_callback(said.append)
        else:
            connection.cursor_factory = Noting

    event.listen(engine, "checkout", listen)
    try:
        yield said
    finally:
        event.remove(engine, "checkout", listen)
        engine.dispose()
        said[:] = [statement for statement in said if statement and not statement.startswith(AROUND)]


@pytest.fixture
def browser(own_database_url: str, settings: Settings) -> Iterator[TestClient]:
    """Somebody at work on the first of 30 neurons, in the application as it is served."""
    engine = open_engine(own_database_url)
    with transaction(engine) as session:
        token = invited(session)
    engine.dispose()
    with TestClient(create_app(settings.model_copy(update={"database_url": own_database_url}))) as client:
        client.headers["HX-Request"] = "true"
        client.post(f"/join/{token}", data={"consent": "yes"})
        client.post("/rate/begin")
        yield client


def invited(session: Session) -> str:
    return invite(session, seated_study(session, items=30, seats=1, share=30), "Rater", actor="Ada")


def give(client: TestClient, page: str) -> str:
    answer = client.post("/rate/verdict", data=dict(FIELD.findall(page)) | {"verdict": "INTERPRETABLE"})
    assert answer.status_code == 200, answer.text
    return answer.text


def engine_of(client: TestClient) -> Engine:
    engine: Engine = client.app.state.engine  # type: ignore[attr-defined]
    return engine


def writers_of(client: TestClient) -> Engine:
    """What the event loop writes with."""
    engine: Engine = client.app.state.writer._on_the_spot  # type: ignore[attr-defined]
    return engine


def test_a_verdict_and_the_next_neuron_take_few_statements(browser: TestClient) -> None:
    page = give(browser, browser.get("/rate").text)
    with counted(writers_of(browser)) as said:
        page = give(browser, page)
    assert 0 < len(said) <= MOST_FOR_A_VERDICT, "\n".join(said)
    first = len(said)
    for _ in range(20):
        page = give(browser, page)
    with counted(writers_of(browser)) as said:
        give(browser, page)
    assert len(said) == first


def test_a_page_takes_fewer_and_writes_nothing(browser: TestClient) -> None:
    with counted(engine_of(browser)) as said:
        assert "verdict" in browser.get("/rate").text
    assert 0 < len(said) <= MOST_FOR_A_PAGE, "\n".join(said)
    assert all(statement.startswith("SELECT") for statement in said)


@pytest.mark.parametrize("statement", [FREE, FREE_ONWARD, FREE_OF_SEAT, FREE_OF_SEAT_ONWARD])
def test_the_next_neuron_is_found_on_the_way_and_not_by_sorting_all(own_engine: Engine, statement: Select[int]) -> None:
    sent: list[tuple[str, Any]] = []

    def note(_connection: Connection, _cursor: object, said: str, parameters: Any, *_: object) -> None:
        sent.append((said, parameters))

    with transaction(own_engine) as session:
        rater = join(session, seated_study(session, items=3000, seats=2, share=3000))
        session.execute(text("analyze"))
    explain = "explain query plan" if own_engine.dialect.name == "sqlite" else "explain"
    with own_engine.connect() as connection:
        event.listen(own_engine, "before_cursor_execute", note)
        connection.execute(statement, {"rater": rater.id, "at": clock.now()})
        event.remove(own_engine, "before_cursor_execute", note)
        said, parameters = sent[-1]
        plan = str(connection.exec_driver_sql(f"{explain} {said}", parameters).all())
    assert 'Sort Key: placement."position"' not in plan  # PostgreSQL
    assert "TEMP B-TREE FOR ORDER BY" not in plan  # SQLite
