from enum import StrEnum

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Digest, Id, choice, new_code


class ItemKind(StrEnum):
    NEURON = "neuron"
    MIXED = "mixed"
    DIRECTION = "direction"
    REPEAT = "repeat"
    PRACTICE = "practice"
    CHECK = "check"


class Phase(StrEnum):
    PRACTICE = "practice"
    RATING = "rating"
    CHECK = "check"


class Item(Base):
    """What a rater sees, rendered and padded when the study was frozen. It does not know its neuron."""

    __tablename__ = "item"
    __table_args__ = (UniqueConstraint("study_id", "code"),)

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    code: Mapped[str] = mapped_column(String(24), default=new_code)
    """Names the item in exports and in the seal. Raters never see it: two of them could compare notes."""
    kind: Mapped[ItemKind] = mapped_column(choice(ItemKind, "kind"))
    phase: Mapped[Phase] = mapped_column(choice(Phase, "phase"), default=Phase.RATING)
    repeat_of: Mapped[int | None] = mapped_column(ForeignKey("item.id", ondelete="cascade"), index=True)
    """Of a repeat, the item that it shows again; of a check, the item whose neuron it is about."""
    capacity: Mapped[int]
    """How many raters give a verdict on it."""
    content_digest: Mapped[Digest]


class ItemContent(Base):
    """The bytes of an item, apart from it so that claiming an item never reads them."""

    __tablename__ = "item_content"

    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), primary_key=True)
    fragment: Mapped[bytes]
    """HTML of the 20 snippets, padded to one length in the whole study."""
    wide_fragment: Mapped[bytes]
    """The same snippets with more context, padded likewise."""


class ItemKey(Base):
    """Which item is which unit: encrypted, of one length, opened only by the act of unblinding."""

    __tablename__ = "item_key"

    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), primary_key=True)
    sealed: Mapped[bytes]
    leaf: Mapped[Digest]
    """The salted leaf of the seal; its salt lies inside `sealed`."""


class OpenedItem(Base):
    """Which item was which unit: written by the act of unblinding, read by reports."""

    __tablename__ = "opened_item"

    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"), primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("arm.id", ondelete="cascade"), index=True)
    unit_kind: Mapped[str] = mapped_column(String(24))
    layer: Mapped[int]
    index: Mapped[int]
    salt: Mapped[str] = mapped_column(String(64))
    order: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    """Of a check: which of the neuron's held-out snippets stood where."""
    shading: Mapped[str] = mapped_column(String(8), default="level", server_default="level")
    """By what its activations were shaded: level or rank."""
    serving_seconds: Mapped[float | None]
    """How long the server took to read it, measured by the act of unblinding; None where it was not in the sample."""


class Seat(Base):
    """A numbered place with its own sealed order of items. A rater takes one."""

    __tablename__ = "seat"
    __table_args__ = (UniqueConstraint("study_id", "number"),)

    id: Mapped[Id]
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="cascade"))
    number: Mapped[int]
    share: Mapped[int]
    """How many items, the first of its order, are the seat's own; the rest are for raters who go on."""
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("rater.id", ondelete="set null"), unique=True)


class Placement(Base):
    """Where an item stands in the order of a seat."""

    __tablename__ = "placement"
    __table_args__ = (
        UniqueConstraint("seat_id", "position"),
        UniqueConstraint("seat_id", "item_id"),
        UniqueConstraint("seat_id", "unit_tag", "kind"),
        Index("ix_placement_item_id", "item_id"),
    )

    id: Mapped[Id]
    seat_id: Mapped[int] = mapped_column(ForeignKey("seat.id", ondelete="cascade"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id", ondelete="cascade"))
    position: Mapped[int]
    unit_tag: Mapped[Digest]
    """A keyed hash of the unit: equal for a neuron and its repeat, and says nothing else."""
    kind: Mapped[ItemKind] = mapped_column(choice(ItemKind, "kind"))
