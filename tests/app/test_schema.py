"""The migrations build what the models say, on both databases; also the constraints `alembic check` does not see."""

from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, Engine, Inspector, insert, inspect, text
from sqlalchemy.exc import IntegrityError

from app.clock import now
from app.models import Base, BrowserSession
from app.store.migrate import configuration, is_current


def described(inspector: Inspector, schema: str | None) -> dict[str, Any]:
    """Every table with all that constrains it, in a form that can be compared."""
    return {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table, schema)
            ],
            "primary key": inspector.get_pk_constraint(table, schema),
            "foreign keys": _named(inspector.get_foreign_keys(table, schema)),
            "unique": _named(inspector.get_unique_constraints(table, schema)),
            "checks": _named(inspector.get_check_constraints(table, schema)),
            "indexes": _named(inspector.get_indexes(table, schema)),
        }
        for table in sorted(inspector.get_table_names(schema))
        if table != "alembic_version"
    }


def _named(constraints: list[Any]) -> list[str]:
    keep = ("name", "column_names", "constrained_columns", "referred_table", "referred_columns", "options", "unique")
    rows = [{**{k: v for k, v in c.items() if k in keep}, "sql": _squeezed(c.get("sqltext", ""))} for c in constraints]
    return sorted(map(str, rows))


def _squeezed(sql: str) -> str:
    return "".join(sql.lower().split()).replace('"', "")


def by_the_models(connection: Connection) -> None:
    # The only create_all there is: what it builds is compared, and thrown away with the transaction.
    Base.metadata.create_all(connection)


def test_migrations_and_models_agree(own_engine: Engine, own_database_url: str) -> None:
    command.check(configuration(own_database_url))
    assert is_current(own_engine)
    with own_engine.connect() as connection:
        migrated = described(inspect(connection), None)
        transaction = connection.get_transaction()
        if connection.dialect.name == "postgresql":
            connection.execute(text("create schema beside"))
            connection.execute(text("set search_path to beside"))
        else:
            for table in reversed(Base.metadata.sorted_tables):
                connection.execute(text(f'drop table "{table.name}"'))
        by_the_models(connection)
        modelled = described(inspect(connection), "beside" if connection.dialect.name == "postgresql" else None)
        assert transaction
        transaction.rollback()
    assert migrated.keys() == modelled.keys() == Base.metadata.tables.keys()
    for table, parts in migrated.items():
        assert parts == modelled[table], table
    assert sum(len(parts["checks"]) for parts in migrated.values()) >= 10


def test_the_database_itself_refuses_a_browser_of_nobody(own_engine: Engine) -> None:
    nobody = insert(BrowserSession).values(token_hash="0", created_at=now(), expires_at=now())
    with own_engine.connect() as connection, pytest.raises(IntegrityError, match="one_person"):
        connection.execute(nobody)


def test_the_database_itself_refuses_a_kind_that_there_is_not(own_engine: Engine) -> None:
    columns = "study_id, code, kind, phase, capacity, content_digest"
    banana = text(f"insert into item ({columns}) values (1, 'a', 'banana', 'rating', 1, '0')")  # noqa: S608
    with own_engine.connect() as connection, pytest.raises(IntegrityError, match="ck_item_kind"):
        connection.execute(banana)
