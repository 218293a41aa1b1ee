from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, String, false, true
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Digest, Id


class Administrator(Base):
    __tablename__ = "administrator"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    password_hash: Mapped[str] = mapped_column(String(200))
    may_manage: Mapped[bool] = mapped_column(default=True)
    may_unblind: Mapped[bool] = mapped_column(default=True)
    failed_sign_ins: Mapped[int] = mapped_column(default=0)
    locked_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    deactivated_at: Mapped[datetime | None]
    may_rate: Mapped[bool] = mapped_column(default=True, server_default=true())
    must_change_password: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Somebody else knows the password, who made it."""
    email: Mapped[str | None] = mapped_column(String(254), unique=True)
    """As whom the sign-in provider knows them, in small letters."""
    subject: Mapped[str | None] = mapped_column(String(500), unique=True)
    """The provider's own name for them and the provider, from the first sign-in on: an address may change hands."""


class BrowserSession(Base):
    """One browser that is let in, as an administrator or as a rater. The cookie's token is stored hashed."""

    __tablename__ = "browser_session"
    __table_args__ = (CheckConstraint("(administrator_id is null) <> (rater_id is null)", name="one_person"),)

    id: Mapped[Id]
    token_hash: Mapped[Digest] = mapped_column(unique=True)
    administrator_id: Mapped[int | None] = mapped_column(ForeignKey("administrator.id", ondelete="cascade"))
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]


class OwnRater(Base):
    """A rater who is also an administrator: what is known of their controls and repeats is hidden from themselves."""

    __tablename__ = "own_rater"

    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"), primary_key=True)
    administrator_id: Mapped[int] = mapped_column(ForeignKey("administrator.id", ondelete="cascade"), index=True)
