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
from sqlalchemy.orm import Session
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
        connection = session.connection()
        text = self._for(connection.dialect, tuple(values))
        cursor, sent = connection.connection.cursor(), text.sent(values)
        try:
            cursor.execute(text.text, sent)
        except connection.dialect.loaded_dbapi.Error as error:
            dialect = connection.dialect
            raise DBAPIError.instance(text.text, sent, error, dialect.loaded_dbapi.Error, dialect=dialect) from error
        return cursor, text

    def _for(self, dialect: Dialect, names: Names) -> "_Text":
        text = self._texts.get((dialect.name, names))
        if text is None:
            text = self._texts[dialect.name, names] = _compiled(self.statement, dialect, names)
        return text


class _Place(NamedTuple):
    """Where a value goes in the text."""

    name: str
    """For drivers that know values by their names."""
    given_as: str | None
    """What the caller calls it; None for a value that is the statement's own."""
    convert: Convert | None
    own: Any
    """The statement's value, converted."""

    def filled(self, values: dict[str, Any]) -> Any:
        if self.given_as is None:
            return self.own
        value = values[self.given_as]
        return value if self.convert is None else self.convert(value)


@dataclass
class _Text:
    text: str
    places: list[_Place]
    positional: bool
    dialect: Dialect
    types: list[TypeEngine[Any]]
    """A column of the result each."""
    converted: list[tuple[int, Convert]] | None = None
    """Those whose values have to be converted. Known from the first result on: it may depend on the driver's type."""

    def sent(self, values: dict[str, Any]) -> list[Any] | dict[str, Any]:
        if self.positional:
            return [place.filled(values) for place in self.places]
        return {place.name: place.filled(values) for place in self.places}

    def read(self, cursor: DBAPICursor) -> list[Row]:
        rows: list[Row] = list(cursor.fetchall())
        if self.converted is None:
            self.converted = _converted(self.types, self.dialect, cursor.description or ())
        return [_read(row, self.converted) for row in rows] if self.converted else rows


def _compiled(statement: Statement, dialect: Dialect, names: Names) -> _Text:
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    if left_out := [*compiled.insert_prefetch, *compiled.update_prefetch]:
        raise ValueError(f"{', '.join(map(str, left_out))}: what a model fills in has to be given here")
    order = compiled.positiontup if compiled.positiontup is not None else list(compiled.binds)
    return _Text(
        compiled.string,
        [_place(name, compiled.binds[name], names, dialect) for name in order],
        compiled.positiontup is not None,
        dialect,
        [column.type for column in statement.exported_columns],
    )


def _place(name: str, bind: BindParameter[Any], names: Names, dialect: Dialect) -> _Place:
    convert = bind.type.dialect_impl(dialect).bind_processor(dialect)
    if bind.key in names:
        return _Place(name, bind.key, convert, None)
    own = bind.effective_value
    return _Place(name, None, None, own if convert is None else convert(own))


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
