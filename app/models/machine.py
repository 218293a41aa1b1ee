"""Machine raters and what they said. It lies apart from raters and ratings, so that no human figure can count it."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.clock import now
from app.models.base import Base, Digest, Id, PublicCode, choice
from app.models.rating import Verdict


class SealedRules(Base):
    """What the rule rater says of a study's neurons, encrypted under the secret that unblinding publishes."""

    __tablename__ = "sealed_rules"

    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"), primary_key=True)
    sealed: Mapped[bytes]
    digest: Mapped[Digest]
    """SHA-256 of `sealed`; it is in the first line of the study's log."""


class MachineRater(Base):
    """A language model behind an endpoint, asked about every item of a study as a person would be."""

    __tablename__ = "machine_rater"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[Id]
    code: Mapped[PublicCode]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    name: Mapped[str] = mapped_column(String(100))
    model: Mapped[str] = mapped_column(String(200))
    """The model's name, as the endpoint knows it."""
    endpoint: Mapped[str] = mapped_column(String(300))
    """Its address, without a key or a password."""
    settings: Mapped[dict[str, Any]]
    """What the answers depend on beside the items: the digest of the instructions, the temperature."""
    created_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]


class MachineVerdict(Base):
    """A machine rater's verdict on an item. Given once, never changed."""

    __tablename__ = "machine_verdict"
    __table_args__ = (UniqueConstraint("machine_rater_id", "item_id"), Index("ix_machine_verdict_item_id", "item_id"))

    id: Mapped[Id]
    machine_rater_id: Mapped[int] = mapped_column(ForeignKey("machine_rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    verdict: Mapped[Verdict] = mapped_column(choice(Verdict, "verdict"))
    hypothesis: Mapped[str] = mapped_column(String(2000), default="")
    at: Mapped[datetime] = mapped_column(default=now)


class CallOutcome(StrEnum):
    STARTED = "started"
    """Sent, and nothing came back yet; it stays so where the program was killed."""
    ANSWERED = "answered"
    MALFORMED = "malformed"
    """An answer that is none: not the JSON that was asked for, or cut off."""
    REFUSED = "refused"
    """The model would not say."""
    LIMITED = "limited"
    """Too many requests."""
    FAILED = "failed"
    """Another error of the server."""
    TIMED_OUT = "timed_out"
    DISCONNECTED = "disconnected"


class MachineCall(Base):
    """One request to an endpoint, what it cost and what came of it."""

    __tablename__ = "machine_call"
    __table_args__ = (Index("ix_machine_call_machine_rater_id", "machine_rater_id"),)

    id: Mapped[Id]
    machine_rater_id: Mapped[int] = mapped_column(ForeignKey("machine_rater.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    outcome: Mapped[CallOutcome] = mapped_column(choice(CallOutcome, "outcome"), default=CallOutcome.STARTED)
    seconds: Mapped[float | None]
    status: Mapped[int | None]
    """The HTTP status, where there was an answer."""
    prompt_tokens: Mapped[int | None]
    """As the endpoint counts; None where it does not say."""
    completion_tokens: Mapped[int | None]
    cost: Mapped[float | None]
    """By the prices that were given; None where none were, or where the endpoint counted no tokens."""
    detail: Mapped[str] = mapped_column(String(500), default="")
    """What was wrong, in a sentence."""
