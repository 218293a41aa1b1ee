"""What a verdict and a page ask of the database: few statements, and no more of them as a study fills."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Connection, Engine, event
from sqlalchemy.orm import Session

from app.db import open_engine, transaction
from app.main import create_app
from app.raters.actions import invite
from app.settings import Settings
from tests.app.seated import seated_study

MOST_FOR_A_VERDICT, MOST_FOR_A_PAGE = 17, 3
"""Without BEGIN and COMMIT."""
FIELD = re.compile(r'name="(assignment|key)" value="([^"]+)"')


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    """The statements that are run on this engine."""
    said: list[str] = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("BEGIN"):
            said.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        event.remove(engine, "before_cursor_execute", note)


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


def test_a_verdict_and_the_next_neuron_take_few_statements(browser: TestClient) -> None:
    page = give(browser, browser.get("/rate").text)
    with counted(engine_of(browser)) as said:
        page = give(browser, page)
    assert 0 < len(said) <= MOST_FOR_A_VERDICT, "\n".join(said)
    first = len(said)
    for _ in range(20):
        page = give(browser, page)
    with counted(engine_of(browser)) as said:
        give(browser, page)
    assert len(said) == first


def test_a_page_takes_fewer_and_writes_nothing(browser: TestClient) -> None:
    with counted(engine_of(browser)) as said:
        assert "verdict" in browser.get("/rate").text
    assert 0 < len(said) <= MOST_FOR_A_PAGE, "\n".join(said)
    assert all(statement.startswith("SELECT") for statement in said)
