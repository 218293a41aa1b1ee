"""What tests of a rater's stay share: a clock that stands still until it is told to go on, and a rater on a seat."""

import pytest
from sqlalchemy.orm import Session

from app.models import Study
from app.settings import Settings
from tests.app.seated import Clock, Hand, join, stopped_clock


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return stopped_clock(monkeypatch)


@pytest.fixture
def hand(session: Session, settings: Settings, study: Study) -> Hand:
    """A rater of the module's own study."""
    return Hand(session, settings, join(session, study))
