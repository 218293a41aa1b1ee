import secrets
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Enum, LargeBinary, MetaData, String
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC on every database; SQLite has no time zones of its own."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {
        datetime: UtcDateTime,
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        bytes: LargeBinary,
        str: String,
    }


def choice(of: type[StrEnum], name: str) -> Enum:
    """A column that holds one of the values of `of`, checked by the database too."""
    return Enum(
        of,
        name=name,
        native_enum=False,
        create_constraint=True,
        length=24,
        values_callable=lambda e: [m.value for m in e],
    )


def new_code() -> str:
    """A public code that says nothing: not the order, not the arm, not the table's size."""
    code = secrets.token_urlsafe(12)
    return new_code() if code.startswith("-") else code  # a command would take it for an option


Id = Annotated[int, mapped_column(primary_key=True)]
PublicCode = Annotated[str, mapped_column(String(24), unique=True, default=new_code)]
BigInt = Annotated[int, mapped_column(BigInteger)]
Digest = Annotated[str, mapped_column(String(64))]
"""SHA-256, in hexadecimal digits."""
