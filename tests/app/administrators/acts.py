"""What the log of all acts tells of administrators."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import AuditEvent
from app.roles import Role

EVERY = frozenset(Role)


def acts(session: Session) -> list[tuple[str, str, str]]:
    lines = session.scalars(select(AuditEvent).order_by(AuditEvent.id))
    return [(line.actor, line.what, line.about) for line in lines]
