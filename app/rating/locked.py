"""A rater who writes: one request at a time, and what keeps them from it. Part of a transaction that writes."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.util import identity_key

from app.errors import Conflict, Refused
from app.models import BrowserSession, Rater, RaterPhase, Study, StudyState
from app.store.compiled import Compiled
from app.web.security import RUNS, let_in_rater, shown_token

CLOSED = "The study was closed in the meantime, so no more verdicts are taken. Thank you for yours."
ELSEWHERE = "You have gone on to the next part, so verdicts can neither be given nor changed any more. Go on there."
SHUT_OUT = "This browser is no longer let in. Ask the person who sent you the link."


class LockedRater(NamedTuple):
    """The columns of a rater that rating looks at. Nobody else changes them before the transaction ends."""

    id: int
    code: str
    study_id: int
    share: int | None
    phase: RaterPhase
    finished_at: datetime | None
    deactivated_at: datetime | None
    completion_code: str | None
    study_state: StudyState
    """As it was just before: only the log's lock keeps it as it is."""


SomeRater = Rater | LockedRater
"""Whom it does not matter whether they are locked."""

COLUMNS = (*(getattr(Rater, name) for name in LockedRater._fields if name != "study_state"), Study.state)
LOCKED = select(*COLUMNS).join(Study, Study.id == Rater.study_id).with_for_update(of=Rater, key_share=True)
OF_ID = Compiled(LOCKED.where(Rater.id == bindparam("rater")))
OF_BROWSER = Compiled(LOCKED.join(BrowserSession, BrowserSession.rater_id == Rater.id).where(*RUNS))
CHANGE = Compiled(update(Rater).where(Rater.id == bindparam("rater")))


def lock_rater(session: Session, rater_id: int) -> LockedRater:
    """A second tab and a double click wait here, and see what the first one did."""
    rater = LockedRater(*OF_ID.one(session, rater=rater_id))
    if rater.deactivated_at is not None:
        raise Refused(SHUT_OUT)
    return rater


def lock_rater_of(session: Session, token: str | None) -> LockedRater:
    """The same of whoever is let in with the token of a browser. Raises SignedOut where nobody is."""
    row = OF_BROWSER.row(session, **shown_token(token)) if token else None
    rater = LockedRater(*row) if row else None
    return let_in_rater(rater if rater and rater.deactivated_at is None else None)


def lock_loaded(session: Session, rater: Rater) -> StudyState:
    """Lock a rater who was loaded, and bring them up to date. Returns the study's state."""
    state = lock_rater(session, rater.id).study_state
    session.refresh(rater)
    return state


def change_rater(session: Session, rater: LockedRater, **values: datetime | None) -> LockedRater:
    CHANGE.run(session, rater=rater.id, **values)
    loaded = session.identity_map.get(identity_key(Rater, rater.id))
    if loaded is not None:
        session.expire(loaded, list(values))
    return rater._replace(**values)  # type: ignore[arg-type]


def require_open(state: StudyState) -> None:
    if state is not StudyState.OPEN:
        raise Conflict(CLOSED)


def require_rating(rater: LockedRater) -> None:
    """Verdicts are given before the hypothesis check and the guesses, which could sway them."""
    require_open(rater.study_state)
    if rater.phase is not RaterPhase.RATING:
        raise Conflict(ELSEWHERE)
