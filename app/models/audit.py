from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Id


class AuditEvent(Base):
    """What somebody did that no study's own log tells: signing in, roles, passwords, downloads, backups."""

    __tablename__ = "audit_event"

    id: Mapped[Id]
    study_id: Mapped[int | None] = mapped_column(ForeignKey("study.id", ondelete="cascade"), index=True)
    """Of which study, where it is about one."""
    at: Mapped[datetime] = mapped_column(default=now, index=True)
    actor: Mapped[str] = mapped_column(String(120))
    what: Mapped[str] = mapped_column(String(60))
    about: Mapped[str] = mapped_column(String(120), default="")
    """The administrator it was done to; empty where it was done to nobody."""
    detail: Mapped[dict[str, Any]]
