"""why a draft was refused, for readers of every language

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("draft", schema=None) as batch_op:
        batch_op.add_column(sa.Column("said", sa.JSON(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("draft", schema=None) as batch_op:
        batch_op.drop_column("said")
