"""A study of six items on three seats."""

import pytest
from sqlalchemy.orm import Session

from app.models import Study
from tests.app.seated import seated_study


@pytest.fixture
def study(session: Session) -> Study:
    return seated_study(session, items=6, seats=3)
