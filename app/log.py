"""The log of a study: append-only, each line carrying the hash of the one before."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.clock import now
from app.models import Event, Study

FIRST = "0" * 64


def line_hash(previous: str, line: int, at: datetime, actor: str, what: str, detail: dict[str, Any]) -> str:
    """SHA-256 over one line of the log and the hash of the line before it."""
    text = json.dumps(
        [previous, line, at.isoformat(), actor, what, detail],
        sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False,
    )  # fmt: skip
    return hashlib.sha256(text.encode()).hexdigest()


def append(session: Session, study_id: int, actor: str, what: str, **detail: Any) -> Event:
    """Add a line. The study's row is locked, so that two lines never follow the same one."""
    # Not against its key, which every new row of the study refers to: two of them would wait for each other.
    head = select(Study.log_head, Study.log_lines).where(Study.id == study_id).with_for_update(key_share=True)
    previous, lines = session.execute(head).one()
    at = now()
    event = Event(
        study_id=study_id, line=lines + 1, at=at, actor=actor, what=what, detail=detail,
        previous=previous, hash=line_hash(previous, lines + 1, at, actor, what, detail),
    )  # fmt: skip
    session.add(event)
    grown = update(Study).where(Study.id == study_id).values(log_head=event.hash, log_lines=event.line)
    session.execute(grown)
    session.flush()
    return event


def first_broken_line(events: Iterable[Event]) -> int | None:
    """The number of the first line whose hash does not follow from the one before; None if all do."""
    previous = FIRST
    for expected, event in enumerate(events, start=1):
        right = line_hash(previous, expected, event.at, event.actor, event.what, event.detail)
        if (event.line, event.previous, event.hash) != (expected, previous, right):
            return expected
        previous = event.hash
    return None
