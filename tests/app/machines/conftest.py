"""A study, and a server on loopback that answers as a script says."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from app.models import (
    Study,
)
from app.settings import Settings
from app.store.db import transaction
from tests.app.endpoint import Script, serving
from tests.studies import make_study


@pytest.fixture
def script() -> Iterator[Script]:
    with serving(Script()) as started:
        yield started


@pytest.fixture
def study(own_engine: Engine, settings: Settings) -> Study:
    with transaction(own_engine) as session:
        return make_study(session, settings, neurons_per_arm=3)
