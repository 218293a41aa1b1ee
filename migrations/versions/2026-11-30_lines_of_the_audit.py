"""the audit's lines have an index of their own

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# As the database has had it since: a later list of acts takes a later migration.
NOT_OF_WORK = sa.text(
    "what <> 'verdict given' AND what <> 'verdict edited' AND what <> 'verdict withdrawn' AND what <> 'item skipped' "
    "AND what <> 'went on beyond the share' AND what <> 'practice answered' AND what <> 'check answered' "
    "AND what <> 'condition guessed' AND what <> 'phase entered'"
)


def upgrade() -> None:
    op.create_index(
        "ix_event_not_of_work", "event", ["study_id", "at"], sqlite_where=NOT_OF_WORK, postgresql_where=NOT_OF_WORK
    )


def downgrade() -> None:
    op.drop_index("ix_event_not_of_work", table_name="event")
