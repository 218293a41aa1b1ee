"""practice, check and guesses

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

VERDICTS = ("INTERPRETABLE", "NOT_INTERPRETABLE", "CANNOT_DECIDE")
PHASES = ("practice", "rating", "check", "guesses", "done")


def upgrade() -> None:
    _tables()
    phase = sa.Enum(*PHASES, name="phase", native_enum=False, create_constraint=True, length=24)
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.add_column(sa.Column("phase", phase, server_default="rating", nullable=False))
        batch_op.add_column(sa.Column("stepped_at", base.UtcDateTime(timezone=True), nullable=True))
    with op.batch_alter_table("arm", schema=None) as batch_op:
        batch_op.add_column(sa.Column("other_runs", sa.JSON(), nullable=True))
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.add_column(sa.Column("order", sa.JSON(), nullable=True))


def _tables() -> None:
    op.create_table(
        "lesson",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("verdict", _verdict(), nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.Column("covered", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_lesson_item_id_item"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_lesson")),
    )
    _answers(
        "practice_answer",
        sa.Column("verdict", _verdict(), nullable=False),
        sa.Column("hypothesis", sa.String(length=2000), nullable=False),
        after=(sa.Column("read_at", base.UtcDateTime(timezone=True), nullable=True),),
    )
    _answers("check_answer", sa.Column("fires", sa.JSON(), nullable=False))
    _answers("guess", sa.Column("condition", sa.String(length=40), nullable=True))


def _verdict() -> sa.Enum:
    return sa.Enum(*VERDICTS, name="verdict", native_enum=False, create_constraint=True, length=24)


def _answers(name: str, *said: sa.Column, after: tuple[sa.Column, ...] = ()) -> None:
    """A table of what raters say of items, once each."""
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        *said,
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        *after,
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f(f"fk_{name}_item_id_item"), ondelete="cascade"),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f(f"fk_{name}_rater_id_rater"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{name}")),
        sa.UniqueConstraint("rater_id", "item_id", name=op.f(f"uq_{name}_rater_id_item_id")),
    )
    op.create_index(f"ix_{name}_item_id", name, ["item_id"])


def downgrade() -> None:
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.drop_column("order")
    with op.batch_alter_table("arm", schema=None) as batch_op:
        batch_op.drop_column("other_runs")
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.drop_column("stepped_at")
        batch_op.drop_column("phase")
    for name in ("guess", "check_answer", "practice_answer", "lesson"):
        op.drop_table(name)
