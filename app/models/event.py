from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Digest, Id

OF_WORK = (
    "verdict given", "verdict edited", "verdict withdrawn", "item skipped", "went on beyond the share",
    "practice answered", "check answered", "condition guessed", "phase entered",
)  # fmt: skip
"""What raters do at their work: nearly all lines, and none of them is in the audit."""
NOT_OF_WORK = text(" AND ".join(f"what <> '{act}'" for act in OF_WORK))
"""Written out, as the databases want it to see that the index of the other lines will do; the commonest first."""


class Event(Base):
    """One line of a study's log. Each carries the hash of the one before."""

    __tablename__ = "event"
    __table_args__ = (
        UniqueConstraint("study_id", "line"),
        # Of the audit's lines alone, so that a verdict costs no more.
        Index("ix_event_not_of_work", "study_id", "at", sqlite_where=NOT_OF_WORK, postgresql_where=NOT_OF_WORK),
    )

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    line: Mapped[int]
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(String(120))
    what: Mapped[str] = mapped_column(String(60))
    detail: Mapped[dict[str, Any]]
    """Digests rather than texts, so that a withdrawn consent can remove a text."""
    previous: Mapped[Digest]
    hash: Mapped[Digest]
