"""What administrators do that no study's own log tells, written down. The page that shows it is app/audit."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app import clock
from app.models import AuditEvent

SHELL = "the command line"
SOMEBODY = "somebody unknown"
"""Who typed a name that nobody has. The name is not kept: people type passwords there."""
MOST_FAILURES = 5
WITHIN = timedelta(minutes=1)
Act = Literal[
    "signed in",
    "sign-in failed",
    "signed out",
    "administrator added",
    "roles changed",
    "address changed",
    "administrator deactivated",
    "administrator reactivated",
    "password given",
    "password changed",
    "download taken",
    "backup taken",
]


def record(
    session: Session,
    actor: str,
    what: Act,
    *,
    about: str = "",
    study_id: int | None = None,
    **detail: str | Sequence[str],
) -> None:
    session.add(AuditEvent(at=clock.now(), actor=actor, what=what, about=about, study_id=study_id, detail=detail))
    session.flush()


def record_failure(session: Session, actor: str, how: str) -> None:
    """A sign-in that failed, a few times a minute at most: whoever guesses cannot fill the disk."""
    lately = select(func.count()).where(
        AuditEvent.what == "sign-in failed", AuditEvent.actor == actor, AuditEvent.at > clock.now() - WITHIN
    )
    if session.scalars(lately).one() < MOST_FAILURES:
        record(session, actor, "sign-in failed", how=how)
