"""Studies and raters for tests of rating: four items on two seats, or a sealed study in the browser."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.models import Study
from app.raters.actions import invite
from app.settings import Settings
from tests.app import seated
from tests.app.rating.counted import ByName
from tests.app.rating.pages import Join, whole
from tests.app.seated import Clock, Hand, seated_study
from tests.studies import make_study


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=4, seats=2)


@pytest.fixture
def rater(session: Session, settings: Settings, study: Study) -> ByName:
    return lambda name: Hand(session, settings, seated.join(session, study, name))


@pytest.fixture
def join(session: Session, settings: Settings, client: TestClient) -> Join:
    """A study, and the client let in as one of its raters."""

    def join(name: str = "Bo", study: Study | None = None, **design: int) -> Study:
        study = study or make_study(session, settings, **design)
        token = invite(session, study, name, actor="Ada")
        client.cookies.delete("glance_rater")
        whole(client, "post", f"/join/{token}", data={"consent": "yes"})
        return study

    return join
