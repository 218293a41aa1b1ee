"""Statements that are compiled once for each kind of database, and run on the driver's own cursor.

SQLAlchemy finds, binds and wraps a statement anew each time that it is run, which takes several times as long as SQLite
needs to run it. A verdict takes a dozen of them. Here SQLAlchemy still writes the statement, and still says how a value
is sent and how it is read; only the running is the driver's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Delete, Dialect, Insert, Select, Update
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, SessionTransaction
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
Convert = Callable[[Any], Any]
Statement = Select[*tuple[Any, ...]] | Insert | Update | Delete
Names = tuple[str, ...]
"""Of the values that a statement is run with."""


class Compiled:
    """A statement for rows and values, not for objects.

    What the session holds and has not sent goes first; what it has loaded is not brought up to date.
    """

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self._texts: dict[tuple[str, Names], _Text] = {}

    def run(self, session: Session, **values: Any) -> None:
        self._execute(session, values)

    def rows(self, session: Session, **values: Any) -> list[Row]:
        cursor, text = self._execute(session, values)
        return text.read(cursor)

    def row(self, session: Session, **values: Any) -> Row | None:
        """The first row, if there is one."""
        rows = self.rows(session, **values)
        return rows[0] if rows else None

    def one(self, session: Session, **values: Any) -> Row:
        """The first row of a statement that always has one."""
        rows = self.rows(session, **values)
        if not rows:
            raise LookupError(f"no row for {values}")
        return rows[0]

    def text(self, dialect: Dialect, names: Names) -> str:
        """As the driver is given it, with values of these names."""
        return self._for(dialect, names).text

    def _execute(self, session: Session, values: dict[str, Any]) -> "tuple[DBAPICursor, _Text]":
        session.flush()
        _, cursor_of, dialect = _driver_of(session)
        text = self._for(dialect, tuple(values))
        cursor, sent = cursor_of(), text.sent(values)
        try:
            cursor.execute(text.text, sent)
        except dialect.loaded_dbapi.Error as error:
            raise DBAPIError.instance(text.text, sent, error, dialect.loaded_dbapi.Error, dialect=dialect) from error
        return cursor, text

    def _for(self, dialect: Dialect, names: Names) -> "_Text":
        text = self._texts.get((dialect.name, names))
        if text is None:
            text = self._texts[dialect.name, names] = _compiled(self.statement, dialect, names)
        return text


class _Driver(NamedTuple):
    """Of the transaction that a session is in."""

    transaction: SessionTransaction | None
    cursor: Callable[[], DBAPICursor]
    dialect: Dialect


def _driver_of(session: Session) -> _Driver:
    """Kept as long as the transaction lasts: asking a session for its connection takes as long as a small statement.

    In a transaction within it the session is asked anew, since only then does it set the savepoint.
    """
    kept: _Driver | None = session.info.get(_Driver)
    if kept is None or kept.transaction is not _innermost(session) or not session.is_active:
        connection = session.connection()
        kept = _Driver(_innermost(session), connection.connection.cursor, connection.dialect)
        session.info[_Driver] = kept
    return kept


def _innermost(session: Session) -> SessionTransaction | None:
    return session.get_nested_transaction() or session.get_transaction()


class _Place(NamedTuple):
    """Where a value that the caller gives goes."""

    at: int | str
    """A number, or a name for drivers that know values by their names."""
    name: str
    """What the caller calls it."""
    convert: Convert | None


@dataclass
class _Text:
    text: str
    own: dict[int | str, Any]
    """Of each place the statement's own value, as it is sent; None where the caller gives it."""
    places: list[_Place]
    positional: bool
    dialect: Dialect
    types: list[TypeEngine[Any]]
    """A column of the result each."""
    converted: list[tuple[int, Convert]] | None = None
    """Those whose values have to be converted. Known from the first result on: it may depend on the driver's type."""

    def sent(self, values: dict[str, Any]) -> Any:
        sent = self.own.copy()
        for at, name, convert in self.places:
            value = values[name]
            sent[at] = value if convert is None else convert(value)
        return list(sent.values()) if self.positional else sent

    def read(self, cursor: DBAPICursor) -> list[Row]:
        rows: list[Row] = list(cursor.fetchall())
        if self.converted is None:
            self.converted = _converted(self.types, self.dialect, cursor.description or ())
        return [_read(row, self.converted) for row in rows] if self.converted else rows


def _compiled(statement: Statement, dialect: Dialect, names: Names) -> _Text:
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    assert isinstance(compiled, SQLCompiler)  # noqa: S101  # as every statement's is
    _check_names(compiled, names)
    order = (
        enumerate(compiled.positiontup or ())
        if compiled.positional
        else zip(compiled.binds, compiled.binds, strict=True)
    )
    binds: dict[int | str, BindParameter[Any]] = {at: compiled.binds[name] for at, name in order}
    return _Text(
        compiled.string,
        {at: None if bind.key in names else _own(bind, dialect) for at, bind in binds.items()},
        [_Place(at, bind.key, _sent(bind, dialect)) for at, bind in binds.items() if bind.key in names],
        compiled.positional,
        dialect,
        [column.type for column in statement.exported_columns],
    )


def _check_names(compiled: SQLCompiler, names: Names) -> None:
    filled_in = [column.name for column in (*compiled.insert_prefetch, *compiled.update_prefetch)]
    missing = [name for name, bind in compiled.binds.items() if bind.required and bind.key not in (*names, *filled_in)]
    unknown = set(names).difference(bind.key for bind in compiled.binds.values())
    if wrong := [*filled_in, *missing, *unknown]:
        raise ValueError(f"{', '.join(wrong)}: every value has to be given, also what a model fills in, and no other")


def _sent(bind: BindParameter[Any], dialect: Dialect) -> Convert | None:
    return bind.type.dialect_impl(dialect).bind_processor(dialect)


def _own(bind: BindParameter[Any], dialect: Dialect) -> Any:
    convert = _sent(bind, dialect)
    return bind.effective_value if convert is None else convert(bind.effective_value)


def _converted(types: list[TypeEngine[Any]], dialect: Dialect, description: Sequence[Any]) -> list[tuple[int, Convert]]:
    found = [
        kind.dialect_impl(dialect).result_processor(dialect, column[1])
        for kind, column in zip(types, description, strict=True)
    ]
    return [(number, convert) for number, convert in enumerate(found) if convert is not None]


def _read(row: Row, converted: list[tuple[int, Convert]]) -> Row:
    read = list(row)
    for number, convert in converted:
        read[number] = convert(read[number])
    return tuple(read)
