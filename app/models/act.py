"""What administrators did to a sealed study beside closing and opening it whole. Each act is a line of the log too."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Digest, Id


class Amendment(Base):
    """Another plan, written down before unblinding and shown beside the one that was sealed."""

    __tablename__ = "amendment"
    __table_args__ = (UniqueConstraint("study_id", "number"),)

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    number: Mapped[int]
    """From 1, in the order in which they were made."""
    at: Mapped[datetime] = mapped_column(default=now)
    actor: Mapped[str] = mapped_column(String(120))
    reason: Mapped[str] = mapped_column(String(2000))
    plan: Mapped[dict[str, Any]]
    """The whole plan from then on."""
    plan_digest: Mapped[Digest]
    verdicts: Mapped[int]
    """How many verdicts there were by then."""


class EarlyOpening(Base):
    """One item whose neuron was told before the study was unblinded. It is left out of the main figure."""

    __tablename__ = "early_opening"

    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    actor: Mapped[str] = mapped_column(String(120))
    reason: Mapped[str] = mapped_column(String(2000))
    key: Mapped[dict[str, Any]]
    """What the item's leaf fixes, its salt included: with the root it can be checked alone."""


class UnblindingRequest(Base):
    """The first of two administrators has asked for a study to be unblinded, and the second has not said yes yet."""

    __tablename__ = "unblinding_request"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    actor: Mapped[str] = mapped_column(String(120))
    reason: Mapped[str] = mapped_column(String(2000))
