"""who withdrew and came from a panel, as fingerprints

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "withdrawn_member",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_withdrawn_member_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("study_id", "fingerprint", name=op.f("pk_withdrawn_member")),
    )


def downgrade() -> None:
    op.drop_table("withdrawn_member")
