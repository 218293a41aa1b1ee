"""roles of administrators, how they sign in elsewhere, and what they did

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

import app.models.base

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("administrator", schema=None) as batch_op:
        # Who could sign in could rate by a link all along.
        batch_op.add_column(sa.Column("may_rate", sa.Boolean(), server_default=sa.true(), nullable=False))
        batch_op.add_column(sa.Column("must_change_password", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("email", sa.String(length=254), nullable=True))
        batch_op.add_column(sa.Column("subject", sa.String(length=500), nullable=True))
        batch_op.create_unique_constraint(batch_op.f("uq_administrator_email"), ["email"])
        batch_op.create_unique_constraint(batch_op.f("uq_administrator_subject"), ["subject"])
    op.create_table(
        "audit_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.Column("at", app.models.base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("what", sa.String(length=60), nullable=False),
        sa.Column("about", sa.String(length=120), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_audit_event_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
    )
    with op.batch_alter_table("audit_event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_event_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_event_study_id"), ["study_id"], unique=False)


def downgrade() -> None:
    op.drop_table("audit_event")
    with op.batch_alter_table("administrator", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_administrator_subject"), type_="unique")
        batch_op.drop_constraint(batch_op.f("uq_administrator_email"), type_="unique")
        batch_op.drop_column("subject")
        batch_op.drop_column("email")
        batch_op.drop_column("must_change_password")
        batch_op.drop_column("may_rate")
