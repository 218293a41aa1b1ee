"""pauses and breaks, terms for raters, panels of participants

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("study", schema=None) as batch_op:
        batch_op.add_column(sa.Column("terms", sa.JSON(), server_default="{}", nullable=False))
    with op.batch_alter_table("invitation", schema=None) as batch_op:
        batch_op.add_column(sa.Column("most_raters", sa.Integer(), nullable=True))
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.add_column(sa.Column("left_seat", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("completion_code", sa.String(length=24), nullable=True))
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.add_column(sa.Column("paused", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("unrested_seconds", sa.Double(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("break_offered_at", base.UtcDateTime(timezone=True), nullable=True))
    op.create_table(
        "panel_member",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(length=100), nullable=False),
        sa.Column("panel_study", sa.String(length=100), nullable=False),
        sa.Column("panel_session", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_panel_member_rater_id_rater"), ondelete="cascade"
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_panel_member_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("rater_id", name=op.f("pk_panel_member")),
        sa.UniqueConstraint("study_id", "person", name=op.f("uq_panel_member_study_id_person")),
    )


def downgrade() -> None:
    op.drop_table("panel_member")
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.drop_column("break_offered_at")
        batch_op.drop_column("unrested_seconds")
        batch_op.drop_column("paused")
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.drop_column("completion_code")
        batch_op.drop_column("left_seat")
    with op.batch_alter_table("invitation", schema=None) as batch_op:
        batch_op.drop_column("most_raters")
    with op.batch_alter_table("study", schema=None) as batch_op:
        batch_op.drop_column("terms")
