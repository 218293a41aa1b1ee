from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Digest, Id


class Event(Base):
    """One line of a study's log. Each carries the hash of the one before."""

    __tablename__ = "event"
    __table_args__ = (UniqueConstraint("study_id", "line"),)

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
