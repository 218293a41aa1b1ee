"""A study that was rated and unblinded."""

import pytest
from sqlalchemy.orm import Session

from tests.app.rated import Rated, rated_study


@pytest.fixture
def rated(session: Session) -> Rated:
    """GELU 2 of 6, SoLU + LN 5 of 6; the first neuron of each arm has two verdicts."""
    return rated_study(session, [["IN", "I", "N", "N", "C", "N"], ["II", "I", "I", "I", "I", "N"]])
