"""A study of six items, all of which each of two seats may be asked for."""

import pytest
from sqlalchemy.orm import Session

from app.models import Study
from tests.app.seated import Clock, seated_study


@pytest.fixture
def study(session: Session, time: Clock) -> Study:
    return seated_study(session, items=6, seats=2, share=6)
