from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.audit_log import Act
from app.models import Administrator, AuditEvent
from app.roles import Role

GIVING: tuple[Act, ...] = (
    "administrator added", "administrator reactivated", "password given", "address changed", "roles changed",
)  # fmt: skip


class Listed(NamedTuple):
    """An administrator in the list."""

    administrator: Administrator
    signed_in_at: datetime | None
    """The last time."""


def is_anybody(session: Session) -> bool:
    """Whether a first administrator was ever added."""
    return session.scalar(select(Administrator.id).limit(1)) is not None


def list_administrators(session: Session) -> list[Listed]:
    """By name, who is let in first."""
    last = select(func.max(AuditEvent.at)).where(AuditEvent.what == "signed in", AuditEvent.actor == Administrator.name)
    shut_out = Administrator.deactivated_at.is_not(None)
    statement = select(Administrator, last.correlate(Administrator).scalar_subquery())
    return [Listed(*row) for row in session.execute(statement.order_by(shut_out, Administrator.name))]


def gave_access(session: Session, giver: str, taker: str, since: datetime) -> bool:
    """Whether one has since then made the other's account, password, address or role, and so could come in as them."""
    given = select(AuditEvent.what, AuditEvent.detail).where(
        AuditEvent.actor == giver, AuditEvent.about == taker, AuditEvent.what.in_(GIVING), AuditEvent.at > since
    )
    return any(what != "roles changed" or Role.UNBLIND in detail["given"] for what, detail in session.execute(given))
