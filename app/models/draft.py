from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Digest, Id, PublicCode, choice


class DraftState(StrEnum):
    PREVIEWED = "previewed"
    """Drawn with a secret that was thrown away, to show what raters will see."""
    DRAWING = "drawing"
    SEALED = "sealed"
    REFUSED = "refused"
    """It could not be made into a study; the message says why."""


class Draft(Base):
    """A draw that was begun, whatever became of it. Rows are only ever added, so that no draw can be shopped for."""

    __tablename__ = "draft"

    id: Mapped[Id]
    code: Mapped[PublicCode]
    actor: Mapped[str] = mapped_column(String(120))
    at: Mapped[datetime] = mapped_column(default=now)
    seen_at: Mapped[datetime] = mapped_column(default=now)
    """The last sign of life of whoever draws it."""
    state: Mapped[DraftState] = mapped_column(choice(DraftState, "state"))
    asked: Mapped[str]
    """What was asked for, as a study.toml."""
    design_digest: Mapped[Digest]
    runs: Mapped[list[str]] = mapped_column(JSON)
    """Digests of the runs, sorted."""
    done: Mapped[int] = mapped_column(default=0)
    """Items rendered so far."""
    total: Mapped[int] = mapped_column(default=0)
    message: Mapped[str] = mapped_column(String(2000), default="")
    """In English, cut to what fits."""
    study_id: Mapped[int | None] = mapped_column(ForeignKey("study.id", ondelete="set null"), index=True)
    """The study it became."""
    said: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """The message with its values apart, so that every reader is told in a language of their own; null in old rows."""
