"""machine raters

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

VERDICTS = ("INTERPRETABLE", "NOT_INTERPRETABLE", "CANNOT_DECIDE")
OUTCOMES = ("started", "answered", "malformed", "refused", "limited", "failed", "timed_out", "disconnected")
TABLES = ("machine_call", "machine_verdict", "machine_rater", "sealed_rules")


def upgrade() -> None:
    op.create_table(
        "sealed_rules",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_sealed_rules_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_sealed_rules")),
    )
    op.create_table(
        "machine_rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("endpoint", sa.String(length=300), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("finished_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_machine_rater_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machine_rater")),
        sa.UniqueConstraint("code", name=op.f("uq_machine_rater_code")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_machine_rater_study_id_name")),
    )
    _said("machine_verdict", *_verdict())
    op.create_index("ix_machine_verdict_item_id", "machine_verdict", ["item_id"])
    _said("machine_call", *_call())
    op.create_index("ix_machine_call_item_id", "machine_call", ["item_id"])
    op.create_index("ix_machine_call_machine_rater_id", "machine_call", ["machine_rater_id"])


def _verdict() -> tuple[sa.schema.SchemaItem, ...]:
    verdict = sa.Enum(*VERDICTS, name="verdict", native_enum=False, create_constraint=True, length=24)
    return (
        sa.Column("verdict", verdict, nullable=False),
        sa.Column("hypothesis", sa.String(length=2000), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("machine_rater_id", "item_id", name=op.f("uq_machine_verdict_machine_rater_id_item_id")),
    )


def _call() -> tuple[sa.schema.SchemaItem, ...]:
    outcome = sa.Enum(*OUTCOMES, name="outcome", native_enum=False, create_constraint=True, length=24)
    return (
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("outcome", outcome, nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("completion_tokens", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("detail", sa.String(length=500), nullable=False),
    )


def _said(name: str, *columns: sa.schema.SchemaItem) -> None:
    """A table of what a machine rater did about an item."""
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("machine_rater_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f(f"fk_{name}_item_id_item"), ondelete="cascade"),
        sa.ForeignKeyConstraint(
            ["machine_rater_id"], ["machine_rater.id"],
            name=op.f(f"fk_{name}_machine_rater_id_machine_rater"), ondelete="cascade",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{name}")),
    )  # fmt: skip


def downgrade() -> None:
    for name in TABLES:
        op.drop_table(name)
