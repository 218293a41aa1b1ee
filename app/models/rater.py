from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Digest, Id, PublicCode, choice


class RaterKind(StrEnum):
    HUMAN = "human"
    MACHINE = "machine"
    SIMULATED = "simulated"


class RaterPhase(StrEnum):
    """What a rater is at. It only ever goes on to a later one."""

    PRACTICE = "practice"
    RATING = "rating"
    CHECK = "check"
    GUESSES = "guesses"
    DONE = "done"


class Invitation(Base):
    """A link that lets somebody in. Only its hash is kept, so it is shown once."""

    __tablename__ = "invitation"

    id: Mapped[Id]
    code: Mapped[PublicCode]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"), index=True)
    token_hash: Mapped[Digest] = mapped_column(unique=True)
    name: Mapped[str] = mapped_column(String(100))
    """What the administrator calls the rater."""
    kind: Mapped[RaterKind] = mapped_column(choice(RaterKind, "kind"), default=RaterKind.HUMAN)
    reusable: Mapped[bool] = mapped_column(default=False)
    """A single-use link is one rater's own; a reusable one makes a new rater each time it is taken up."""
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    most_raters: Mapped[int | None]
    """So many at once may be in through a reusable link; None for as many as there are places."""


class Rater(Base):
    __tablename__ = "rater"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[Id]
    code: Mapped[PublicCode]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    invitation_id: Mapped[int | None] = mapped_column(ForeignKey("invitation.id", ondelete="set null"), index=True)
    kind: Mapped[RaterKind] = mapped_column(choice(RaterKind, "kind"))
    name: Mapped[str] = mapped_column(String(100))
    share: Mapped[int | None]
    """How many items are theirs; None once they chose to go on beyond it."""
    created_at: Mapped[datetime] = mapped_column(default=now)
    consented_at: Mapped[datetime]
    trained_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    deactivated_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]
    phase: Mapped[RaterPhase] = mapped_column(
        choice(RaterPhase, "phase"), default=RaterPhase.RATING, server_default=RaterPhase.RATING.value
    )
    """A study without practice, check and guesses leaves it at rating."""
    stepped_at: Mapped[datetime | None]
    """The last step outside of rating: where the time of the next answer starts."""
    left_seat: Mapped[int | None]
    """The number of the seat they left when they were shut out, which they take again if it is still free."""
    completion_code: Mapped[str | None] = mapped_column(String(24))
    """What tells this rater's completion code from others'. Drawn apart from `code`, which exports carry."""


class PanelMember(Base):
    """Who a rater is to the panel of participants that sent them. Apart from the rater, so that no export holds it,
    and removed when consent is withdrawn.
    """

    __tablename__ = "panel_member"
    __table_args__ = (UniqueConstraint("study_id", "person"),)

    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"), primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    person: Mapped[str] = mapped_column(String(100))
    """The panel's name for them: the same person comes back to the same seat."""
    panel_study: Mapped[str] = mapped_column(String(100), default="")
    panel_session: Mapped[str] = mapped_column(String(100), default="")
    """As of their first coming; empty where the address did not say it."""


class WithdrawnMember(Base):
    """That somebody from a panel has withdrawn their consent: a fingerprint, by which nobody can be named or found."""

    __tablename__ = "withdrawn_member"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"), primary_key=True)
    fingerprint: Mapped[Digest] = mapped_column(primary_key=True)
    """Keyed by the key file, which lies outside the database."""


class Sitting(Base):
    """One stay of a rater, ended by idle time, by the rater or by an administrator."""

    __tablename__ = "sitting"
    __table_args__ = (Index("ix_sitting_rater_id_started_at", "rater_id", "started_at"),)

    id: Mapped[Id]
    code: Mapped[PublicCode]
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    started_at: Mapped[datetime] = mapped_column(default=now)
    last_seen_at: Mapped[datetime] = mapped_column(default=now)
    active_seconds: Mapped[float] = mapped_column(default=0.0)
    """The sum of the gaps between signs of life, each capped."""
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[str | None] = mapped_column(String(100))
    """The administrator who ended it; None when it ended by itself, or by the rater's pause."""
    paused: Mapped[bool] = mapped_column(default=False, server_default=false())
    """The rater ended it: Pause is their own act, and only Continue opens the next one."""
    unrested_seconds: Mapped[float] = mapped_column(default=0.0, server_default="0")
    """Active time since the last rest, also from the sitting before where no rest lay between."""
    break_offered_at: Mapped[datetime | None]
    """When a break was offered; None again after a rest."""
