from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Id, choice
from app.models.rating import Verdict


class Lesson(Base):
    """What a practice item teaches: shown after the rater's own answer, so it is not encrypted, but sealed."""

    __tablename__ = "lesson"

    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), primary_key=True)
    verdict: Mapped[Verdict] = mapped_column(choice(Verdict, "verdict"))
    text: Mapped[str] = mapped_column(String(500))
    """The outlined token that explains most, as it is shown; empty where none does."""
    covered: Mapped[int]
    """How many of the outlined tokens it is."""


class PracticeAnswer(Base):
    """A verdict on a practice item. It lies apart from ratings, so that nothing can count it."""

    __tablename__ = "practice_answer"
    __table_args__ = (UniqueConstraint("rater_id", "item_id"), Index("ix_practice_answer_item_id", "item_id"))

    id: Mapped[Id]
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    verdict: Mapped[Verdict] = mapped_column(choice(Verdict, "verdict"))
    hypothesis: Mapped[str] = mapped_column(String(2000), default="")
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float]
    """Server time since the rater's last step in this phase."""
    read_at: Mapped[datetime | None]
    """When the rater had read the answer and went on."""


class CheckAnswer(Base):
    """In which held-out snippets a rater expects the neuron to fire. Given once, never changed."""

    __tablename__ = "check_answer"
    __table_args__ = (UniqueConstraint("rater_id", "item_id"), Index("ix_check_answer_item_id", "item_id"))

    id: Mapped[Id]
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    fires: Mapped[list[int]] = mapped_column(JSON)
    """Numbers of the snippets, as they were shown, from 1."""
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float]


class Guess(Base):
    """Which condition a rater thinks an item is from, asked when all their verdicts were given."""

    __tablename__ = "guess"
    __table_args__ = (UniqueConstraint("rater_id", "item_id"), Index("ix_guess_item_id", "item_id"))

    id: Mapped[Id]
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    condition: Mapped[str | None] = mapped_column(String(40))
    """None for “don't know”."""
    at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float]
