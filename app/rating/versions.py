"""The versions of a verdict. They are only ever added."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app import log
from app.errors import AppError, Conflict, Invalid
from app.models import Assignment, Rater, Rating, Sitting, Study, StudyState

LONGEST_TEXT = 2000
CLOSED = "The study was closed in the meantime, so no more verdicts are taken. Thank you for yours."


class ClosedMeanwhile(AppError):
    """Found out after writing. Not a Conflict, which a page answers and so commits: this must undo what was written."""

    status_code = 409


def versions_of(session: Session, assignment: Assignment, idempotency_key: str) -> list[Rating]:
    """What was given on this assignment, the oldest first. A key that was used for another one is refused."""
    mine_or_same_key = or_(Rating.assignment_id == assignment.id, Rating.idempotency_key == idempotency_key)
    found = list(session.scalars(select(Rating).where(mine_or_same_key).order_by(Rating.version)))
    if any(version.assignment_id != assignment.id for version in found):
        raise Conflict("This form was already sent for another neuron. Go to the current neuron and answer there.")
    return found


def with_key(versions: Sequence[Rating], idempotency_key: str) -> Rating | None:
    """The version that a form with this key has made already."""
    return next((version for version in versions if version.idempotency_key == idempotency_key), None)


def checked_text(hypothesis: str) -> str:
    """A hypothesis as it is kept: browsers send a line end as two characters."""
    text = hypothesis.replace("\r\n", "\n")
    if len(text) > LONGEST_TEXT:
        raise Invalid(f"Your hypothesis has {len(text)} characters; at most {LONGEST_TEXT} are kept. Shorten it.")
    return text


def digest(version: Rating, assignment_code: str) -> str:
    """What the log holds instead of the text. The random key keeps it from being guessed."""
    verdict = version.verdict.value if version.verdict else None
    content = [assignment_code, version.version, version.action.value, verdict, version.hypothesis]
    text = json.dumps([*content, version.idempotency_key], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def add_version(
    session: Session, rater: Rater, assignment: Assignment, sitting: Sitting | None, at: datetime, version: Rating
) -> Rating:
    version.assignment_id = assignment.id
    version.sitting_id = sitting.id if sitting else None
    version.at = at
    version.seconds = max(0.0, (at - assignment.shown_at).total_seconds())
    session.add(version)
    session.flush()
    record(
        session, rater, f"verdict {version.action.value}",
        assignment=assignment.code, version=version.version, digest=digest(version, assignment.code),
    )  # fmt: skip
    return version


def record(session: Session, rater: Rater, what: str, **detail: str | int) -> None:
    """A line in the study's log. It locks the study, so from here on the study cannot close under our hands."""
    log.append(session, rater.study_id, f"rater {rater.code}", what, **detail)
    if session.scalars(select(Study.state).where(Study.id == rater.study_id)).one() is not StudyState.OPEN:
        raise ClosedMeanwhile(CLOSED)
