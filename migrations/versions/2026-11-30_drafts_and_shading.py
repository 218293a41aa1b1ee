"""drafts, and by what an item was shaded

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STATES = ("previewed", "drawing", "sealed", "refused")


def upgrade() -> None:
    op.create_table(
        "draft",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("seen_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column(
            "state", sa.Enum(*STATES, name="state", native_enum=False, create_constraint=True, length=24),
            nullable=False,
        ),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("design_digest", sa.String(length=64), nullable=False),
        sa.Column("runs", sa.JSON(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("message", sa.String(length=2000), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_draft_study_id_study"), ondelete="set null"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_draft")),
        sa.UniqueConstraint("code", name=op.f("uq_draft_code")),
    )  # fmt: skip
    op.create_index("ix_draft_study_id", "draft", ["study_id"])
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.add_column(sa.Column("shading", sa.String(length=8), server_default="level", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.drop_column("shading")
    op.drop_table("draft")
