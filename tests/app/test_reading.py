"""Whoever only looks waits for nobody who writes, and nobody who writes waits for them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from app.main import create_app
from app.raters.actions import invite
from app.reports.taken import TAKEN
from app.settings import Settings
from app.store import sqlite
from app.store.db import transaction
from app.studies.actions import close_study
from tests.app.crawl import api_routes
from tests.studies import PASSWORD, make_administrator, make_study

WRITES_WHO_CAME = {"/audit.csv", "/sign-in/provider", "/sign-in/provider/return"}


@pytest.fixture
def served(own_engine: Engine, own_database_url: str, tmp_path: Path) -> Iterator[tuple[TestClient, str]]:
    """A server of a closed study, its browser let in as an administrator and as a rater; and the study's code."""
    settings = Settings(database_url=own_database_url, key_file=tmp_path / "key", _env_file=None)
    with transaction(own_engine) as session:
        study = make_study(session, settings)
        link, code = invite(session, study, "Bo", actor="Ada"), study.code
        ada = make_administrator(session)
    with TestClient(create_app(settings), follow_redirects=False, raise_server_exceptions=False) as client:
        assert client.post(f"/join/{link}", data={"consent": "yes"}).status_code == 303
        assert client.post("/sign-in", data={"name": "Ada", "password": PASSWORD}).status_code == 303
        with transaction(own_engine) as session:
            close_study(session, code, ada)
        yield client, code


def test_no_page_takes_the_lock_of_those_who_write(
    served: tuple[TestClient, str], own_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, code = served
    if own_engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL locks rows, and pages lock none")
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    taken = {one.dependency for one in TAKEN}
    asked = []
    with own_engine.connect() as writer:  # it has the lock, and keeps it
        assert writer.execute(text("pragma busy_timeout")).scalar_one()
        for route in api_routes(client):
            writes = route.path in WRITES_WHO_CAME or any(one.dependency in taken for one in route.dependencies)
            if "GET" not in (route.methods or ()) or writes:
                continue
            path = re.sub(r"\{\w+\}", "nowhere", re.sub(r"\{(study_)?code\}", code, route.path))
            answer = client.get(path)
            asked.append(path)
            assert answer.status_code < 500, f"{path}: {answer.status_code}"
    assert {f"/studies/{code}/unblind", f"/studies/{code}/open-item", f"/studies/{code}/plan", "/rate"} <= set(asked)
