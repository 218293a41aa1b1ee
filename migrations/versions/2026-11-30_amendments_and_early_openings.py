"""amendments of the plan, items opened early, unblinding by two, raters who are administrators

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "amendment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("reason", sa.String(length=2000), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("plan_digest", sa.String(length=64), nullable=False),
        sa.Column("verdicts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_amendment_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_amendment")),
        sa.UniqueConstraint("study_id", "number", name=op.f("uq_amendment_study_id_number")),
    )
    op.create_table(
        "unblinding_request",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("reason", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_unblinding_request_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_unblinding_request")),
    )
    op.create_table(
        "early_opening",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("reason", sa.String(length=2000), nullable=False),
        sa.Column("key", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["item.id"], name=op.f("fk_early_opening_item_id_item"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_early_opening")),
    )
    op.create_table(
        "own_rater",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("administrator_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["administrator_id"],
            ["administrator.id"],
            name=op.f("fk_own_rater_administrator_id_administrator"),
            ondelete="cascade",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_own_rater_rater_id_rater"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("rater_id", name=op.f("pk_own_rater")),
    )
    with op.batch_alter_table("own_rater", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_own_rater_administrator_id"), ["administrator_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("own_rater", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_own_rater_administrator_id"))

    op.drop_table("own_rater")
    op.drop_table("early_opening")
    op.drop_table("unblinding_request")
    op.drop_table("amendment")
