"""What is written in a transaction of its own stays when the request is refused: seen only with real commits."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, func, select

from app.administrators.signing_in import FREE_TRIES
from app.main import create_app
from app.models import Administrator, Event, OpenedItem, Study, StudyState
from app.settings import Settings
from app.store.db import transaction
from app.studies.actions import close_study
from tests.studies import PASSWORD, make_administrator, make_study


@pytest.fixture
def served(own_engine: Engine, own_database_url: str, tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
    with transaction(own_engine) as session:
        study = make_study(session, settings)
        close_study(session, study.code, make_administrator(session))
    with TestClient(create_app(settings), follow_redirects=False) as client:
        yield client


def sign_in(client: TestClient, password: str = PASSWORD) -> int:
    return client.post("/sign-in", data={"name": "Ada", "password": password}).status_code


def test_tries_that_come_at_once_are_all_counted(served: TestClient, own_engine: Engine) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda number: sign_in(served, f"guess {number}"), range(12)))
    assert answers == [401] * 12
    with transaction(own_engine) as session:
        administrator = session.scalars(select(Administrator)).one()
        assert administrator.failed_sign_ins == FREE_TRIES, "no more guesses were taken than are free"
        assert administrator.locked_until is not None
    assert sign_in(served) == 401


def test_a_refused_unblinding_stays_in_the_log(served: TestClient, own_engine: Engine) -> None:
    assert sign_in(served) == 303
    with transaction(own_engine) as session:
        code = session.scalars(select(Study.code)).one()
    data = {"name": "Winter study", "reason": "curiosity", "password": "a guess"}
    assert served.post(f"/studies/{code}/unblind", data=data).status_code == 403
    data |= {"name": "Summer study", "password": PASSWORD}
    assert served.post(f"/studies/{code}/unblind", data=data).status_code == 422
    with transaction(own_engine) as session:
        refused = session.scalars(select(Event.detail).where(Event.what == "unblinding refused").order_by(Event.line))
        assert ["fit" in detail["why"] for detail in refused] == [True, False]
        assert session.scalars(select(Study.state)).one() is StudyState.CLOSED


def test_of_two_unblindings_at_once_one_is_done(served: TestClient, own_engine: Engine) -> None:
    assert sign_in(served) == 303
    with transaction(own_engine) as session:
        code = session.scalars(select(Study.code)).one()
    data = {"name": "Winter study", "reason": "all are in", "password": PASSWORD}
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda _: served.post(f"/studies/{code}/unblind", data=data).status_code, range(2))
    assert sorted(answers) == [303, 409]
    with transaction(own_engine) as session:
        assert session.scalars(select(func.count()).select_from(OpenedItem)).one() == 12
        assert session.scalars(select(func.count()).where(Event.what == "study unblinded")).one() == 1
