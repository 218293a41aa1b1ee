"""the first tables

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

from app.models import base

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_administrator()
    create_study()
    create_arm()
    create_event()
    create_invitation()
    create_item()
    create_item_content()
    create_item_key()
    create_opened_item()
    create_rater()
    create_assignment()
    create_browser_session()
    create_seat()
    create_sitting()
    create_placement()
    create_rating()


def create_administrator() -> None:
    op.create_table(
        "administrator",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("may_manage", sa.Boolean(), nullable=False),
        sa.Column("may_unblind", sa.Boolean(), nullable=False),
        sa.Column("failed_sign_ins", sa.Integer(), nullable=False),
        sa.Column("locked_until", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("deactivated_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_administrator")),
        sa.UniqueConstraint("name", name=op.f("uq_administrator_name")),
    )


def create_study() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column(
            "state",
            sa.Enum("open", "closed", "unblinded", name="state", native_enum=False, create_constraint=True, length=24),
            nullable=False,
        ),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("pilot", sa.Boolean(), nullable=False),
        sa.Column("design", sa.JSON(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("plan_digest", sa.String(length=64), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("seal_root", sa.String(length=64), nullable=False),
        sa.Column("sealed_parts", sa.JSON(), nullable=False),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=True),
        sa.Column("opened", sa.JSON(), nullable=True),
        sa.Column("log_head", sa.String(length=64), nullable=False),
        sa.Column("log_lines", sa.Integer(), nullable=False),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("closed_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("unblinded_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("unblinded_by", sa.String(length=100), nullable=True),
        sa.Column("unblinding_reason", sa.String(length=2000), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("code", name=op.f("uq_study_code")),
    )


def create_arm() -> None:
    op.create_table(
        "arm",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("condition", sa.String(length=40), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("layers", sa.Integer(), nullable=False),
        sa.Column("hidden", sa.Integer(), nullable=False),
        sa.Column("validation_loss", sa.Double(), nullable=True),
        sa.Column("train_tokens", sa.BigInteger(), nullable=False),
        sa.Column("run_path", sa.String(length=1000), nullable=False),
        sa.Column("run_digest", sa.String(length=64), nullable=False),
        sa.Column("offer", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_arm_study_id_study"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arm")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_arm_study_id_name")),
    )


def create_event() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("what", sa.String(length=60), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_event_study_id_study"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("study_id", "line", name=op.f("uq_event_study_id_line")),
    )


def create_invitation() -> None:
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column(
            "kind",
            sa.Enum("human", "machine", "simulated", name="kind", native_enum=False, create_constraint=True, length=24),
            nullable=False,
        ),
        sa.Column("reusable", sa.Boolean(), nullable=False),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("expires_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_invitation_study_id_study"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("code", name=op.f("uq_invitation_code")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitation_token_hash")),
    )
    with op.batch_alter_table("invitation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_invitation_study_id"), ["study_id"], unique=False)


def create_item() -> None:
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "neuron",
                "mixed",
                "direction",
                "repeat",
                "practice",
                "check",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=24,
            ),
            nullable=False,
        ),
        sa.Column(
            "phase",
            sa.Enum("practice", "rating", "check", name="phase", native_enum=False, create_constraint=True, length=24),
            nullable=False,
        ),
        sa.Column("repeat_of", sa.Integer(), nullable=True),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("content_digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["repeat_of"], ["item.id"], name=op.f("fk_item_repeat_of_item"), ondelete="cascade"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_item_study_id_study"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("study_id", "code", name=op.f("uq_item_study_id_code")),
    )
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_item_repeat_of"), ["repeat_of"], unique=False)


def create_item_content() -> None:
    op.create_table(
        "item_content",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("fragment", sa.LargeBinary(), nullable=False),
        sa.Column("wide_fragment", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["item.id"], name=op.f("fk_item_content_item_id_item"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_item_content")),
    )


def create_item_key() -> None:
    op.create_table(
        "item_key",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("leaf", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_key_item_id_item"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_item_key")),
    )


def create_opened_item() -> None:
    op.create_table(
        "opened_item",
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("unit_kind", sa.String(length=24), nullable=False),
        sa.Column("layer", sa.Integer(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name=op.f("fk_opened_item_arm_id_arm"), ondelete="cascade"),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_opened_item_item_id_item"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_opened_item")),
    )
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_opened_item_arm_id"), ["arm_id"], unique=False)


def create_rater() -> None:
    op.create_table(
        "rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("invitation_id", sa.Integer(), nullable=True),
        sa.Column(
            "kind",
            sa.Enum("human", "machine", "simulated", name="kind", native_enum=False, create_constraint=True, length=24),
            nullable=False,
        ),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("share", sa.Integer(), nullable=True),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("consented_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("trained_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("finished_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("deactivated_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("withdrawn_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitation.id"], name=op.f("fk_rater_invitation_id_invitation"), ondelete="set null"
        ),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_rater_study_id_study"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater")),
        sa.UniqueConstraint("code", name=op.f("uq_rater_code")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_rater_study_id_name")),
    )
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rater_invitation_id"), ["invitation_id"], unique=False)


def create_assignment() -> None:
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "held",
                "rated",
                "surplus",
                "released",
                "skipped",
                name="state",
                native_enum=False,
                create_constraint=True,
                length=24,
            ),
            nullable=False,
        ),
        sa.Column("claimed_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("shown_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("leased_until", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("draft", sa.String(length=2000), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_assignment_item_id_item"), ondelete="cascade"),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_assignment_rater_id_rater"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("code", name=op.f("uq_assignment_code")),
        sa.UniqueConstraint("rater_id", "item_id", name=op.f("uq_assignment_rater_id_item_id")),
        sa.UniqueConstraint("rater_id", "position", name=op.f("uq_assignment_rater_id_position")),
    )
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.create_index("ix_assignment_item_id_state", ["item_id", "state"], unique=False)
        batch_op.create_index("ix_assignment_rater_id_state", ["rater_id", "state", "position"], unique=False)


def create_browser_session() -> None:
    op.create_table(
        "browser_session",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("administrator_id", sa.Integer(), nullable=True),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("created_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("expires_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(administrator_id is null) <> (rater_id is null)", name=op.f("ck_browser_session_one_person")
        ),
        sa.ForeignKeyConstraint(
            ["administrator_id"],
            ["administrator.id"],
            name=op.f("fk_browser_session_administrator_id_administrator"),
            ondelete="cascade",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["rater.id"], name=op.f("fk_browser_session_rater_id_rater"), ondelete="cascade"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser_session")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_browser_session_token_hash")),
    )


def create_seat() -> None:
    op.create_table(
        "seat",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_seat_rater_id_rater"), ondelete="set null"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_seat_study_id_study"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seat")),
        sa.UniqueConstraint("rater_id", name=op.f("uq_seat_rater_id")),
        sa.UniqueConstraint("study_id", "number", name=op.f("uq_seat_study_id_number")),
    )


def create_sitting() -> None:
    op.create_table(
        "sitting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("started_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("active_seconds", sa.Double(), nullable=False),
        sa.Column("ended_at", base.UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_sitting_rater_id_rater"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sitting")),
        sa.UniqueConstraint("code", name=op.f("uq_sitting_code")),
    )
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.create_index("ix_sitting_rater_id_started_at", ["rater_id", "started_at"], unique=False)


def create_placement() -> None:
    op.create_table(
        "placement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seat_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("unit_tag", sa.String(length=64), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "neuron",
                "mixed",
                "direction",
                "repeat",
                "practice",
                "check",
                name="kind",
                native_enum=False,
                create_constraint=True,
                length=24,
            ),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_placement_item_id_item"), ondelete="cascade"),
        sa.ForeignKeyConstraint(["seat_id"], ["seat.id"], name=op.f("fk_placement_seat_id_seat"), ondelete="cascade"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_placement")),
        sa.UniqueConstraint("seat_id", "item_id", name=op.f("uq_placement_seat_id_item_id")),
        sa.UniqueConstraint("seat_id", "position", name=op.f("uq_placement_seat_id_position")),
        sa.UniqueConstraint("seat_id", "unit_tag", "kind", name=op.f("uq_placement_seat_id_unit_tag_kind")),
    )
    with op.batch_alter_table("placement", schema=None) as batch_op:
        batch_op.create_index("ix_placement_item_id", ["item_id"], unique=False)


def create_rating() -> None:
    op.create_table(
        "rating",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column(
            "action",
            sa.Enum(
                "given", "edited", "withdrawn", name="action", native_enum=False, create_constraint=True, length=24
            ),
            nullable=False,
        ),
        sa.Column(
            "verdict",
            sa.Enum(
                "INTERPRETABLE",
                "NOT_INTERPRETABLE",
                "CANNOT_DECIDE",
                name="verdict",
                native_enum=False,
                create_constraint=True,
                length=24,
            ),
            nullable=True,
        ),
        sa.Column("hypothesis", sa.String(length=2000), nullable=False),
        sa.Column("idempotency_key", sa.String(length=64), nullable=False),
        sa.Column("sitting_id", sa.Integer(), nullable=True),
        sa.Column("at", base.UtcDateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("lined_up", sa.Boolean(), nullable=False),
        sa.Column("widened", sa.Boolean(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("surplus", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_rating_assignment_id_assignment"), ondelete="cascade"
        ),
        sa.ForeignKeyConstraint(
            ["sitting_id"], ["sitting.id"], name=op.f("fk_rating_sitting_id_sitting"), ondelete="set null"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating")),
        sa.UniqueConstraint("assignment_id", "version", name=op.f("uq_rating_assignment_id_version")),
        sa.UniqueConstraint("idempotency_key", name=op.f("uq_rating_idempotency_key")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rating_sitting_id"), ["sitting_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rating_sitting_id"))
    op.drop_table("rating")
    with op.batch_alter_table("placement", schema=None) as batch_op:
        batch_op.drop_index("ix_placement_item_id")
    op.drop_table("placement")
    with op.batch_alter_table("sitting", schema=None) as batch_op:
        batch_op.drop_index("ix_sitting_rater_id_started_at")
    op.drop_table("sitting")
    op.drop_table("seat")
    op.drop_table("browser_session")
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.drop_index("ix_assignment_rater_id_state")
        batch_op.drop_index("ix_assignment_item_id_state")
    op.drop_table("assignment")
    with op.batch_alter_table("rater", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rater_invitation_id"))
    op.drop_table("rater")
    with op.batch_alter_table("opened_item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_opened_item_arm_id"))
    op.drop_table("opened_item")
    op.drop_table("item_key")
    op.drop_table("item_content")
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_item_repeat_of"))
    op.drop_table("item")
    with op.batch_alter_table("invitation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_invitation_study_id"))
    op.drop_table("invitation")
    op.drop_table("event")
    op.drop_table("arm")
    op.drop_table("study")
    op.drop_table("administrator")
