"""The log of a study: append-only, each line carrying the hash of the one before."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.util import identity_key

from app.clock import now
from app.models import Event, Study, StudyState
from app.store.compiled import Compiled

FIRST = "0" * 64
Line = Event | Row[Any]
"""A line with all its columns, in whichever form it was read."""


def line_hash(previous: str, line: int, at: datetime, actor: str, what: str, detail: dict[str, Any]) -> str:
    """SHA-256 over one line of the log and the hash of the line before it."""
    text = json.dumps(
        [previous, line, at.isoformat(), actor, what, detail],
        sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False,
    )  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest()


HEAD = Compiled(
    select(Study.log_head, Study.log_lines, Study.state)
    .where(Study.id == bindparam("study"))
    # Not against its key, which every new row of the study refers to: two of them would wait for each other.
    .with_for_update(key_share=True)
)
ADD = Compiled(insert(Event))
GROW = Compiled(update(Study).where(Study.id == bindparam("study")))


def append(session: Session, study_id: int, actor: str, what: str, **detail: Any) -> StudyState:
    """Add a line. The study's row is locked, so that two lines never follow the same one.

    Returns the study's state, which nobody changes before the transaction ends.
    """
    state: StudyState
    previous, lines, state = HEAD.one(session, study=study_id)
    line, at = lines + 1, now()
    digest = line_hash(previous, line, at, actor, what, detail)
    ADD.run(
        session, study_id=study_id, line=line, at=at, actor=actor, what=what, detail=detail,
        previous=previous, hash=digest,
    )  # fmt: skip
    GROW.run(session, study=study_id, log_head=digest, log_lines=line)
    loaded = session.identity_map.get(identity_key(Study, study_id))
    if loaded is not None:
        session.expire(loaded, ["log_head", "log_lines"])
    return state


def first_broken_line(events: Iterable[Line], previous: str = FIRST, first: int = 1) -> int | None:
    """The number of the first line whose hash does not follow from the one before; None if all do.

    `previous`, `first`: where the lines before were looked at already, the last one's hash and the number after it.
    """
    for expected, event in enumerate(events, start=first):
        right = line_hash(previous, expected, event.at, event.actor, event.what, event.detail)
        if (event.line, event.previous, event.hash) != (expected, previous, right):
            return expected
        previous = event.hash
    return None
