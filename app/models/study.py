from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.clock import now
from app.models.base import Base, BigInt, Digest, Id, PublicCode, choice


class StudyState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    UNBLINDED = "unblinded"


class Study(Base):
    """A sealed study. It exists from the moment its allocation is drawn and closed."""

    __tablename__ = "study"

    id: Mapped[Id]
    code: Mapped[PublicCode]
    name: Mapped[str] = mapped_column(String(200))
    state: Mapped[StudyState] = mapped_column(choice(StudyState, "state"), default=StudyState.OPEN)
    simulated: Mapped[bool] = mapped_column(default=False)
    """Its raters are programs; nothing of it is ever a human figure."""
    pilot: Mapped[bool] = mapped_column(default=False)
    """A trial that is kept apart and never counted."""
    design: Mapped[dict[str, Any]]
    """What was asked for, public: neurons an arm, snippets, verdicts a neuron, overlap, seats, window."""
    plan: Mapped[dict[str, Any]]
    """How it will be analysed, fixed before the first verdict."""
    plan_digest: Mapped[Digest]
    sources: Mapped[list[dict[str, Any]]]
    """Where the text comes from and under which licences."""
    seal_root: Mapped[Digest]
    """The Merkle root over every item's leaf and the digests of runs, contents, seats and plan."""
    sealed_parts: Mapped[dict[str, Any]]
    """The digests beside the leaves that enter the root, by name."""
    sealed_secret: Mapped[bytes]
    """The secret of the draw, encrypted with the key file."""
    secret: Mapped[str | None] = mapped_column(String(64))
    """The secret, published by the act of unblinding."""
    opened: Mapped[dict[str, Any] | None]
    """What was sealed beside the items, published with the secret: the neurons that were replaced, an arm."""
    log_head: Mapped[Digest]
    """The hash of the newest line of the study's log."""
    log_lines: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)
    closed_at: Mapped[datetime | None]
    unblinded_at: Mapped[datetime | None]
    unblinded_by: Mapped[str | None] = mapped_column(String(100))
    unblinding_reason: Mapped[str | None] = mapped_column(String(2000))
    terms: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    """What may be set while raters are at work: a day's goal, quotas, the way in from a panel and back to it."""

    arms: Mapped[list["Arm"]] = relationship(back_populates="study", lazy="raise", order_by="Arm.id")


class Arm(Base):
    """One model of a study. Nothing joins it to an item before the study is unblinded."""

    __tablename__ = "arm"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    name: Mapped[str] = mapped_column(String(100))
    condition: Mapped[str] = mapped_column(String(40))
    size: Mapped[BigInt]
    """Non-embedding parameters."""
    seed: Mapped[BigInt]
    """The training seed: replicate models of one condition and size differ in it."""
    layers: Mapped[int]
    hidden: Mapped[int]
    """Neurons a layer."""
    validation_loss: Mapped[float | None]
    train_tokens: Mapped[BigInt]
    run_path: Mapped[str] = mapped_column(String(1000))
    run_digest: Mapped[Digest]
    offer: Mapped[list[str]] = mapped_column(JSON)
    """What the draw could choose from: a string a layer, a letter a neuron that says whether it can be shown."""
    other_runs: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """Of the same model's runs over other splits, practice and check: digest and offer by split. None without any."""

    study: Mapped[Study] = relationship(back_populates="arms", lazy="raise")
