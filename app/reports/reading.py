"""Tables of an export read back, whatever their format: the reverse of formats.py."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any

from app.errors import Invalid
from app.reports.formats import Cell, Format, original
from app.reports.table import Column, Kind, Table

FORMATS: tuple[Format, ...] = ("parquet", "json", "csv")
"""In the order in which a folder is searched: what keeps types first."""
Cells = dict[str, Any]
"""A row by the names of its columns."""


def read_table(path: Path, table: Table) -> list[Cells]:
    """The table from an export's folder or archive. Raises Invalid with file, row and column where it cannot be."""
    for form in FORMATS:
        name = f"{table.name}.{form}"
        content = content_of(path, name)
        if content is not None:
            return decode(table, content, form, name)
    raise Invalid(
        f"There is no table “{table.name}” in {path}: none of " + ", ".join(f"{table.name}.{f}" for f in FORMATS)
    )


def content_of(path: Path, name: str) -> bytes | None:
    """A file of an export's folder or archive, None where it has no such file."""
    if path.is_dir():
        file = path / name
        return file.read_bytes() if file.is_file() else None
    try:
        with zipfile.ZipFile(path) as archive:
            found = [entry for entry in archive.namelist() if Path(entry).name == name]
            return archive.read(found[0]) if found else None
    except (OSError, zipfile.BadZipFile) as error:
        raise Invalid(f"{path} is neither a folder nor an archive of an export: {error}.") from None


def decode(table: Table, content: bytes, form: Format, name: str) -> list[Cells]:
    """The rows of one file, with the columns of `table`; further columns are left out."""
    try:
        rows = list(READERS[form](content))
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise Invalid(f"{name} was not understood: {error}.") from None
    return [
        {column.name: _cell(row, column, form, f"{name}, row {number}") for column in table.columns}
        for number, row in enumerate(rows, start=1)
    ]


def _read_csv(content: bytes) -> Iterator[Mapping[str, Any]]:
    return iter(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def _read_json(content: bytes) -> Iterator[Mapping[str, Any]]:
    return iter(json.loads(content)["rows"])


def _read_parquet(content: bytes) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return iter(pq.read_table(pa.BufferReader(content)).to_pylist())


READERS: dict[str, Callable[[bytes], Iterator[Mapping[str, Any]]]] = {
    "csv": _read_csv, "json": _read_json, "parquet": _read_parquet,
}  # fmt: skip


def _cell(row: Mapping[str, Any], column: Column, form: Format, where: str) -> Cell:
    if column.name not in row and column.added:
        return None
    if column.name not in row:
        raise Invalid(f"{where}: the column “{column.name}” is missing.")
    value = row[column.name]
    if value is None or (form == "csv" and value == "" and column.kind != "text"):
        return None
    try:
        return original(value) if form == "csv" and column.kind == "text" else PARSERS[column.kind](value)
    except (ValueError, TypeError, LookupError, OverflowError):
        raise Invalid(f"{where}: the column “{column.name}” holds {value!r}, which is no {column.kind}.") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not isfinite(number):
        raise ValueError
    return number


def _time(value: Any) -> datetime:
    at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError
    return at


def _yes_no(value: Any) -> bool:
    return {"true": True, "false": False, True: True, False: False}[value]


PARSERS: dict[Kind, Callable[[Any], Cell]] = {
    "text": _text, "whole": _whole, "number": _number, "time": _time, "yes_no": _yes_no,
}  # fmt: skip


def refuse_empty(rows: list[Cells], names: tuple[str, ...], table: str) -> None:
    """Raises Invalid for a row that lacks what nothing can be brought back without."""
    for number, row in enumerate(rows, start=1):
        for name in names:
            if row[name] is None or row[name] == "":
                raise Invalid(f"The table “{table}”, row {number}: the column “{name}” is empty.")
