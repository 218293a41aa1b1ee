from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Administrator, AuditEvent


class Listed(NamedTuple):
    """An administrator in the list."""

    administrator: Administrator
    signed_in_at: datetime | None
    """The last time."""


def list_administrators(session: Session) -> list[Listed]:
    """By name, who is let in first."""
    last = select(func.max(AuditEvent.at)).where(AuditEvent.what == "signed in", AuditEvent.actor == Administrator.name)
    shut_out = Administrator.deactivated_at.is_not(None)
    statement = select(Administrator, last.correlate(Administrator).scalar_subquery())
    return [Listed(*row) for row in session.execute(statement.order_by(shut_out, Administrator.name))]


def given_by(session: Session, name: str, acts: Collection[str], since: datetime) -> str | None:
    """Who did the newest of these acts to the administrator of this name since then; None where nobody did."""
    newest = (
        select(AuditEvent.actor)
        .where(AuditEvent.about == name, AuditEvent.what.in_(acts), AuditEvent.at > since)
        .order_by(AuditEvent.at.desc(), AuditEvent.id.desc())
    )
    return session.scalars(newest.limit(1)).first()
