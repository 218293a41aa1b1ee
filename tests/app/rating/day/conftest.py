"""A study with more neurons than a day has hours, and a rater at work in the browser."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import Study
from app.settings import Settings
from tests.app.seated import Clock, seated_study
from tests.studies import make_study, open_rater


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=99, seats=2, share=99)


@pytest.fixture
def at_work(client: TestClient, session: Session, settings: Settings) -> Study:
    study = make_study(session, settings)
    open_rater(client, session, study)
    client.post("/rate/begin")
    return study
