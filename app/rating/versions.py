"""The versions of a verdict. They are only ever added."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, insert, or_, select
from sqlalchemy.orm import Session

from app import log
from app.errors import AppError, Conflict, Invalid
from app.models import Rating, RatingAction, StudyState, Verdict
from app.rating.locked import CLOSED, SomeRater
from app.store.compiled import Compiled

LONGEST_TEXT = 2000


class Version(NamedTuple):
    """A row of `rating`: the same names, which its model explains."""

    assignment_id: int
    version: int
    action: RatingAction
    verdict: Verdict | None
    idempotency_key: str
    sitting_id: int | None
    at: datetime
    seconds: float
    hypothesis: str = ""
    lined_up: bool = False
    widened: bool = False
    late: bool = False
    surplus: bool = False
    id: int | None = None
    """None until it is stored."""


OF_ASSIGNMENT_OR_KEY = Compiled(
    select(*(getattr(Rating, name) for name in Version._fields))
    .where(or_(Rating.assignment_id == bindparam("assignment"), Rating.idempotency_key == bindparam("key")))
    .order_by(Rating.version)
)
ADD = Compiled(insert(Rating).returning(Rating.id))


class ClosedMeanwhile(AppError):
    """Found out after writing. Not a Conflict, which a page answers and so commits: this must undo what was written."""

    status_code = 409


def versions_of(session: Session, assignment_id: int, idempotency_key: str) -> list[Version]:
    """What was given on this assignment, the oldest first. A key that was used for another one is refused."""
    rows = OF_ASSIGNMENT_OR_KEY.rows(session, assignment=assignment_id, key=idempotency_key)
    found = [Version(*row) for row in rows]
    if any(version.assignment_id != assignment_id for version in found):
        raise Conflict("This form was already sent for another neuron. Go to the current neuron and answer there.")
    return found


def with_key(versions: Sequence[Version], idempotency_key: str) -> Version | None:
    """The version that a form with this key has made already."""
    return next((version for version in versions if version.idempotency_key == idempotency_key), None)


def checked_text(hypothesis: str) -> str:
    """A hypothesis as it is kept: browsers send a line end as two characters."""
    text = hypothesis.replace("\r\n", "\n")
    if len(text) > LONGEST_TEXT:
        raise Invalid(
            "Your hypothesis has %(n)s characters; at most %(most)s are kept. Shorten it.",
            n=len(text), most=LONGEST_TEXT,
        )  # fmt: skip
    return text


def digest(version: Version | Rating, assignment_code: str) -> str:
    """What the log holds instead of the text. The random key keeps it from being guessed."""
    verdict = version.verdict.value if version.verdict else None
    content = [assignment_code, version.version, version.action.value, verdict, version.hypothesis]
    text = json.dumps([*content, version.idempotency_key], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def add_version(session: Session, rater: SomeRater, assignment_code: str, version: Version) -> Version:
    """Store it, and a line about it in the study's log."""
    values = version._asdict()
    del values["id"]
    stored = version._replace(id=ADD.one(session, **values)[0])
    record(
        session, rater, f"verdict {version.action.value}",
        assignment=assignment_code, version=version.version, digest=digest(version, assignment_code),
    )  # fmt: skip
    return stored


def record(session: Session, rater: SomeRater, what: str, **detail: str | int) -> None:
    """A line in the study's log. It locks the study, so from here on the study cannot close under our hands."""
    state = log.append(session, rater.study_id, f"rater {rater.code}", what, **detail)
    if state is not StudyState.OPEN:
        raise ClosedMeanwhile(CLOSED)
