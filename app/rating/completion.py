"""What a rater who has done everything is given: a code that says so, and the way back to the panel."""

import secrets
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import RaterPhase, Study
from app.rating.locked import SomeRater
from app.rating.phases import next_phase
from app.rating.returning import allowed_host, filled
from app.rating.terms import Terms
from app.settings import Settings

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Those that are not taken for one another."""


class Completion(NamedTuple):
    code: str
    """Empty where the study has none."""
    address: str | None
    host: str | None
    """Where the address leads."""


def new_completion_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(8))


def completion_of(session: Session, settings: Settings, rater: SomeRater, done: int) -> Completion | None:
    """For a rater for whom nothing is left to rate. None before the last phase is over, or where nothing is given."""
    design, stored = session.execute(select(Study.design, Study.terms).where(Study.id == rater.study_id)).one()
    last = rater.phase is RaterPhase.DONE
    if not done or not (last or (rater.phase is RaterPhase.RATING and next_phase(rater.phase, design) is None)):
        return None
    terms = Terms.of(stored)
    code = own_code(terms, rater)
    host = allowed_host(terms.return_address, settings.return_hosts)
    if not code and host is None:
        return None
    return Completion(code, filled(terms.return_address, code) if host else None, host)


def own_code(terms: Terms, rater: SomeRater) -> str:
    """The study's code, and after it the rater's own letters where the study wants them."""
    letters = rater.completion_code if terms.own_codes else None
    return "-".join(part for part in (terms.completion_code, letters) if part)
