"""A closed study that two persons unblind."""

import pytest
from sqlalchemy.orm import Session

from app.models import Study
from app.settings import Settings
from app.studies.actions import close_study
from tests.studies import make_administrator, make_study


@pytest.fixture
def by_two(session: Session, settings: Settings) -> Study:
    study = make_study(session, settings, unblinders=2)
    close_study(session, study.code, make_administrator(session, "Dan"))
    return study
