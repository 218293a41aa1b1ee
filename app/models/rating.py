from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Id, PublicCode, choice


class Verdict(StrEnum):
    INTERPRETABLE = "INTERPRETABLE"
    NOT_INTERPRETABLE = "NOT_INTERPRETABLE"
    CANNOT_DECIDE = "CANNOT_DECIDE"


class AssignmentState(StrEnum):
    HELD = "held"
    """In the rater's hands, under a lease."""
    RATED = "rated"
    """A verdict that fills a place."""
    SURPLUS = "surplus"
    """A verdict that came late, when the place had gone to somebody else."""
    RELEASED = "released"
    """The lease ran out and the place went to somebody else; may be taken again."""
    SKIPPED = "skipped"
    """Given back because it could not be shown; not offered to this rater again."""


class RatingAction(StrEnum):
    GIVEN = "given"
    EDITED = "edited"
    WITHDRAWN = "withdrawn"


class Assignment(Base):
    """A rater and an item, under a lease until there is a verdict."""

    __tablename__ = "assignment"
    __table_args__ = (
        UniqueConstraint("rater_id", "item_id"),
        UniqueConstraint("rater_id", "position"),
        Index("ix_assignment_item_id_state", "item_id", "state"),
        Index("ix_assignment_rater_id_state", "rater_id", "state", "position"),
    )

    id: Mapped[Id]
    code: Mapped[PublicCode]
    """What a rater's form says instead of the item."""
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    position: Mapped[int]
    """The how-manieth item of this rater, from 1."""
    state: Mapped[AssignmentState] = mapped_column(choice(AssignmentState, "state"), default=AssignmentState.HELD)
    claimed_at: Mapped[datetime] = mapped_column(default=now)
    shown_at: Mapped[datetime] = mapped_column(default=now)
    """Where the soft clock starts: claimed, taken up again in a new sitting, or taken back by undo."""
    leased_until: Mapped[datetime]
    draft: Mapped[str] = mapped_column(String(2000), default="")
    """A hypothesis that is being written."""


class Rating(Base):
    """One version of a verdict. Rows are only ever added."""

    __tablename__ = "rating"
    __table_args__ = (UniqueConstraint("assignment_id", "version"),)

    id: Mapped[Id]
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignment.id", ondelete="cascade"))
    version: Mapped[int]
    action: Mapped[RatingAction] = mapped_column(choice(RatingAction, "action"))
    verdict: Mapped[Verdict | None] = mapped_column(choice(Verdict, "verdict"))
    """None when the version takes the verdict back."""
    hypothesis: Mapped[str] = mapped_column(String(2000), default="")
    idempotency_key: Mapped[str] = mapped_column(String(64), unique=True)
    sitting_id: Mapped[int | None] = mapped_column(ForeignKey("sitting.id", ondelete="set null"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float]
    """Server time between showing the item and this version."""
    lined_up: Mapped[bool] = mapped_column(default=False)
    widened: Mapped[bool] = mapped_column(default=False)
    late: Mapped[bool] = mapped_column(default=False)
    """Given after the lease had run out."""
    surplus: Mapped[bool] = mapped_column(default=False)
    """Late, and the place had gone to somebody else meanwhile: kept, and left out of the main figure."""
