"""how long the server took over an item

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.add_column(sa.Column("serving_seconds", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.drop_column("serving_seconds")
